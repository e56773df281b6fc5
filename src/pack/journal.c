// A journal without names. What is known to be no name stays, by the name of its field; digests of
// programs become those of the stripped ones; every other text becomes a word. So a field that a
// later Keel adds is a word until this file knows it.
#define _GNU_SOURCE // memrchr
#include "pack/journal.h"

#include <jansson.h>
#include <stdio.h>

#include "journal/journal.h"

typedef enum fate_t {
    WORD,      // of its length
    STAYS,     //
    LEAVES,    // the field is left out
    DIGEST,    // of a program
    FILE_NAME, // of a path, the last part stays: of a plugin, a library
    FLAGS,     // paths in it become words
    TOPIC,     // words of operations stay
    VALUE,     // types and numbers stay
    TIER,      // an address becomes a word
} fate_t;

static const struct {
    const char *field;
    fate_t fate;
} fields[] = {
    {"event", STAYS},      {"keel", STAYS},          {"mode", STAYS},      {"format", STAYS},
    {"what", STAYS},       {"reason", STAYS},        {"miss", STAYS},      {"miss_note", STAYS},
    {"kind", STAYS},       {"tier", TIER},           {"by", STAYS},        {"elsewhere", STAYS},
    {"state", STAYS},      {"verdict", STAYS},       {"label", STAYS},     {"reference", STAYS},
    {"client", STAYS},     {"code", STAYS},          {"rehearsed", STAYS}, {"platform", STAYS},
    {"version", STAYS},    {"device", STAYS},        {"run", STAYS},       {"order", STAYS},
    {"type", STAYS},       {"compile", STAYS},       {"values", STAYS},    {"assumed", STAYS},
    {"key", STAYS},        {"options", STAYS},       {"build", STAYS},     {"digest", STAYS},
    {"components", STAYS}, {"stack_skipped", STAYS}, {"targets", STAYS},   {"program", DIGEST},
    {"rest", DIGEST},      {"programs", DIGEST},     {"path", FILE_NAME},  {"library", FILE_NAME},
    {"flags", FLAGS},      {"subject", TOPIC},       {"old", VALUE},       {"new", VALUE},
    {"argv", LEAVES},      {"cwd", LEAVES},          {"host", LEAVES},     {"cache_dir", LEAVES},
    {"process", LEAVES},   {"python", LEAVES},       {"names", LEAVES},    {"call", LEAVES},
    {"folders", LEAVES},   {"message", LEAVES},      {"why", LEAVES},      {"note", LEAVES},
    {"got", STAYS},        {"remote", WORD},
};

// What a bundle says of what was installed, without the machine and its folders.
static const char *const bundle_sections[] = {"bundle", "plugin",  "cpu",         "devices",
                                              "keel",   "clients", "interpreter", NULL};
static const char *const interpreter_facts[] = {"clients loaded", "version", NULL};

// Of the readable texts of components, those that are not flags.
static const char *const plain_components[] = {"program",
                                               "plugin build",
                                               "platform",
                                               "topology",
                                               "device kinds",
                                               "device assignment",
                                               "create options",
                                               "cpu",
                                               "kernels",
                                               "key version",
                                               NULL};

// A line that is stripped.
typedef struct line_t {
    const journal_strip_t *strip;
    const char *event;
    bool strips; // names; otherwise only what is quoted of sources
    keel_json_t json;
    keel_status_t status; // the first failure
} line_t;

// ---- texts -------------------------------------------------------------------------------------

// The status is the line's from then on.
static void note(line_t *line, keel_status_t status) {
    if (line->status)
        keel_status_ignore(status);
    else
        line->status = status;
}

static void put_word(line_t *line, keel_str_t name) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_buffer_str(&out, name);
    keel_status_t status = keel_buffer_status(&out);
    if (!status && name.size) status = names_word(line->strip->names, name, (char *)out.data);
    note(line, status);
    keel_json_str(&line->json, NULL, keel_bytes_str(keel_buffer_bytes(&out)));
    keel_buffer_deinitialize(&out);
}

static void put_flags(line_t *line, keel_str_t flags) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    note(line, names_put_without_paths(line->strip->names, flags, &out));
    keel_json_str(&line->json, NULL, keel_bytes_str(keel_buffer_bytes(&out)));
    keel_buffer_deinitialize(&out);
}

// The digest of the program without names; of one that is not in the pack, its own.
static void moved_digest(const line_t *line, const char *hex, char out[KEEL_DIGEST_HEX]) {
    const uint64_t *index = keel_map_find(line->strip->moved, keel_str_bytes(keel_str(hex)));
    if (index)
        keel_digest_hex(&line->strip->digests[*index], out);
    else
        snprintf(out, KEEL_DIGEST_HEX, "%s", hex);
}

static void put_digest(line_t *line, const char *hex) {
    char moved[KEEL_DIGEST_HEX];
    moved_digest(line, hex, moved);
    keel_json_string(&line->json, NULL, moved);
}

static keel_str_t file_name_of(keel_str_t path) {
    const char *slash = path.size ? memrchr(path.data, '/', path.size) : NULL;
    size_t skipped = slash ? (size_t)(slash - path.data) + 1 : 0;
    return (keel_str_t){path.data + skipped, path.size - skipped};
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

static void put_text(line_t *line, const json_t *text, fate_t fate) {
    keel_str_t value = {json_string_value(text), json_string_length(text)};
    bool is_component = keel_component_by_name(value) != KEEL_COMPONENT_COUNT;
    if (fate == DIGEST)
        put_digest(line, value.data);
    else if (fate == FLAGS)
        put_flags(line, value);
    else if (fate == FILE_NAME)
        keel_json_str(&line->json, NULL, file_name_of(value));
    else if (fate == STAYS || (fate == TIER && !strstr(value.data, "://")) ||
             (fate == VALUE && is_plain_value(value)) ||
             (fate == TOPIC && (is_component || is_of_programs(line, value))))
        keel_json_str(&line->json, NULL, value);
    else
        put_word(line, value);
}

// ---- fields ------------------------------------------------------------------------------------

// A plugin, a target, a handler and a fix have names of their own, which no user chose.
static bool has_public_name(const line_t *line, const char *within) {
    static const char *const owners[] = {"plugin", "target", "handler", "fix", NULL};
    return keel_str_is_one_of(keel_str(within), owners) ||
           (!*within && keel_str_is_one_of(keel_str(line->event), owners));
}

static fate_t bundle_fate(const char *within, const char *field) {
    bool is_section = strcmp(within, "bundle") == 0;
    if (is_section && !keel_str_is_one_of(keel_str(field), bundle_sections)) return LEAVES;
    if (strcmp(within, "interpreter") == 0)
        return keel_str_is_one_of(keel_str(field), interpreter_facts) ? STAYS : LEAVES;
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

// ---- values ------------------------------------------------------------------------------------

// `within` is the field that has the value.
static void put_value(line_t *line, const json_t *value, fate_t fate, const char *within);

// Executions of each program. Programs that differed only in names are one now.
static void put_counts(line_t *line, json_t *counts) {
    keel_json_object(&line->json, NULL);
    for (void *at = json_object_iter(counts); at; at = json_object_iter_next(counts, at)) {
        char digest[KEEL_DIGEST_HEX], other[KEEL_DIGEST_HEX];
        json_int_t sum = 0;
        bool is_first = true;
        moved_digest(line, json_object_iter_key(at), digest);
        for (void *of = json_object_iter(counts); of; of = json_object_iter_next(counts, of)) {
            moved_digest(line, json_object_iter_key(of), other);
            if (strcmp(digest, other) != 0) continue;
            if (!sum) is_first = of == at;
            sum += json_integer_value(json_object_iter_value(of));
        }
        if (!is_first) continue;
        keel_json_key(&line->json, keel_str(digest));
        keel_json_int(&line->json, NULL, sum);
    }
    keel_json_end_object(&line->json);
}

// The one kind of difference that quotes lines of a source.
static bool is_quote(json_t *object, const char *field) {
    return strcmp(keel_event_text(object, "kind"), "edit") == 0 &&
           (strcmp(field, "old") == 0 || strcmp(field, "new") == 0);
}

static void put_object(line_t *line, json_t *object, const char *within) {
    bool is_covered = strcmp(line->event, "covered") == 0 && line->strip->journal_bytes;
    keel_json_object(&line->json, NULL);
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *field = json_object_iter_key(at);
        fate_t fate = line->strips ? fate_of(line, within, field) : STAYS;
        if (fate == LEAVES || is_quote(object, field)) continue;
        keel_json_key(&line->json, keel_str(field));
        // The last line of explanations says how much of the journal they cover.
        if (is_covered && strcmp(field, "bytes") == 0)
            keel_json_unsigned(&line->json, NULL, line->strip->journal_bytes);
        else if (line->strips && strcmp(field, "executes") == 0)
            put_counts(line, json_object_iter_value(at));
        else
            put_value(line, json_object_iter_value(at), fate, field);
    }
    keel_json_end_object(&line->json);
}

static void put_list(line_t *line, const json_t *list, fate_t fate, const char *within) {
    keel_json_array(&line->json, NULL);
    for (size_t i = 0; i < json_array_size(list); ++i)
        put_value(line, json_array_get(list, i), fate, within);
    keel_json_end_array(&line->json);
}

static void put_value(line_t *line, const json_t *value, fate_t fate, const char *within) {
    enum { DECIMALS = 9 };
    if (json_is_object(value))
        put_object(line, (json_t *)(uintptr_t)value, within);
    else if (json_is_array(value))
        put_list(line, value, fate, within);
    else if (json_is_string(value))
        put_text(line, value, fate);
    else if (json_is_integer(value))
        keel_json_int(&line->json, NULL, json_integer_value(value));
    else if (json_is_real(value))
        keel_json_double(&line->json, NULL, json_real_value(value), DECIMALS);
    else if (json_is_boolean(value))
        keel_json_bool(&line->json, NULL, json_is_true(value));
    else
        keel_json_null(&line->json, NULL);
}

// ---- lines -------------------------------------------------------------------------------------

typedef struct lines_t {
    const journal_strip_t *strip;
    keel_buffer_t *out;
} lines_t;

static keel_status_t strip_event(void *context, const json_t *event) {
    const lines_t *lines = context;
    line_t line = {.strip = lines->strip,
                   .event = keel_event_text(event, "event"),
                   .strips = lines->strip->settings->without_names,
                   .json = keel_json(lines->out, KEEL_JSON_COMPACT)};
    if (line.strips && strcmp(line.event, "folders") == 0) return NULL;
    put_object(&line, (json_t *)(uintptr_t)event, "");
    keel_buffer_byte(lines->out, '\n');
    return line.status ? line.status : keel_buffer_status(lines->out);
}

keel_status_t journal_strip(const journal_strip_t *strip, keel_bytes_t lines, keel_buffer_t *out) {
    keel_journal_damage_t damage;
    return keel_journal_parse(lines, strip_event, &(lines_t){strip, out}, &damage);
}
