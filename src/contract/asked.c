// A program as a contract lists it: its arguments and its mesh; the function that it is of.
#include "contract/internal.h"

#include "host/host.h"
#include "read/print.h"

enum { LONGEST = 1024 }; // of a sharding, in bytes

typedef struct asking_t {
    const keel_program_t *program;
    keel_arena_t *arena;
    const char *names;
    keel_map_t known; // names that are taken
    keel_contract_argument_t *arguments;
    uint32_t count;
} asking_t;

static keel_status_t keep_buffer(const asking_t *asking, keel_buffer_t *text, keel_str_t *out) {
    keel_status_t status = keel_buffer_status(text);
    keel_str_t whole = keel_bytes_str(keel_buffer_bytes(text));
    if (whole.size > LONGEST) whole.size = LONGEST;
    if (!status) status = keel_arena_str(asking->arena, whole, out);
    keel_buffer_deinitialize(text);
    return status;
}

// ---- arguments ---------------------------------------------------------------------------------

// Two leaves of a tree may share a name: then the second has its place too.
static keel_status_t name_of(asking_t *asking, keel_str_t client, uint32_t place, keel_str_t *out) {
    keel_str_t user = keel_names_find(asking->names, client);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_str(&text, user);
    if (!user.size || keel_map_find(&asking->known, keel_str_bytes(user)))
        keel_buffer_format(&text, "#%u", place);
    KEEL_TRY(keep_buffer(asking, &text, out));
    return keel_map_put(&asking->known, keel_str_bytes(*out), place);
}

// An element has no blank and no bracket, which end it in the file.
static keel_status_t element_of(const asking_t *asking, keel_type_id_t type, keel_str_t *out) {
    keel_buffer_t text;
    size_t length;
    keel_buffer_initialize(&text, 0);
    keel_print_short_element(asking->program, type, &text);
    keel_str_t whole = keel_bytes_str(keel_buffer_bytes(&text));
    bool is_word = whole.size > 0;
    for (size_t i = 0; i < whole.size; i += length)
        is_word = keel_utf8_shows(whole, i, &length) && is_word && whole.data[i] != ' ' &&
                  whole.data[i] != '[';
    if (!is_word && !text.failed) {
        text.size = 0;
        keel_buffer_text(&text, "other");
    }
    return keep_buffer(asking, &text, out);
}

static keel_status_t type_of(const asking_t *asking, keel_type_id_t id,
                             keel_contract_argument_t *out) {
    const keel_program_t *program = asking->program;
    const keel_type_t *type = keel_program_type(program, id);
    void *memory;
    out->is_array = type->kind == KEEL_TYPE_TENSOR || type->kind == KEEL_TYPE_BUFFER;
    if (!out->is_array) return element_of(asking, id, &out->element);
    keel_ints_t dims = keel_program_ints(program, type->b);
    KEEL_TRY(element_of(asking, type->a, &out->element));
    if (dims.count > KEEL_CONTRACT_RANK)
        return keel_status_make(KEEL_UNSUPPORTED, "an argument of %u dimensions", dims.count);
    KEEL_TRY(keel_arena_array(asking->arena, (size_t)dims.count + 1, sizeof *out->dims, &memory));
    keel_sizes_t *sizes = memory;
    for (uint32_t i = 0; i < dims.count; ++i) {
        int64_t size = dims.items[i] < 0 ? KEEL_DYNAMIC : dims.items[i];
        sizes[i] = (keel_sizes_t){.low = size, .high = size, .step = 1};
    }
    out->dims = sizes;
    out->rank = dims.count;
    return NULL;
}

static keel_status_t sharding_of(const asking_t *asking, keel_attr_id_t attribute,
                                 keel_str_t *out) {
    keel_buffer_t text;
    const keel_attr_t *contents = keel_program_attr(asking->program, attribute);
    if (attribute == KEEL_NONE) return NULL;
    keel_buffer_initialize(&text, 0);
    if (contents->kind == KEEL_ATTR_STRING) {
        keel_buffer_str(&text, keel_program_str(asking->program, contents->a));
    } else if (!keel_print_sharding(asking->program, attribute, true, &text)) {
        text.size = 0;
        keel_print_attribute(asking->program, attribute, 16, &text);
    }
    return keep_buffer(asking, &text, out);
}

static keel_status_t add_argument(asking_t *asking, keel_str_t name, keel_type_id_t type,
                                  keel_attr_id_t attributes) {
    const keel_program_t *program = asking->program;
    void *grown = asking->arguments;
    KEEL_TRY(contract_grow(asking->arena, asking->count, sizeof *asking->arguments, &grown));
    asking->arguments = grown;
    keel_contract_argument_t *argument = &asking->arguments[asking->count];
    KEEL_TRY(name_of(asking, name, asking->count, &argument->name));
    KEEL_TRY(type_of(asking, type, argument));
    static const char *const shardings[] = {"sdy.sharding", "mhlo.sharding", "sharding"};
    keel_attr_id_t sharding = KEEL_NONE;
    for (size_t i = 0; i < sizeof shardings / sizeof *shardings && sharding == KEEL_NONE; ++i)
        sharding = keel_program_dict_find(program, attributes, shardings[i]);
    KEEL_TRY(sharding_of(asking, sharding, &argument->sharding));
    argument->donated =
        keel_program_dict_find(program, attributes, "tf.aliasing_output") != KEEL_NONE ||
        keel_program_dict_find(program, attributes, "jax.buffer_donor") != KEEL_NONE;
    ++asking->count;
    return NULL;
}

static keel_status_t read_mlir(asking_t *asking, const keel_function_t *entry,
                               const keel_block_t *body) {
    const keel_program_t *program = asking->program;
    keel_list_t attributes = keel_program_array(program, entry->argument_attributes);
    for (uint32_t i = 0; i < body->argument_count; ++i)
        KEEL_TRY(add_argument(asking, keel_program_argument_name(program, body, i),
                              keel_program_value_type(program, body->first_argument + i),
                              i < attributes.count ? attributes.items[i] : KEEL_NONE));
    return NULL;
}

// In order of their numbers, which is not always that of the operations.
static keel_status_t read_hlo(asking_t *asking, const keel_block_t *body) {
    const keel_program_t *program = asking->program;
    keel_map_t numbered;
    uint32_t count = 0;
    keel_status_t status = NULL;
    keel_map_initialize(&numbered);
    for (keel_op_id_t op = body->first_op; op < body->end_op && !status;
         op = keel_program_next(program, op)) {
        if (!keel_str_is(keel_program_str(program, keel_program_op_name(program, op)->name),
                         "parameter"))
            continue;
        int64_t number = keel_program_number(
            program,
            keel_program_dict_find(program, program->operations.data[op].attributes,
                                   "parameter_number"),
            0);
        status = keel_map_put(&numbered, keel_bytes(&number, sizeof number), op);
        ++count;
    }
    for (int64_t number = 0; number < count && !status; ++number) {
        const uint64_t *op = keel_map_find(&numbered, keel_bytes(&number, sizeof number));
        if (!op) break;
        const keel_operation_t *operation = &program->operations.data[*op];
        status = add_argument(asking, keel_program_parameter_name(program, (keel_op_id_t)*op),
                              keel_program_value_type(program, operation->first_result),
                              operation->attributes);
    }
    keel_map_deinitialize(&numbered);
    return status;
}

// ---- the mesh ----------------------------------------------------------------------------------

static void put_axes(const keel_program_t *program, keel_attr_id_t mesh, keel_buffer_t *out) {
    keel_list_t axes = keel_program_array(program, keel_program_dict_find(program, mesh, "axes"));
    for (uint32_t i = 0; i < axes.count; ++i) {
        const keel_attr_t *name =
            keel_program_attr(program, keel_program_dict_find(program, axes.items[i], "name"));
        int64_t size =
            keel_program_number(program, keel_program_dict_find(program, axes.items[i], "size"), 0);
        if (out->size) keel_buffer_byte(out, ',');
        keel_buffer_str(
            out, keel_program_str(program, name->kind == KEEL_ATTR_STRING ? name->a : KEEL_NONE));
        keel_buffer_format(out, "=%lld", (long long)size);
    }
}

// A program may have several meshes of one kind: those with the same axes count once.
static keel_status_t add_mesh(const keel_program_t *program, keel_op_id_t op, keel_map_t *told,
                              keel_buffer_t *out) {
    const char *mesh = "mesh";
    keel_buffer_t axes;
    if (!keel_str_is(keel_program_str(program, keel_program_op_name(program, op)->name), mesh))
        return NULL;
    keel_buffer_initialize(&axes, 0);
    put_axes(program,
             keel_program_dict_find(program, program->operations.data[op].attributes, mesh), &axes);
    keel_status_t status = keel_buffer_status(&axes);
    if (!status && axes.size && !keel_map_find(told, keel_buffer_bytes(&axes))) {
        if (out->size) keel_buffer_byte(out, ',');
        keel_buffer_str(out, keel_bytes_str(keel_buffer_bytes(&axes)));
        status = keel_map_put(told, keel_buffer_bytes(&axes), op);
    }
    keel_buffer_deinitialize(&axes);
    return status;
}

static keel_status_t read_mesh(const asking_t *asking, keel_str_t *out) {
    const keel_program_t *program = asking->program;
    keel_buffer_t text;
    keel_map_t told;
    keel_status_t status = NULL;
    keel_buffer_initialize(&text, 0);
    keel_map_initialize(&told);
    if (program->format == KEEL_FORMAT_MLIR)
        for (keel_op_id_t op = 0; op < keel_program_op_count(program) && !status;
             op = keel_program_next(program, op))
            status = add_mesh(program, op, &told, &text);
    keel_map_deinitialize(&told);
    if (!status) return keep_buffer(asking, &text, out);
    keel_buffer_deinitialize(&text);
    return status;
}

keel_status_t keel_contract_ask(const keel_program_t *program, const char *names,
                                keel_arena_t *arena, keel_contract_asked_t *out) {
    asking_t asking = {.program = program, .arena = arena, .names = names};
    const keel_block_t *body = keel_program_body(program, program->entry);
    keel_map_initialize(&asking.known);
    keel_status_t status = NULL;
    if (body && program->format == KEEL_FORMAT_MLIR)
        status = read_mlir(&asking, &program->functions.data[program->entry], body);
    else if (body)
        status = read_hlo(&asking, body);
    if (!status) status = read_mesh(&asking, &out->mesh);
    keel_map_deinitialize(&asking.known);
    out->arguments = asking.arguments;
    out->argument_count = asking.count;
    return status;
}

// ---- the function ------------------------------------------------------------------------------

static keel_str_t without_folders(keel_str_t file) {
    for (size_t i = file.size; i-- > 0;)
        if (file.data[i] == '/') return (keel_str_t){file.data + i + 1, file.size - i - 1};
    return file;
}

// "step" of "step at /home/u/train.py:12"; empty if the origin names no function.
static keel_str_t function_of(keel_str_t origin) {
    static const char at[] = " at ";
    for (size_t i = 0; i + sizeof at - 1 <= origin.size; ++i)
        if (memcmp(origin.data + i, at, sizeof at - 1) == 0) return (keel_str_t){origin.data, i};
    return KEEL_STR("");
}

keel_status_t keel_contract_function(keel_str_t origin, keel_str_t function, keel_str_t file,
                                     keel_arena_t *arena, keel_str_t *out) {
    keel_str_t own = function_of(origin);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_str_t of = own.size ? keel_origin_file(origin) : file;
    if (own.size) function = own;
    keel_buffer_str(&text, function);
    if (of.size) keel_buffer_text(&text, function.size ? " in " : "in ");
    keel_buffer_str(&text, without_folders(of));
    keel_status_t status = keel_buffer_status(&text);
    if (!status) {
        const keel_str_t shown = {(char *)text.data, keel_utf8_mask((char *)text.data, text.size)};
        status = keel_arena_str(arena, contract_trim(shown), out);
    }
    keel_buffer_deinitialize(&text);
    return status;
}
