// A journal without names. What is known to be no name stays, by the name of its field; digests of
// programs become those of the stripped ones; every other text becomes a word. So a field that a
// later Keel adds is a word until this file knows it.
#define _GNU_SOURCE // memrchr
#include "pack/journal.h"

#include <jansson.h>
#include <stdlib.h>

#include "journal/journal.h"

typedef enum fate_t {
    WORD,   // of its length
    STAYS,  //
    LEAVES, // the field is left out
    DIGEST, // of a program
    FILE_NAME, // of a path, the last part stays: of a plugin, a library
    FLAGS,  // paths in it become words
    TOPIC,  // words of operations stay
    VALUE,  // types and numbers stay
} fate_t;

static const struct {
    const char *field;
    fate_t fate;
} fields[] = {
    {"event", STAYS},       {"keel", STAYS},        {"mode", STAYS},
    {"format", STAYS},      {"what", STAYS},        {"reason", STAYS},
    {"miss", STAYS},        {"miss_note", STAYS},   {"kind", STAYS},
    {"tier", STAYS},        {"state", STAYS},       {"verdict", STAYS},
    {"label", STAYS},       {"reference", STAYS},   {"client", STAYS},
    {"code", STAYS},        {"rehearsed", STAYS},   {"platform", STAYS},
    {"version", STAYS},     {"device", STAYS},      {"run", STAYS},
    {"order", STAYS},       {"type", STAYS},        {"compile", STAYS},
    {"values", STAYS},      {"assumed", STAYS},     {"key", STAYS},
    {"options", STAYS},     {"build", STAYS},       {"digest", STAYS},
    {"components", STAYS},  {"stack_skipped", STAYS},
    {"targets", STAYS},     {"program", DIGEST},    {"rest", DIGEST},
    {"programs", DIGEST},   {"path", FILE_NAME},    {"library", FILE_NAME},
    {"flags", FLAGS},       {"subject", TOPIC},     {"old", VALUE},
    {"new", VALUE},         {"argv", LEAVES},       {"cwd", LEAVES},
    {"host", LEAVES},       {"cache_dir", LEAVES},  {"process", LEAVES},
    {"python", LEAVES},     {"names", LEAVES},      {"call", LEAVES},
    {"folders", LEAVES},    {"message", LEAVES},    {"why", LEAVES},
    {"note", LEAVES},
};

// What a bundle says of what was installed, without the machine and its folders.
static const char *const bundle_sections[] = {"bundle", "plugin", "cpu",  "devices",
                                              "keel",   "clients", NULL};

// Of the readable texts of components, those that are no flags.
static const char *const plain_components[] = {
    "program",        "plugin build", "platform", "topology",    "device kinds", "device assignment",
    "create options", "cpu",          "kernels",  "key version", NULL};

// A line that is stripped.
typedef struct line_t {
    const journal_strip_t *strip;
    const char *event;
    keel_status_t status;
} line_t;

static json_t *strip_value(line_t *line, const json_t *value, fate_t fate, const char *within);

// ---- texts -------------------------------------------------------------------------------------

static json_t *text(line_t *line, keel_status_t status, keel_buffer_t *out) {
    if (!line->status) line->status = status;
    if (status && line->status != status) keel_status_ignore(status);
    json_t *made = json_stringn_nocheck((const char *)out->data ? (const char *)out->data : "",
                                        out->size);
    keel_buffer_deinitialize(out);
    return made;
}

static json_t *as_word(line_t *line, keel_str_t name) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_buffer_str(&out, name);
    keel_status_t status = keel_buffer_status(&out);
    if (!status && name.size) status = names_word(line->strip->names, name, (char *)out.data);
    return text(line, status, &out);
}

static json_t *as_digest(const line_t *line, keel_str_t hex) {
    char moved[KEEL_DIGEST_HEX];
    const uint64_t *index = keel_map_find(line->strip->moved, keel_str_bytes(hex));
    if (!index) return json_stringn_nocheck(hex.data, hex.size);
    keel_digest_hex(&line->strip->digests[*index], moved);
    return json_string(moved);
}

static json_t *as_flags(line_t *line, keel_str_t flags) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_status_t status = names_put_without_paths(line->strip->names, flags, &out);
    return text(line, status, &out);
}

static json_t *as_file_name(keel_str_t path) {
    const char *slash = path.size ? memrchr(path.data, '/', path.size) : NULL;
    size_t skipped = slash ? (size_t)(slash - path.data) + 1 : 0;
    return json_stringn_nocheck(path.data + skipped, path.size - skipped);
}

// "iota iota_dimension", "compile options": if each word is one of programs' own, or of Keel's.
static bool is_of_programs(const line_t *line, keel_str_t subject) {
    for (size_t at = 0, end; at < subject.size; at = end + 1) {
        for (end = at; end < subject.size && subject.data[end] != ' ';)
            ++end;
        keel_str_t word = {subject.data + at, end - at};
        bool is_flag = keel_str_starts(word, KEEL_STR("xla_"));
        if (word.size && !is_flag && !names_keeps(line->strip->names, word)) return false;
    }
    return true;
}

static json_t *as_topic(line_t *line, keel_str_t subject) {
    keel_component_t component = keel_component_by_name(subject);
    if (component != KEEL_COMPONENT_COUNT || is_of_programs(line, subject))
        return json_stringn_nocheck(subject.data, subject.size);
    return as_word(line, subject);
}

// "f32[8,32]", "0.1", "unset", "61c02c9a4c68": made of digits and of words for types, or one of
// Keel's words.
static bool is_plain_value(keel_str_t value) {
    static const char *const words[] = {"unset", "absent", "true", "false", "nothing", NULL};
    size_t letters = 0;
    if (keel_str_is_one_of(value, words)) return true;
    for (size_t i = 0; i < value.size; ++i) {
        char c = value.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        letters = is_letter ? letters + 1 : 0;
        if (letters > 4 || (!is_letter && !strchr("0123456789[]{}(),.+-: x", c))) return false;
    }
    return value.size && memchr("0123456789-[", *value.data, 12)
               ? true
               : memchr(value.data, '[', value.size) != NULL;
}

static json_t *strip_text(line_t *line, keel_str_t value, fate_t fate) {
    switch (fate) {
        case STAYS:
            return json_stringn_nocheck(value.data, value.size);
        case DIGEST:
            return as_digest(line, value);
        case FILE_NAME:
            return as_file_name(value);
        case FLAGS:
            return as_flags(line, value);
        case TOPIC:
            return as_topic(line, value);
        case VALUE:
            if (is_plain_value(value)) return json_stringn_nocheck(value.data, value.size);
            break;
        default:
            break;
    }
    return as_word(line, value);
}

// ---- fields ------------------------------------------------------------------------------------

// A plugin, a target, a kernel and a fix have names of their own, which no user chose.
static bool has_public_name(const line_t *line, const char *within) {
    static const char *const owners[] = {"plugin", "target", "kernel", "fix", NULL};
    return keel_str_is_one_of(keel_str(within), owners) ||
           (!*within && keel_str_is_one_of(keel_str(line->event), owners));
}

static fate_t bundle_fate(const char *within, const char *field) {
    bool is_section = strcmp(within, "bundle") == 0;
    if (is_section && !keel_str_is_one_of(keel_str(field), bundle_sections)) return LEAVES;
    return *within && !is_section ? FLAGS : STAYS;
}

static fate_t fate_of(const line_t *line, const char *within, const char *field) {
    if (strcmp(within, "values") == 0)
        return keel_str_is_one_of(keel_str(field), plain_components) ? STAYS : FLAGS;
    if (strcmp(within, "flags") == 0) return FLAGS;
    if (strcmp(line->event, "bundle") == 0) return bundle_fate(within, field);
    if (strcmp(within, "components") == 0 || strcmp(within, "ops") == 0) return STAYS;
    if (strcmp(field, "name") == 0) return has_public_name(line, within) ? STAYS : WORD;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i)
        if (strcmp(fields[i].field, field) == 0) return fields[i].fate;
    return WORD;
}

// Programs that differed only in names are one now.
static void add_count(const line_t *line, const char *digest, const json_t *count, json_t *out) {
    json_t *key = as_digest(line, keel_str(digest));
    const char *name = json_string_value(key);
    json_int_t sum = json_integer_value(count) + json_integer_value(json_object_get(out, name));
    if (name) json_object_set_new_nocheck(out, name, json_integer(sum));
    json_decref(key);
}

static json_t *strip_object(line_t *line, const json_t *object, const char *within) {
    json_t *out = json_object(), *value;
    const char *field;
    void *at;
    for (at = json_object_iter((json_t *)(uintptr_t)object); at;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        field = json_object_iter_key(at);
        value = json_object_iter_value(at);
        fate_t fate = fate_of(line, within, field);
        if (fate == LEAVES) continue;
        if (strcmp(within, "executes") == 0)
            add_count(line, field, value, out);
        else
            json_object_set_new_nocheck(out, field, strip_value(line, value, fate, field));
    }
    return out;
}

static json_t *strip_list(line_t *line, const json_t *list, fate_t fate, const char *within) {
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(list); ++i)
        json_array_append_new(out, strip_value(line, json_array_get(list, i), fate, within));
    return out;
}

// `within` is the field that has the value.
static json_t *strip_value(line_t *line, const json_t *value, fate_t fate, const char *within) {
    if (json_is_object(value)) return strip_object(line, value, within);
    if (json_is_array(value)) return strip_list(line, value, fate, within);
    if (!json_is_string(value)) return json_incref((json_t *)(uintptr_t)value);
    return strip_text(line, (keel_str_t){json_string_value(value), json_string_length(value)},
                      fate);
}

// ---- sources -----------------------------------------------------------------------------------

// The one kind of difference that quotes lines of a source.
static void leave_out_quotes(json_t *event) {
    const char *const lists[] = {"roots", "folded"};
    for (size_t k = 0; k < 2; ++k) {
        json_t *list = json_object_get(event, lists[k]);
        for (size_t i = 0; i < json_array_size(list); ++i) {
            json_t *difference = json_array_get(list, i);
            if (strcmp(keel_event_text(difference, "kind"), "edit") != 0) continue;
            json_object_del(difference, "old");
            json_object_del(difference, "new");
        }
    }
}

// ---- lines -------------------------------------------------------------------------------------

static keel_status_t put(const json_t *event, keel_buffer_t *out) {
    char *text = json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (!text) return keel_status_make(KEEL_NO_MEMORY, "an event could not be written");
    keel_buffer_text(out, text);
    keel_buffer_byte(out, '\n');
    free(text);
    return keel_buffer_status(out);
}

// The last line of explanations says how much of the journal they cover.
static void cover(const journal_strip_t *strip, json_t *event) {
    if (strcmp(keel_event_text(event, "event"), "covered") == 0 && strip->journal_bytes)
        json_object_set_new(event, "bytes", json_integer((json_int_t)strip->journal_bytes));
}

static keel_status_t strip_event(void *context, const json_t *event) {
    void *const *both = context;
    const journal_strip_t *strip = both[0];
    line_t line = {.strip = strip, .event = keel_event_text(event, "event")};
    bool strips = strip->settings->without_names;
    if (strips && strcmp(line.event, "folders") == 0) return NULL;
    json_t *out = strips ? strip_object(&line, event, "") : json_deep_copy(event);
    if (!out || line.status) {
        json_decref(out);
        return line.status ? line.status : keel_status_make(KEEL_NO_MEMORY, "an event");
    }
    leave_out_quotes(out);
    cover(strip, out);
    keel_status_t status = put(out, both[1]);
    json_decref(out);
    return status;
}

keel_status_t journal_strip(const journal_strip_t *strip, keel_bytes_t lines, keel_buffer_t *out) {
    void *both[] = {(void *)(uintptr_t)strip, out};
    keel_journal_damage_t damage;
    return keel_journal_parse(lines, strip_event, both, &damage);
}
