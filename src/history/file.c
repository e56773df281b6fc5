// run_dir/history/<script>.ndjson: flat JSON objects, one per line, in the order in which programs
// were seen.
//
//   {"value":ID,"component":NAME,"digest":HEX,"text":TEXT}    before the first record that has it
//   {"program":HEX,"name","origin","run","target","when_us","took_us","key":HEX,
//    "components":"ID ID ...","signature","types","names","arguments","operations","counts"}
//    a program seen for the first time
//   {"seen":ID,"run","target","when_us","took_us"}            one listed above was seen again
//
// IDs and hashes are 16 hex digits, `counts` four for each bucket of the sketch; times are whole
// microseconds. Each process writes every value once, so a value may occur several times. A missing
// value (two processes, one of which rewrote the file) is unknown. Only rehearsals have a target.
#include <inttypes.h>
#include <stdio.h>

#include "history/internal.h"

// ---- writing -----------------------------------------------------------------------------------

static void put_id(keel_json_t *line, const char *name, uint64_t id) {
    keel_buffer_format(keel_json_value(line, name), "\"%016" PRIx64 "\"", id);
}

static uint64_t micros(double seconds) {
    return seconds > 0 && seconds < 1e12 ? (uint64_t)(seconds * 1e6 + 0.5) : 0;
}

static void put_when(keel_json_t *line, const record_t *record) {
    keel_json_string(line, "run", record->run);
    if (*record->target) keel_json_string(line, "target", record->target);
    keel_json_unsigned(line, "when_us", micros(record->when));
    keel_json_unsigned(line, "took_us", micros(record->seconds));
}

static keel_json_t begin_line(keel_buffer_t *out) {
    keel_json_t line = keel_json(out, KEEL_JSON_COMPACT);
    keel_json_object(&line, NULL);
    return line;
}

static void end_line(keel_json_t *line) {
    keel_json_end_object(line);
    keel_buffer_byte(line->out, '\n');
}

static void put_value(keel_buffer_t *out, const value_t *value) {
    keel_json_t line = begin_line(out);
    put_id(&line, "value", value->id);
    keel_json_string(&line, "component", keel_component_name(value->component));
    keel_json_digest(&line, "digest", &value->digest);
    keel_json_str(&line, "text", (keel_str_t){value->text, value->size});
    end_line(&line);
}

static void put_components(keel_json_t *line, const record_t *record) {
    keel_buffer_t *out = keel_json_value(line, "components");
    keel_buffer_byte(out, '"');
    for (int i = 0, shown = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (record->values[i])
            keel_buffer_format(out, "%s%016" PRIx64, shown++ ? " " : "", record->values[i]->id);
    keel_buffer_byte(out, '"');
}

static void put_sketch(keel_json_t *line, const keel_sketch_t *sketch) {
    uint8_t counts[2 * KEEL_SKETCH_BUCKETS];
    for (int i = 0; i < KEEL_SKETCH_BUCKETS; ++i) {
        counts[2 * i] = (uint8_t)(sketch->counts[i] >> 8);
        counts[2 * i + 1] = (uint8_t)sketch->counts[i];
    }
    put_id(line, "signature", sketch->signature);
    put_id(line, "types", sketch->types);
    put_id(line, "names", sketch->names);
    keel_json_unsigned(line, "arguments", sketch->arguments);
    keel_json_unsigned(line, "operations", sketch->operations);
    keel_json_hex(line, "counts", keel_bytes(counts, sizeof counts));
}

void file_put_record(const record_t *record, keel_buffer_t *out) {
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        value_t *value = record->values[i];
        if (!value || value->in_file) continue;
        put_value(out, value);
        value->in_file = true;
    }
    keel_json_t line = begin_line(out);
    keel_json_digest(&line, "program", &record->program);
    keel_json_string(&line, "name", record->name);
    keel_json_string(&line, "origin", record->origin);
    put_when(&line, record);
    keel_json_digest(&line, "key", &record->key);
    put_components(&line, record);
    put_sketch(&line, &record->sketch);
    end_line(&line);
}

void file_put_seen(const record_t *record, keel_buffer_t *out) {
    keel_json_t line = begin_line(out);
    put_id(&line, "seen", record->id);
    put_when(&line, record);
    end_line(&line);
}

// False if that exceeds the file's limit.
static bool put_all_but(table_t *table, uint32_t skip, keel_buffer_t *out) {
    table_forget_file(table);
    keel_buffer_initialize(out, 0);
    for (const record_t *record = table->oldest; record; record = record->newer) {
        if (skip) {
            --skip;
            continue;
        }
        file_put_record(record, out);
        if (out->size > KEEL_HISTORY_FILE_LIMIT / 2 && record->newer) return false;
    }
    return out->size <= KEEL_HISTORY_FILE_LIMIT / 2;
}

keel_status_t file_put_newest(table_t *table, keel_buffer_t *out) {
    uint32_t skip = 0;
    while (!put_all_but(table, skip, out) && skip + 1 < table->count) {
        skip += (table->count - skip) / 2;
        keel_buffer_deinitialize(out);
    }
    return keel_buffer_status(out);
}

// ---- reading -----------------------------------------------------------------------------------

static bool read_id(keel_str_t text, uint64_t *out) {
    uint8_t bytes[8];
    if (!keel_unhex(text, bytes, sizeof bytes)) return false;
    *out = 0;
    for (int i = 0; i < 8; ++i)
        *out = *out << 8 | bytes[i];
    return true;
}

static double read_seconds(const line_t *line, const char *name) {
    uint64_t value = line_number(line, name);
    return value < (uint64_t)1 << 60 ? (double)value / 1e6 : 0;
}

static uint32_t read_u32(const line_t *line, const char *name) {
    uint64_t value = line_number(line, name);
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static keel_status_t add_value(table_t *table, const line_t *line, bool *out_good) {
    uint64_t id;
    keel_digest_t digest;
    keel_str_t text = line_text(line, "text");
    keel_component_t component = keel_component_by_name(line_text(line, "component"));
    *out_good =
        component < KEEL_COMPONENT_COUNT && keel_digest_unhex(line_text(line, "digest"), &digest) &&
        read_id(line_text(line, "value"), &id) && id == value_id((uint8_t)component, &digest);
    if (!*out_good) return NULL;
    value_t *value;
    KEEL_TRY(table_value(table, (uint8_t)component, &digest,
                         text_cut(text.data, KEEL_KEY_VALUE_LIMIT), &value));
    value->in_file = true;
    return NULL;
}

static bool read_sketch(const line_t *line, keel_sketch_t *out) {
    uint8_t counts[2 * KEEL_SKETCH_BUCKETS];
    if (!read_id(line_text(line, "signature"), &out->signature) ||
        !read_id(line_text(line, "names"), &out->names) ||
        !keel_unhex(line_text(line, "counts"), counts, sizeof counts))
        return false;
    if (line_has(line, "types") && !read_id(line_text(line, "types"), &out->types)) return false;
    out->arguments = read_u32(line, "arguments");
    out->operations = read_u32(line, "operations");
    for (int i = 0; i < KEEL_SKETCH_BUCKETS; ++i)
        out->counts[i] = (uint16_t)(counts[2 * i] << 8 | counts[2 * i + 1]);
    return true;
}

static bool read_components(const table_t *table, keel_str_t text,
                            value_t *values[KEEL_COMPONENT_COUNT]) {
    for (size_t at = 0; at < text.size; at += 17) {
        uint64_t id;
        if (text.size - at < 16 || !read_id((keel_str_t){text.data + at, 16}, &id)) return false;
        value_t *value = table_find_value(table, id);
        if (value) values[value->component] = value;
    }
    return true;
}

static bool is_of_run(const table_t *table, const line_t *line) {
    return table->run && *table->run && keel_str_is(line_text(line, "run"), table->run);
}

static bool is_of_now(const table_t *table, const line_t *line) {
    bool is_later = table->since > 0 && read_seconds(line, "when_us") >= table->since;
    return is_later || is_of_run(table, line);
}

static keel_status_t add_record(table_t *table, const line_t *line, bool *out_good) {
    keel_key_t key = {0};
    keel_history_record_t record = {.key = &key,
                                    .name = line_text(line, "name").data,
                                    .origin = line_text(line, "origin").data,
                                    .run = line_text(line, "run").data,
                                    .target = line_text(line, "target").data,
                                    .when = read_seconds(line, "when_us"),
                                    .seconds = read_seconds(line, "took_us")};
    value_t *values[KEEL_COMPONENT_COUNT] = {NULL};
    record_t *added;
    *out_good = keel_digest_unhex(line_text(line, "program"), &record.program) &&
                keel_digest_unhex(line_text(line, "key"), &key.digest) &&
                read_components(table, line_text(line, "components"), values) &&
                read_sketch(line, &record.sketch);
    if (!*out_good) return NULL;
    bool is_now = is_of_now(table, line), is_told = is_of_run(table, line);
    added = is_now ? table_find(table, record_id(&record.program, &key.digest)) : NULL;
    if (!added) {
        KEEL_TRY(table_add(table, &record, values, &added));
        added->is_of_now = is_now;
    }
    added->in_file = true;
    added->is_told |= is_told;
    return NULL;
}

static bool see_again(table_t *table, const line_t *line) {
    uint64_t id;
    if (!read_id(line_text(line, "seen"), &id)) return false;
    record_t *record = table_find(table, id);
    // Its own line may be gone, if the file was rewritten.
    if (!record) return true;
    record->is_told |= is_of_run(table, line);
    if (is_of_now(table, line)) return true;
    record_seen(record, &(keel_history_record_t){.run = line_text(line, "run").data,
                                                 .target = line_text(line, "target").data,
                                                 .when = read_seconds(line, "when_us"),
                                                 .seconds = read_seconds(line, "took_us")});
    record->is_of_now = false;
    table_renew(table, record);
    return true;
}

static keel_status_t add_line(table_t *table, char *data, size_t size, bool *out_good) {
    line_t line;
    *out_good = line_read(data, size, &line);
    if (!*out_good) return NULL;
    if (line_has(&line, "value")) return add_value(table, &line, out_good);
    if (line_has(&line, "program")) return add_record(table, &line, out_good);
    *out_good = see_again(table, &line);
    return NULL;
}

keel_status_t file_parse(uint8_t *data, size_t size, table_t *table, uint64_t *out_damaged) {
    keel_status_t status = NULL;
    table->is_reading = true;
    for (size_t at = 0; at < size && !status;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t length = end ? (size_t)(end - data) - at : size - at;
        bool good = true;
        if (length) status = add_line(table, (char *)data + at, length, &good);
        *out_damaged += !good;
        at += length + 1;
    }
    table->is_reading = false;
    table_evict(table);
    table_drop_unused(table);
    return status;
}
