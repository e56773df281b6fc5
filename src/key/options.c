// CompileOptionsProto -> canonical bytes.
//
// The canonical bytes are a proto again: fields ordered by number, repeated ones in their order, a
// message in several pieces merged, maps sorted by key (the last of equal keys wins), without
// settings that do not change code. Field numbers are those of xla/pjrt/proto/compile_options.proto
// and xla/xla.proto; a field that is not in the tables below is kept unchanged. So is each debug
// option, even one that says 0: they are `optional`, so a set one differs from an unset one.
#include <stdlib.h>

#include "key/content.h"
#include "key/dump_flags.h"
#include "key/key.h"
#include "key/sharding.h"
#include "key/toolkit.h"

typedef enum message_id {
    OPTIONS,
    BUILD,
    DEBUG,
    STRING_MAP,
    OVERRIDE_MAP,
    NO_MESSAGE,
} message_id_t;

typedef enum rule_kind {
    KEEP,   // any number of times, in order
    NUMBER, // a single one: the last counts, and 0 says as much as none
    BYTES,  // a single string: the last counts, and an empty one says as much as none
    LAST,   // a single one of the kind that may be absent: the last counts, whatever it says
    DROP,   //
    SPREAD, // only says something to a partitioner: dropped for one partition
    CACHE,  // of dump_flags.h: the path of a cache of XLA's own
    NESTED, // a message of `message`
    MAP,    // entries of a map, keyed by strings
    DEVICES // the device assignment
} rule_kind_t;

typedef struct rule_t {
    message_id_t parent;
    uint32_t number;
    rule_kind_t kind;
    message_id_t message;
    const char *name;
} rule_t;

// In the order of the messages.
static const rule_t rules[] = {
    {OPTIONS, 1, KEEP, NO_MESSAGE, "argument_layouts"},
    {OPTIONS, 2, NUMBER, NO_MESSAGE, "parameter_is_tupled_arguments"},
    {OPTIONS, 3, NESTED, BUILD, ""},
    {OPTIONS, 4, NUMBER, NO_MESSAGE, "compile_portable_executable"},
    {OPTIONS, 5, NUMBER, NO_MESSAGE, "profile_version"},
    {OPTIONS, 6, BYTES, NO_MESSAGE, "serialized_multi_slice_config"},
    {OPTIONS, 7, MAP, OVERRIDE_MAP, "env_option_overrides"},
    {OPTIONS, 8, KEEP, NO_MESSAGE, "target_config"},
    // Only controls who owns the module's memory during the compile.
    {OPTIONS, 9, DROP, NO_MESSAGE, "allow_in_place_mlir_modification"},
    {OPTIONS, 10, NUMBER, NO_MESSAGE, "matrix_unit_operand_precision"},
    {OPTIONS, 11, LAST, NO_MESSAGE, "compiler_variant"},
    {OPTIONS, 12, KEEP, NO_MESSAGE, "individually_defined_output_indices"},
    {BUILD, 1, NUMBER, NO_MESSAGE, "device_ordinal"},
    {BUILD, 2, KEEP, NO_MESSAGE, "result_layout"},
    {BUILD, 3, NESTED, DEBUG, "debug"},
    {BUILD, 4, NUMBER, NO_MESSAGE, "num_replicas"},
    {BUILD, 5, NUMBER, NO_MESSAGE, "num_partitions"},
    {BUILD, 6, NUMBER, NO_MESSAGE, "use_spmd_partitioning"},
    {BUILD, 7, NUMBER, NO_MESSAGE, "use_auto_spmd_partitioning"},
    {BUILD, 8, NUMBER, NO_MESSAGE, "deduplicate_hlo"},
    {BUILD, 9, DEVICES, NO_MESSAGE, "device_assignment"},
    {BUILD, 10, NUMBER, NO_MESSAGE, "alias_passthrough_params"},
    {BUILD, 11, NUMBER, NO_MESSAGE, "run_backend_only"},
    {BUILD, 12, SPREAD, NO_MESSAGE, "allow_spmd_sharding_propagation_to_output"},
    {BUILD, 13, KEEP, NO_MESSAGE, "comp_envs"},
    {BUILD, 14, BYTES, NO_MESSAGE, "fdo_profile"},
    {BUILD, 15, NUMBER, NO_MESSAGE, "device_memory_size"},
    {BUILD, 16, KEEP, NO_MESSAGE, "auto_spmd_partitioning_mesh_shape"},
    {BUILD, 17, KEEP, NO_MESSAGE, "auto_spmd_partitioning_mesh_ids"},
    {BUILD, 18, SPREAD, NO_MESSAGE, "allow_spmd_sharding_propagation_to_parameters"},
    {BUILD, 19, NUMBER, NO_MESSAGE, "use_shardy_partitioner"},
    {BUILD, 20, NUMBER, NO_MESSAGE, "exec_time_optimization_effort"},
    {BUILD, 21, NUMBER, NO_MESSAGE, "memory_fitting_effort"},
    // Differs between the hosts of one job, which all run the same code.
    {BUILD, 22, DROP, NO_MESSAGE, "process_index"},
    {BUILD, 23, NUMBER, NO_MESSAGE, "process_count"},
    {BUILD, 24, NUMBER, NO_MESSAGE, "optimization_level"},
    {BUILD, 25, NUMBER, NO_MESSAGE, "memory_fitting_level"},
    {BUILD, 26, NUMBER, NO_MESSAGE, "slice_size"},
    {BUILD, 27, KEEP, NO_MESSAGE, "gpu_topology"},
    {DEBUG, 357, MAP, STRING_MAP, "xla_gpu_analytical_latency_estimator_options"},
    {DEBUG, 474, MAP, STRING_MAP, "xla_gpu_experimental_cost_model_gemm_tiling_options"},
    {DEBUG, 500, MAP, STRING_MAP, "xla_backend_extra_options"},
};

// The output, and the text that people see, with debug options last, because there are hundreds.
typedef struct output_t {
    keel_arena_t arena;
    keel_buffer_t *assignment;
    keel_buffer_t text, debug_text;
    keel_buffer_t files;  // contents of the files that the options name
    keel_buffer_t tools;  // of the CUDA toolkit
    keel_status_t unread; // the first of them that cannot be read
    bool understood;
    bool is_whole;   // there is one partition
    bool only_reads; // of keel_dumps_t
    bool has_caches; // XLA's own caches are of GPUs only, but JAX names them for every backend
} output_t;

static const rule_t *rule_of(message_id_t message, uint32_t number) {
    static const rule_t keep = {.kind = KEEP, .message = NO_MESSAGE};
    static const rule_t drop = {.kind = DROP, .message = NO_MESSAGE};
    static const rule_t cache = {.kind = CACHE, .message = NO_MESSAGE};
    for (size_t i = sizeof rules / sizeof *rules; i-- && rules[i].parent >= message;)
        if (rules[i].parent == message && rules[i].number == number) return &rules[i];
    const keel_dump_flag_t *flag = message == DEBUG ? keel_dump_flag_by_number(number) : NULL;
    return keel_dump_flag_names_cache(flag) ? &cache : flag ? &drop : &keep;
}

// ---- the wire ----------------------------------------------------------------------------------

static void put_field(keel_buffer_t *out, const keel_proto_field_t *field) {
    if (field->wire == KEEL_WIRE_BYTES)
        keel_proto_put_bytes(out, field->number, field->bytes);
    else
        keel_proto_put_number(out, field->number, field->wire, field->value);
}

typedef struct option_item_t {
    keel_proto_field_t field;
    uint32_t at;
} option_item_t;

typedef struct items_t {
    option_item_t *data;
    uint32_t count;
} items_t;

static int by_number(const void *left, const void *right) {
    const option_item_t *a = left, *b = right;
    if (a->field.number != b->field.number) return a->field.number < b->field.number ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

// All fields, ordered by number, then by position. Not understood if the bytes are not a message.
static keel_status_t read_items(output_t *output, keel_bytes_t bytes, items_t *out) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    items_t items = {0};
    while (keel_proto_next(&cursor, &field))
        ++items.count;
    if (cursor.failed) {
        output->understood = false;
        *out = (items_t){0};
        return NULL;
    }
    void *data = NULL;
    KEEL_TRY(keel_arena_array(&output->arena, (size_t)items.count + 1, sizeof *items.data, &data));
    items.data = data;
    cursor = keel_cursor(bytes);
    for (uint32_t i = 0; i < items.count && keel_proto_next(&cursor, &field); ++i)
        items.data[i] = (option_item_t){field, i};
    qsort(items.data, items.count, sizeof *items.data, by_number);
    *out = items;
    return NULL;
}

// ---- text --------------------------------------------------------------------------------------

static bool is_printable(keel_bytes_t bytes) {
    for (size_t at = 0, size; at < bytes.size; at += size) {
        size = keel_utf8_length(keel_bytes_str(bytes), at);
        if (!size || bytes.data[at] < 0x20 || bytes.data[at] == 0x7f) return false;
    }
    return true;
}

static void say_bytes(keel_buffer_t *text, keel_bytes_t bytes) {
    if (is_printable(bytes)) {
        keel_buffer_str(text, keel_bytes_str(bytes));
        return;
    }
    keel_buffer_text(text, "0x");
    keel_buffer_hex(text, bytes);
}

// There are hundreds of numbers to write in every compile.
static void say_number(keel_buffer_t *text, int64_t value) {
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) digits[--at] = '-';
    keel_buffer_append(text, digits + at, sizeof digits - at);
}

// A map of debug options has names; other debug options have their number.
static void say_name(keel_buffer_t *text, message_id_t message, const rule_t *rule,
                     uint32_t number) {
    if (rule->name) {
        keel_buffer_text(text, rule->name);
        return;
    }
    if (message == DEBUG) keel_buffer_text(text, "debug.");
    say_number(text, number);
}

static void say_value(keel_buffer_t *text, const keel_proto_field_t *field) {
    if (field->wire == KEEL_WIRE_BYTES)
        say_bytes(text, field->bytes);
    else if (field->wire == KEEL_WIRE_VARINT)
        say_number(text, (int64_t)field->value);
    else
        keel_buffer_format(text, "0x%llx", (unsigned long long)field->value);
}

static keel_buffer_t *readable_of(output_t *output, message_id_t message) {
    return message == DEBUG ? &output->debug_text : &output->text;
}

static void say(output_t *output, message_id_t message, const rule_t *rule,
                const keel_proto_field_t *field) {
    keel_buffer_t *text = readable_of(output, message);
    say_name(text, message, rule, field->number);
    keel_buffer_byte(text, '=');
    say_value(text, field);
    keel_buffer_byte(text, '\n');
}

// ---- maps --------------------------------------------------------------------------------------

typedef struct option_entry_t {
    keel_bytes_t key;
    keel_bytes_t value; // the whole field, with its tag; empty if it is absent
    keel_proto_field_t field;
    uint32_t at;
} option_entry_t;

static bool read_entry(keel_bytes_t bytes, option_entry_t *out) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (field.wire != KEEL_WIRE_BYTES) return false;
        if (field.number == 1)
            out->key = field.bytes;
        else if (field.number == 2 && !out->value.size)
            out->value = field.raw, out->field = field;
        else
            return false;
    }
    return !cursor.failed;
}

static int by_key(const void *left, const void *right) {
    const option_entry_t *a = left, *b = right;
    int order = keel_str_compare(keel_bytes_str(a->key), keel_bytes_str(b->key));
    if (order) return order;
    return a->at < b->at ? -1 : a->at > b->at;
}

static void put_content(output_t *output, keel_bytes_t value) {
    if (!output->unread) output->unread = keel_key_content(keel_bytes_str(value), &output->files);
}

// What counts of the path of a cache, as text; nothing if the path does not count at all.
static void put_cache_value(output_t *output, const keel_dump_flag_t *flag, keel_bytes_t path,
                            keel_buffer_t *out) {
    if (output->unread || !output->has_caches) return;
    output->unread = keel_dump_flag_put_cache(flag, keel_bytes_str(path), output->only_reads, out);
}

static void put_cache(output_t *output, message_id_t message, const rule_t *rule,
                      const keel_proto_field_t *field, keel_buffer_t *out) {
    keel_buffer_t value;
    keel_buffer_initialize(&value, 0);
    put_cache_value(output, keel_dump_flag_by_number(field->number), field->bytes, &value);
    keel_proto_field_t kept = *field;
    kept.bytes = keel_buffer_bytes(&value);
    if (kept.bytes.size) put_field(out, &kept);
    if (kept.bytes.size) say(output, message, rule, &kept);
    if (value.failed) out->failed = true;
    keel_buffer_deinitialize(&value);
}

// OptionOverrideProto: string_field 1, bool_field 2, int_field 3, double_field 4.
enum { OVERRIDES = 7, OVERRIDE_BOOL = 2 };

static void say_entry(output_t *output, message_id_t message, const rule_t *rule,
                      const option_entry_t *entry) {
    keel_buffer_t *text = readable_of(output, message);
    say_name(text, message, rule, 0);
    keel_buffer_byte(text, '.');
    say_bytes(text, entry->key);
    keel_buffer_byte(text, '=');
    keel_proto_field_t value = entry->field;
    keel_cursor_t cursor = keel_cursor(value.bytes);
    // An override is a message with one field; other values are strings.
    bool told = rule->message == STRING_MAP || keel_proto_next(&cursor, &value);
    bool is_bool = told && rule->message == OVERRIDE_MAP && value.number == OVERRIDE_BOOL &&
                   value.wire == KEEL_WIRE_VARINT;
    if (is_bool)
        keel_buffer_text(text, value.value ? "true" : "false");
    else if (told)
        say_value(text, &value);
    keel_buffer_byte(text, '\n');
    if (told && value.wire == KEEL_WIRE_BYTES) put_content(output, value.bytes);
}

static void put_entry(keel_buffer_t *out, uint32_t number, const option_entry_t *entry) {
    keel_buffer_t bytes;
    keel_buffer_initialize(&bytes, 0);
    keel_proto_put_bytes(&bytes, 1, entry->key);
    keel_buffer_append(&bytes, entry->value.data, entry->value.size);
    keel_proto_put_bytes(out, number, keel_buffer_bytes(&bytes));
    if (bytes.failed) out->failed = true;
    keel_buffer_deinitialize(&bytes);
}

// A flag of dump_flags.h: nothing, or what counts of the path of a cache.
static void put_override(output_t *output, const keel_dump_flag_t *flag,
                         const option_entry_t *entry, keel_buffer_t *out) {
    keel_cursor_t cursor = keel_cursor(entry->field.bytes);
    keel_proto_field_t path;
    if (!keel_dump_flag_names_cache(flag) || !keel_proto_next(&cursor, &path) ||
        path.wire != KEEL_WIRE_BYTES)
        return;
    keel_buffer_t *text = &output->text;
    size_t begin = text->size;
    keel_buffer_format(text, "env_option_overrides.%s=", flag->name);
    size_t head = text->size;
    put_cache_value(output, flag, path.bytes, text);
    if (text->size > head && !text->failed) {
        keel_proto_put_bytes(out, OVERRIDES, entry->key);
        keel_proto_put_bytes(out, OVERRIDES, keel_bytes(text->data + head, text->size - head));
        keel_buffer_byte(text, '\n');
    } else if (!text->failed) {
        text->size = begin;
    }
}

static keel_status_t put_map(output_t *output, message_id_t message, const rule_t *rule,
                             const option_item_t *items, uint32_t count, keel_buffer_t *out) {
    void *data = NULL;
    KEEL_TRY(keel_arena_array(&output->arena, count, sizeof(option_entry_t), &data));
    option_entry_t *entries = data;
    for (uint32_t i = 0; i < count; ++i) {
        entries[i] = (option_entry_t){.at = i, .field.wire = KEEL_WIRE_BYTES};
        if (items[i].field.wire != KEEL_WIRE_BYTES ||
            !read_entry(items[i].field.bytes, &entries[i]))
            output->understood = false;
    }
    if (!output->understood) return NULL;
    qsort(entries, count, sizeof *entries, by_key);
    for (uint32_t i = 0; i < count; ++i) {
        if (i + 1 < count && keel_bytes_equal(entries[i].key, entries[i + 1].key)) continue;
        const keel_dump_flag_t *flag = rule->message == OVERRIDE_MAP
                                           ? keel_dump_flag_by_name(keel_bytes_str(entries[i].key))
                                           : NULL;
        if (flag) put_override(output, flag, &entries[i], out);
        if (flag) continue;
        put_entry(out, rule->number, &entries[i]);
        say_entry(output, message, rule, &entries[i]);
    }
    return NULL;
}

// ---- devices -----------------------------------------------------------------------------------

static void put_numbers(keel_buffer_t *out, const keel_proto_field_t *field, bool *understood) {
    if (field->wire == KEEL_WIRE_VARINT) {
        keel_buffer_format(out, " %llu", (unsigned long long)field->value);
        return;
    }
    keel_cursor_t cursor = keel_cursor(field->bytes);
    while (field->wire == KEEL_WIRE_BYTES && cursor.at != cursor.end && !cursor.failed)
        keel_buffer_format(out, " %llu", (unsigned long long)keel_proto_varint(&cursor));
    if (cursor.failed || field->wire != KEEL_WIRE_BYTES) *understood = false;
}

// "1 replicas, 4 computations: 0; 1; 2; 3": the devices of each computation, replica by replica.
static keel_status_t put_devices(output_t *output, keel_bytes_t bytes) {
    keel_buffer_t *out = output->assignment;
    uint64_t replicas = 0, computations = 0;
    items_t items;
    KEEL_TRY(read_items(output, bytes, &items));
    for (uint32_t i = 0; i < items.count; ++i) {
        const keel_proto_field_t *field = &items.data[i].field;
        if (field->number == 1 && field->wire == KEEL_WIRE_VARINT)
            replicas = field->value;
        else if (field->number == 2 && field->wire == KEEL_WIRE_VARINT)
            computations = field->value;
        else if (field->number != 3 || field->wire != KEEL_WIRE_BYTES)
            output->understood = false;
    }
    keel_buffer_format(out, "%llu replicas, %llu computations:", (unsigned long long)replicas,
                       (unsigned long long)computations);
    for (uint32_t i = 0, shown = 0; i < items.count; ++i) {
        if (items.data[i].field.number != 3) continue;
        if (shown++) keel_buffer_byte(out, ';');
        keel_cursor_t cursor = keel_cursor(items.data[i].field.bytes);
        keel_proto_field_t ids;
        while (keel_proto_next(&cursor, &ids)) {
            if (ids.number != 1) output->understood = false;
            put_numbers(out, &ids, &output->understood);
        }
        if (cursor.failed) output->understood = false;
    }
    return NULL;
}

// ---- messages ----------------------------------------------------------------------------------

static keel_status_t put_message(output_t *output, message_id_t message, keel_bytes_t bytes,
                                 keel_buffer_t *out);

// Concatenates the pieces of a message, as protobuf merges them.
static keel_status_t join(output_t *output, const option_item_t *items, uint32_t count,
                          keel_bytes_t *out) {
    size_t size = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (items[i].field.wire != KEEL_WIRE_BYTES) output->understood = false;
        size += items[i].field.bytes.size;
    }
    void *data = NULL;
    KEEL_TRY(keel_arena_alloc(&output->arena, size + 1, &data));
    size_t at = 0;
    for (uint32_t i = 0; i < count; ++i) {
        keel_bytes_t piece = items[i].field.bytes;
        if (piece.size) memcpy((uint8_t *)data + at, piece.data, piece.size);
        at += piece.size;
    }
    *out = keel_bytes(data, size);
    return NULL;
}

static keel_status_t put_nested(output_t *output, const rule_t *rule, const option_item_t *items,
                                uint32_t count, keel_buffer_t *out) {
    keel_bytes_t bytes;
    KEEL_TRY(join(output, items, count, &bytes));
    if (!output->understood) return NULL;
    if (rule->kind == DEVICES) return put_devices(output, bytes);
    keel_buffer_t inner;
    keel_buffer_initialize(&inner, 0);
    keel_status_t status = put_message(output, rule->message, bytes, &inner);
    if (!status) status = keel_buffer_status(&inner);
    if (!status) keel_proto_put_bytes(out, rule->number, keel_buffer_bytes(&inner));
    keel_buffer_deinitialize(&inner);
    return status;
}

static void put_kept(output_t *output, message_id_t message, const rule_t *rule,
                     const keel_proto_field_t *field, keel_buffer_t *out) {
    put_field(out, field);
    say(output, message, rule, field);
    if (field->wire == KEEL_WIRE_BYTES) put_content(output, field->bytes);
}

// Only values of one wire type overwrite each other.
static uint32_t last_of(const option_item_t *items, uint32_t count) {
    for (uint32_t i = 1; i < count; ++i)
        if (items[i].field.wire != items->field.wire) return 0;
    return count - 1;
}

// proto3 does not write a number or string with its default value, but another encoder may.
static bool is_default(const rule_t *rule, const keel_proto_field_t *field) {
    if (rule->kind == BYTES) return field->wire == KEEL_WIRE_BYTES && !field->bytes.size;
    return rule->kind == NUMBER && field->wire != KEEL_WIRE_BYTES && !field->value;
}

static keel_status_t put_group(output_t *output, message_id_t message, const option_item_t *items,
                               uint32_t count, keel_buffer_t *out) {
    const rule_t *rule = rule_of(message, items->field.number);
    switch (rule->kind) {
        case DROP:
            return NULL;
        case SPREAD:
            for (uint32_t i = 0; i < count && !output->is_whole; ++i)
                put_kept(output, message, rule, &items[i].field, out);
            return NULL;
        case CACHE:
            put_cache(output, message, rule, &items[last_of(items, count)].field, out);
            return NULL;
        case NESTED:
        case DEVICES:
            return put_nested(output, rule, items, count, out);
        case MAP:
            return put_map(output, message, rule, items, count, out);
        case NUMBER:
        case BYTES:
        case LAST:
        case KEEP:
            for (uint32_t i = rule->kind == KEEP ? 0 : last_of(items, count); i < count; ++i)
                if (!is_default(rule, &items[i].field))
                    put_kept(output, message, rule, &items[i].field, out);
            return NULL;
    }
    return NULL;
}

static keel_status_t put_message(output_t *output, message_id_t message, keel_bytes_t bytes,
                                 keel_buffer_t *out) {
    items_t items;
    KEEL_TRY(read_items(output, bytes, &items));
    for (uint32_t i = 0, end; i < items.count && output->understood; i = end) {
        for (end = i + 1;
             end < items.count && items.data[end].field.number == items.data[i].field.number;
             ++end) {
        }
        KEEL_TRY(put_group(output, message, &items.data[i], end - i, out));
    }
    return NULL;
}

static void put_raw(keel_bytes_t options, keel_buffer_t *canonical, keel_buffer_t *readable) {
    keel_buffer_text(canonical, "raw\n");
    keel_buffer_append(canonical, options.data, options.size);
    char hex[KEEL_DIGEST_HEX];
    keel_digest_t digest = keel_digest(options);
    keel_digest_hex(&digest, hex);
    keel_buffer_format(readable, "not understood: %zu bytes, %s\n", options.size, hex);
}

// XLA's flags count if a client does not copy them into its options.
static keel_status_t put_tools(output_t *output, keel_str_t folder) {
    keel_buffer_t of_flags;
    if (folder.size) return keel_toolkit_of_folder(folder, &output->tools);
    keel_buffer_initialize(&of_flags, 0);
    keel_status_t status =
        keel_key_flag_text(getenv("XLA_FLAGS"), "xla_gpu_cuda_data_dir", &of_flags);
    if (!status)
        status =
            keel_toolkit_of_folder(keel_bytes_str(keel_buffer_bytes(&of_flags)), &output->tools);
    keel_buffer_deinitialize(&of_flags);
    return status;
}

static keel_status_t finish_options(const output_t *output, keel_buffer_t *canonical,
                                    keel_buffer_t *readable) {
    keel_buffer_append(canonical, output->tools.data, output->tools.size);
    keel_buffer_append(readable, output->tools.data, output->tools.size);
    keel_buffer_str(readable, keel_bytes_str(keel_buffer_bytes(&output->text)));
    keel_buffer_str(readable, keel_bytes_str(keel_buffer_bytes(&output->debug_text)));
    KEEL_TRY(keel_buffer_status(&output->text));
    KEEL_TRY(keel_buffer_status(&output->debug_text));
    KEEL_TRY(keel_buffer_status(&output->files));
    KEEL_TRY(keel_buffer_status(readable));
    return keel_buffer_status(canonical);
}

keel_status_t keel_key_options(keel_bytes_t options, unsigned backends, keel_buffer_t *canonical,
                               keel_buffer_t *assignment, keel_buffer_t *readable,
                               bool *out_understood) {
    keel_buffer_t devices, message;
    keel_partitioning_t partitioning = keel_partitioning_of_options(options);
    keel_dumps_t dumps;
    keel_key_dumps_of_options(options, &dumps);
    output_t output = {.assignment = &devices,
                       .understood = true,
                       .is_whole = keel_partitioning_is_none(&partitioning),
                       .only_reads = dumps.only_reads,
                       .has_caches = backends & KEEL_BACKEND_GPU};
    keel_arena_initialize(&output.arena, 0);
    keel_buffer_initialize(&output.text, 0);
    keel_buffer_initialize(&output.debug_text, 0);
    keel_buffer_initialize(&output.files, 0);
    keel_buffer_initialize(&output.tools, 0);
    keel_buffer_initialize(&devices, 0);
    keel_buffer_initialize(&message, 0);
    keel_status_t status = put_message(&output, OPTIONS, options, &message);
    if (!status) status = keel_buffer_status(&message);
    if (!status) status = keel_buffer_status(&devices);
    if (!status && output.understood) {
        status = output.unread;
        output.unread = NULL;
    }
    keel_status_ignore(output.unread); // the options are keyed by their bytes, or there is no key
    if (!status && output.understood) {
        keel_buffer_format(canonical, "options %zu\n", message.size);
        keel_buffer_append(canonical, message.data, message.size);
        keel_buffer_append(canonical, output.files.data, output.files.size);
        keel_buffer_append(assignment, devices.data, devices.size);
    } else if (!status) {
        put_raw(options, canonical, readable);
        keel_buffer_deinitialize(&output.text);
        keel_buffer_deinitialize(&output.debug_text);
    }
    if (!status && backends == KEEL_BACKEND_GPU) status = put_tools(&output, dumps.toolkit);
    if (!status) status = finish_options(&output, canonical, readable);
    if (!status) status = keel_buffer_status(assignment);
    if (!status) *out_understood = output.understood;
    keel_buffer_t *const buffers[] = {&output.text,  &output.debug_text, &output.files,
                                      &output.tools, &devices,           &message};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; ++i)
        keel_buffer_deinitialize(buffers[i]);
    keel_arena_deinitialize(&output.arena);
    return status;
}
