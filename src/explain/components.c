// Two keys, component by component and field by field.
//
// First it collects what changed, and what each change follows from: an option from the flag that
// sets it, a platform's version from the plugin's file, a device assignment from the number of
// devices. Then it hands over the roots, the most telling first.
#include <stdio.h>
#include <stdlib.h>

#include "explain/explain.h"
#include "explain/fields.h"

typedef struct found_t {
    keel_difference_t difference; // its `follows` is the index of another one
    uint32_t place;               // among the roots that are handed over
} found_t;

typedef struct components_t {
    const keel_key_t *before, *after;
    keel_explanation_t *out;
    keel_arena_t arena;
    found_t *data;
    uint32_t count, capacity;
    uint32_t devices, backend; // the roots that others of their group follow from; NONE
} components_t;

// If either key does not have the component, it counts as unchanged.
static bool has_moved(const components_t *c, keel_component_t component) {
    static const keel_digest_t unknown;
    const keel_digest_t *a = &c->before->components[component];
    const keel_digest_t *b = &c->after->components[component];
    return !keel_digest_equal(a, &unknown) && !keel_digest_equal(b, &unknown) &&
           !keel_digest_equal(a, b);
}

static bool is_still(const components_t *c, keel_component_t component) {
    return keel_digest_equal(&c->before->components[component], &c->after->components[component]);
}

static const char *value_of(const keel_key_t *key, keel_component_t component) {
    return key->values[component] ? key->values[component] : "";
}

static keel_status_t compare_component(components_t *c, keel_component_t component,
                                       keel_moved_fields_t *out) {
    *out = (keel_moved_fields_t){.understood = true};
    if (!has_moved(c, component)) return NULL;
    return keel_fields_compare(value_of(c->before, component), value_of(c->after, component),
                               &c->arena, out);
}

// ---- collecting --------------------------------------------------------------------------------

typedef struct words_t {
    const char *subject, *before, *after, *note;
} words_t;

// `out_at`, if not NULL, is set to its index.
static keel_status_t add_finding(components_t *c, keel_cause_t kind, words_t words, uint32_t under,
                                 uint32_t *out_at) {
    if (c->count == c->capacity) {
        uint32_t capacity = c->capacity ? c->capacity * 2 : 16;
        KEEL_TRY(keel_realloc_array(capacity, sizeof *c->data, (void **)&c->data));
        c->capacity = capacity;
    }
    if (out_at) *out_at = c->count;
    c->data[c->count++].difference =
        (keel_difference_t){.kind = kind,
                            .subject = words.subject,
                            .old_value = words.before,
                            .new_value = words.after,
                            .note = words.note ? words.note : "",
                            .place = {.file = "", .function = "", .call_file = ""},
                            .old_op = KEEL_NONE,
                            .new_op = KEEL_NONE,
                            .follows = under};
    return NULL;
}

// The first of a group is its root, the others follow from it.
static keel_status_t find_in(components_t *c, keel_cause_t kind, words_t words, uint32_t *root) {
    return add_finding(c, kind, words, *root, *root == KEEL_NONE ? root : NULL);
}

static keel_status_t say(components_t *c, const char **out, const char *format, const char *text) {
    char *line;
    keel_str_t kept;
    KEEL_TRY(keel_path(&line, format, text));
    keel_status_t status = keel_arena_str(&c->arena, keel_str(line), &kept);
    keel_free(line);
    *out = kept.data;
    return status;
}

// The first digits of the digest that the value is.
static keel_status_t short_build(components_t *c, const char **text) {
    enum { DIGITS = 12 };
    keel_str_t kept, whole_text = keel_str(*text);
    if (strspn(*text, "0123456789abcdef") <= DIGITS) return NULL;
    KEEL_TRY(keel_arena_str(&c->arena, (keel_str_t){whole_text.data, DIGITS}, &kept));
    *text = kept.data;
    return NULL;
}

static keel_status_t short_hex(components_t *c, const keel_digest_t *digest, const char **out) {
    char hex[KEEL_DIGEST_HEX];
    keel_str_t kept;
    keel_digest_hex(digest, hex);
    KEEL_TRY(keel_arena_str(&c->arena, (keel_str_t){hex, 12}, &kept));
    *out = kept.data;
    return NULL;
}

// The component as a whole: its values or, if these read the same, its digests.
static keel_status_t whole(components_t *c, keel_component_t component, words_t *out) {
    keel_str_t before = keel_str(value_of(c->before, component));
    keel_str_t after = keel_str(value_of(c->after, component));
    out->subject = keel_component_name(component);
    if (!keel_str_equal(before, after)) {
        if (!before.size) before = KEEL_STR("unset");
        if (!after.size) after = KEEL_STR("unset");
        return keel_fields_show(before, after, &c->arena, &out->before, &out->after);
    }
    out->note = "only its digest is known";
    KEEL_TRY(short_hex(c, &c->before->components[component], &out->before));
    return short_hex(c, &c->after->components[component], &out->after);
}

static keel_status_t find_whole(components_t *c, keel_cause_t kind, keel_component_t component,
                                uint32_t under) {
    words_t words = {0};
    KEEL_TRY(whole(c, component, &words));
    return add_finding(c, kind, words, under, NULL);
}

// True if the fields do not show what changed.
static bool is_untold(const components_t *c, keel_component_t component,
                      const keel_moved_fields_t *fields) {
    return has_moved(c, component) && (!fields->understood || !fields->count);
}

static words_t words_of(const keel_moved_field_t *field) {
    return (words_t){field->name, field->before, field->after, NULL};
}

// ---- the plugin, its platform, the host --------------------------------------------------------

// Strings are in quotes; lists of numbers are versions.
static keel_status_t plain(components_t *c, const char *name, const char **value) {
    keel_str_t text = keel_str(*value), kept;
    if (text.size > 2 && text.data[0] == '"' && text.data[text.size - 1] == '"')
        text = (keel_str_t){text.data + 1, text.size - 2};
    KEEL_TRY(keel_arena_str(&c->arena, text, &kept));
    if (strstr(name, "version"))
        for (char *at = (char *)(uintptr_t)kept.data; (at = strchr(at, ','));)
            *at = '.';
    *value = kept.data;
    return NULL;
}

static keel_status_t find_platform(components_t *c) {
    keel_moved_fields_t fields;
    KEEL_TRY(compare_component(c, KEEL_COMPONENT_PLATFORM, &fields));
    for (uint32_t i = 0; i < fields.count; ++i) {
        words_t words = words_of(&fields.data[i]);
        KEEL_TRY(plain(c, words.subject, &words.before));
        KEEL_TRY(plain(c, words.subject, &words.after));
        if (strcmp(words.subject, "api") == 0)
            words.subject = "PJRT API";
        else if (strcmp(words.subject, "name") == 0 || strcmp(words.subject, "version") == 0)
            KEEL_TRY(say(c, &words.subject, "platform %s", words.subject));
        KEEL_TRY(find_in(c, KEEL_CAUSE_BACKEND, words, &c->backend));
    }
    if (is_untold(c, KEEL_COMPONENT_PLATFORM, &fields))
        return find_whole(c, KEEL_CAUSE_BACKEND, KEEL_COMPONENT_PLATFORM, c->backend);
    return NULL;
}

static keel_status_t find_cpu_field(components_t *c, const keel_moved_field_t *field,
                                    uint32_t *root) {
    words_t words = words_of(field);
    // How many processors may be used is separate from what they can do.
    if (strcmp(field->name, "cpus") == 0) {
        words.subject = "cpu count";
        return add_finding(c, KEEL_CAUSE_BACKEND, words, KEEL_NONE, NULL);
    }
    if (strcmp(field->name, "threads") == 0) {
        words.subject = "thread count (NPROC)";
        return add_finding(c, KEEL_CAUSE_BACKEND, words, KEEL_NONE, NULL);
    }
    KEEL_TRY(say(c, &words.subject, "cpu %s", words.subject));
    return find_in(c, KEEL_CAUSE_BACKEND, words, root);
}

static keel_status_t find_cpu(components_t *c) {
    keel_moved_fields_t fields;
    uint32_t root = KEEL_NONE;
    KEEL_TRY(compare_component(c, KEEL_COMPONENT_CPU, &fields));
    // The vendor says more than the features.
    for (int pass = 0; pass < 2; ++pass)
        for (uint32_t i = 0; i < fields.count; ++i)
            if ((strcmp(fields.data[i].name, "vendor") == 0) == (pass == 0))
                KEEL_TRY(find_cpu_field(c, &fields.data[i], &root));
    if (c->backend == KEEL_NONE) c->backend = root;
    if (is_untold(c, KEEL_COMPONENT_CPU, &fields))
        return find_whole(c, KEEL_CAUSE_BACKEND, KEEL_COMPONENT_CPU, KEEL_NONE);
    return NULL;
}

static keel_status_t find_plugin(components_t *c) {
    if (!has_moved(c, KEEL_COMPONENT_PLUGIN_BUILD)) return NULL;
    words_t words = {0};
    KEEL_TRY(whole(c, KEEL_COMPONENT_PLUGIN_BUILD, &words));
    KEEL_TRY(short_build(c, &words.before));
    KEEL_TRY(short_build(c, &words.after));
    return find_in(c, KEEL_CAUSE_BACKEND, words, &c->backend);
}

// A tool that compiles for the plugin, by its digest.
static keel_status_t find_tool(components_t *c, const keel_moved_field_t *field) {
    words_t words = words_of(field);
    const char *dot = strchr(words.subject, '.');
    KEEL_TRY(say(c, &words.subject, "toolkit %s", dot ? dot + 1 : words.subject));
    words.note = "another build of a tool of the CUDA toolkit";
    KEEL_TRY(short_build(c, &words.before));
    KEEL_TRY(short_build(c, &words.after));
    return find_in(c, KEEL_CAUSE_BACKEND, words, &c->backend);
}

static keel_status_t find_toolkit(components_t *c) {
    keel_moved_fields_t fields;
    KEEL_TRY(compare_component(c, KEEL_COMPONENT_TOOLKIT, &fields));
    for (uint32_t i = 0; i < fields.count; ++i)
        KEEL_TRY(find_tool(c, &fields.data[i]));
    return NULL;
}

static keel_status_t find_backend(components_t *c) {
    KEEL_TRY(find_plugin(c));
    KEEL_TRY(find_platform(c));
    KEEL_TRY(find_toolkit(c));
    KEEL_TRY(find_cpu(c));
    if (!has_moved(c, KEEL_COMPONENT_KEY_VERSION)) return NULL;
    return find_whole(c, KEEL_CAUSE_BACKEND, KEEL_COMPONENT_KEY_VERSION, KEEL_NONE);
}

// ---- devices -----------------------------------------------------------------------------------

typedef struct devices_t {
    unsigned long long count, processes;
    const char *kind; // of the first run of devices
    bool understood;
} devices_t;

// "4 x cpu", one line for each run of one kind, then "processes=1".
static keel_status_t read_devices(components_t *c, const char *value, devices_t *out) {
    *out = (devices_t){.kind = "", .understood = *value != 0};
    for (const char *at = value; *at;) {
        size_t length = strcspn(at, "\n");
        keel_str_t line = {at, length};
        char *end;
        if (keel_str_starts(line, KEEL_STR("processes="))) {
            out->processes = strtoull(at + 10, NULL, 10);
        } else {
            unsigned long long count = strtoull(at, &end, 10);
            bool is_run = end != at && strncmp(end, " x ", 3) == 0;
            if (!is_run) out->understood = false;
            if (is_run && !out->count) {
                keel_str_t kept;
                size_t begin = (size_t)(end + 3 - at);
                KEEL_TRY(
                    keel_arena_str(&c->arena, (keel_str_t){at + begin, length - begin}, &kept));
                out->kind = kept.data;
            }
            out->count += count;
        }
        at += length + (at[length] != 0);
    }
    return NULL;
}

static keel_status_t find_number(components_t *c, const char *subject, unsigned long long before,
                                 unsigned long long after) {
    char text[2][24];
    words_t words = {.subject = subject};
    if (before == after) return NULL;
    snprintf(text[0], sizeof text[0], "%llu", before);
    snprintf(text[1], sizeof text[1], "%llu", after);
    KEEL_TRY(say(c, &words.before, "%s", text[0]));
    KEEL_TRY(say(c, &words.after, "%s", text[1]));
    return find_in(c, KEEL_CAUSE_DEVICES, words, &c->devices);
}

static keel_status_t find_device_kinds(components_t *c) {
    devices_t before, after;
    if (!has_moved(c, KEEL_COMPONENT_DEVICE_KINDS)) return NULL;
    KEEL_TRY(read_devices(c, value_of(c->before, KEEL_COMPONENT_DEVICE_KINDS), &before));
    KEEL_TRY(read_devices(c, value_of(c->after, KEEL_COMPONENT_DEVICE_KINDS), &after));
    uint32_t found = c->count;
    if (before.understood && after.understood) {
        KEEL_TRY(find_number(c, "device count", before.count, after.count));
        KEEL_TRY(find_number(c, "process count", before.processes, after.processes));
        words_t words = {.subject = "device kind"};
        KEEL_TRY(keel_fields_show(keel_str(before.kind), keel_str(after.kind), &c->arena,
                                  &words.before, &words.after));
        if (strcmp(before.kind, after.kind) != 0)
            KEEL_TRY(find_in(c, KEEL_CAUSE_DEVICES, words, &c->devices));
    }
    if (c->count != found) return NULL;
    words_t words = {0};
    KEEL_TRY(whole(c, KEEL_COMPONENT_DEVICE_KINDS, &words));
    return find_in(c, KEEL_CAUSE_DEVICES, words, &c->devices);
}

// How the program is distributed: replicas, partitions, and their devices.
static bool is_spread(const char *name) {
    static const char *const names[] = {"num_replicas", "num_partitions", "process_count",
                                        "slice_size"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

// Keel compiles some programs for any device if the plugin needs that, so a change of plugin can
// add or remove the assignment.
static bool follows_plugin(const components_t *c, const keel_moved_field_t *option) {
    return has_moved(c, KEEL_COMPONENT_PLUGIN_BUILD) && option->was_set != option->is_set &&
           strcmp(option->name, "compile_portable_executable") == 0;
}

// "device 1" for "1 replicas, 1 computations: 1", "devices 0; 1" for "1 replicas, 2 computations:
// 0; 1": how a user counts them. Several replicas stay as they are.
static keel_status_t plain_devices(components_t *c, const char **text) {
    static const char one[] = "1 replicas, ", computations[] = " computations: ";
    const char *count = *text + sizeof one - 1;
    if (strncmp(*text, one, sizeof one - 1) != 0) return NULL;
    const char *devices = strstr(count, computations);
    if (!devices) return NULL;
    bool is_of_one = strncmp(count, "1 ", 2) == 0;
    return say(c, text, is_of_one ? "device %s" : "devices %s", devices + sizeof computations - 1);
}

static keel_status_t find_spread(components_t *c, const keel_moved_fields_t *options) {
    uint32_t backend = c->backend, *root = &c->devices;
    for (uint32_t i = 0; i < options->count; ++i)
        if (follows_plugin(c, &options->data[i])) root = &backend;
    for (uint32_t i = 0; i < options->count; ++i)
        if (is_spread(options->data[i].name))
            KEEL_TRY(find_in(c, KEEL_CAUSE_DEVICES, words_of(&options->data[i]), root));
    if (!has_moved(c, KEEL_COMPONENT_DEVICE_ASSIGNMENT)) return NULL;
    words_t words = {0};
    KEEL_TRY(whole(c, KEEL_COMPONENT_DEVICE_ASSIGNMENT, &words));
    bool is_of_one =
        strstr(words.before, " 1 computations") && strstr(words.after, " 1 computations");
    if (is_of_one && *root == KEEL_NONE) words.note = keel_note_text(KEEL_NOTE_OTHER_DEVICE);
    KEEL_TRY(plain_devices(c, &words.before));
    KEEL_TRY(plain_devices(c, &words.after));
    return find_in(c, KEEL_CAUSE_DEVICES, words, root);
}

// The serialized topology describes the devices and the plugin that wrote it.
static keel_status_t find_topology(components_t *c) {
    if (!has_moved(c, KEEL_COMPONENT_TOPOLOGY)) return NULL;
    uint32_t under = c->devices != KEEL_NONE ? c->devices : c->backend;
    words_t words = {0};
    KEEL_TRY(whole(c, KEEL_COMPONENT_TOPOLOGY, &words));
    return add_finding(c, KEEL_CAUSE_DEVICES, words, under,
                       under == KEEL_NONE ? &c->devices : NULL);
}

// ---- flags and options -------------------------------------------------------------------------

static keel_status_t find_flags(components_t *c, keel_component_t component, const char *note) {
    keel_moved_fields_t fields;
    KEEL_TRY(compare_component(c, component, &fields));
    for (uint32_t i = 0; i < fields.count; ++i) {
        words_t words = words_of(&fields.data[i]);
        // Keel does not know how XLA reads the rest of a text, or a file that cannot be read.
        if (*words.subject == '@') words.subject = keel_component_name(component);
        words.note = note;
        KEEL_TRY(add_finding(c, KEEL_CAUSE_FLAG, words, KEEL_NONE, NULL));
    }
    return is_untold(c, component, &fields) ? find_whole(c, KEEL_CAUSE_FLAG, component, KEEL_NONE)
                                            : NULL;
}

static keel_status_t find_all_flags(components_t *c) {
    // Clients that send debug options copy XLA_FLAGS into them.
    bool is_default = is_still(c, KEEL_COMPONENT_OPTIONS) &&
                      strstr(value_of(c->after, KEEL_COMPONENT_OPTIONS), "debug.");
    KEEL_TRY(find_flags(
        c, KEEL_COMPONENT_XLA_FLAGS,
        is_default ? "the value may be the default: the compile options did not move" : NULL));
    KEEL_TRY(find_flags(c, KEEL_COMPONENT_LIBTPU_FLAGS, NULL));
    return find_flags(c, KEEL_COMPONENT_ENVIRONMENT, NULL);
}

static const char *without(const char *text, const char *prefix) {
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

// The root of the same name: a flag, or an option given elsewhere. A map in the debug options is
// one flag.
static uint32_t same_name(const components_t *c, const char *name) {
    for (uint32_t i = 0; i < c->count; ++i) {
        const keel_difference_t *other = &c->data[i].difference;
        if (other->follows != KEEL_NONE ||
            (other->kind != KEEL_CAUSE_FLAG && other->kind != KEEL_CAUSE_OPTION))
            continue;
        const char *rest = without(name, other->subject);
        if (rest && *other->subject && (!*rest || *rest == '.')) return i;
    }
    return KEEL_NONE;
}

// PrecisionConfig.Precision of XLA.
static const char *precision_name(const char *value) {
    static const char *const names[] = {"DEFAULT", "HIGH", "HIGHEST", "PACKED_NIBBLE"};
    if (strcmp(value, "unset") == 0) return names[0];
    return value[0] >= '0' && value[0] <= '3' && !value[1] ? names[value[0] - '0'] : value;
}

static bool is_debug(const char *name) {
    return strncmp(name, "xla_", 4) == 0 || strncmp(name, "debug.", 6) == 0;
}

static keel_status_t find_option(components_t *c, const keel_moved_field_t *field,
                                 uint32_t *only_one_has) {
    words_t words = words_of(field);
    if (strncmp(field->name, "toolkit.", 8) == 0) return find_tool(c, field);
    const char *override = without(field->name, "env_option_overrides.");
    if (override) {
        words.subject = override;
        words.note = "passed to this compile (compiler_options)";
    }
    if (strcmp(field->name, "matrix_unit_operand_precision") == 0) {
        words.before = precision_name(words.before);
        words.after = precision_name(words.after);
        return add_finding(c, KEEL_CAUSE_PRECISION, words, KEEL_NONE, NULL);
    }
    if (strcmp(field->name, "argument_layouts") == 0 || strcmp(field->name, "result_layout") == 0)
        return add_finding(c, KEEL_CAUSE_LAYOUT, words, KEEL_NONE, NULL);
    uint32_t under = follows_plugin(c, field) ? c->backend : same_name(c, words.subject);
    if (under != KEEL_NONE) return add_finding(c, KEEL_CAUSE_OPTION, words, under, NULL);
    // A client of another version has different options: that is one cause, not dozens.
    if (is_debug(field->name) && (!field->was_set || !field->is_set)) {
        if (c->backend != KEEL_NONE)
            return add_finding(c, KEEL_CAUSE_OPTION, words, c->backend, NULL);
        return find_in(c, KEEL_CAUSE_OPTION, words, only_one_has);
    }
    return add_finding(c, KEEL_CAUSE_OPTION, words, KEEL_NONE, NULL);
}

static keel_status_t find_options(components_t *c, const keel_moved_fields_t *options) {
    uint32_t only_one_has = KEEL_NONE;
    for (uint32_t i = 0; i < options->count; ++i)
        if (!is_spread(options->data[i].name))
            KEEL_TRY(find_option(c, &options->data[i], &only_one_has));
    if (!is_untold(c, KEEL_COMPONENT_OPTIONS, options)) return NULL;
    return find_whole(c, KEEL_CAUSE_OPTION, KEEL_COMPONENT_OPTIONS, KEEL_NONE);
}

// The client's create options decide how many devices there are.
static keel_status_t find_create_options(components_t *c) {
    keel_moved_fields_t fields;
    KEEL_TRY(compare_component(c, KEEL_COMPONENT_CREATE_OPTIONS, &fields));
    for (uint32_t i = 0; i < fields.count; ++i) {
        words_t words = words_of(&fields.data[i]);
        words.note = "given when the client was made";
        // Another plugin takes other options.
        bool is_of_plugin = !fields.data[i].was_set || !fields.data[i].is_set;
        uint32_t under = c->devices == KEEL_NONE && is_of_plugin ? c->backend : c->devices;
        KEEL_TRY(add_finding(c, KEEL_CAUSE_OPTION, words, under, NULL));
    }
    if (!is_untold(c, KEEL_COMPONENT_CREATE_OPTIONS, &fields)) return NULL;
    return find_whole(c, KEEL_CAUSE_OPTION, KEEL_COMPONENT_CREATE_OPTIONS, KEEL_NONE);
}

// A kernel that only one of the programs calls came with its operations.
static keel_status_t find_kernels(components_t *c) {
    keel_moved_fields_t fields;
    KEEL_TRY(compare_component(c, KEEL_COMPONENT_KERNELS, &fields));
    for (uint32_t i = 0; i < fields.count; ++i) {
        if (!fields.data[i].was_set || !fields.data[i].is_set) continue;
        words_t words = words_of(&fields.data[i]);
        words.note = "a different build of the client's library that has it";
        KEEL_TRY(short_build(c, &words.before));
        KEEL_TRY(short_build(c, &words.after));
        KEEL_TRY(find_in(c, KEEL_CAUSE_BACKEND, words, &c->backend));
    }
    return NULL;
}

// ---- handing over ------------------------------------------------------------------------------

enum { RANKS = 6 };

static int rank(keel_cause_t kind) {
    static const uint8_t ranks[KEEL_CAUSE_COUNT] = {
        [KEEL_CAUSE_PRECISION] = 0, [KEEL_CAUSE_DEVICES] = 1, [KEEL_CAUSE_LAYOUT] = 2,
        [KEEL_CAUSE_OPTION] = 3,    [KEEL_CAUSE_FLAG] = 4,    [KEEL_CAUSE_BACKEND] = 5,
    };
    return ranks[kind];
}

static uint32_t top_of(const components_t *c, uint32_t at) {
    while (c->data[at].difference.follows != KEEL_NONE)
        at = c->data[at].difference.follows;
    return at;
}

static keel_status_t hand_over_root(components_t *c, found_t *found, uint32_t follows) {
    keel_difference_t difference = found->difference;
    difference.follows = follows;
    size_t at = c->out->root_count;
    KEEL_TRY(keel_explanation_add(c->out, &difference));
    found->place = follows != KEEL_NONE ? follows : (uint32_t)at;
    return NULL;
}

static keel_status_t give_components(components_t *c, uint32_t follows) {
    for (int wanted = 0; wanted < RANKS; ++wanted)
        for (uint32_t i = 0; i < c->count; ++i)
            if (c->data[i].difference.follows == KEEL_NONE &&
                rank(c->data[i].difference.kind) == wanted)
                KEEL_TRY(hand_over_root(c, &c->data[i], follows));
    for (uint32_t i = 0; i < c->count; ++i) {
        keel_difference_t difference = c->data[i].difference;
        if (difference.follows == KEEL_NONE) continue;
        difference.follows = c->data[top_of(c, i)].place;
        // If its root is beyond the limit, it is left out too.
        KEEL_TRY(keel_explanation_add(c->out, &difference));
    }
    return NULL;
}

static keel_status_t explain_components(components_t *c, uint32_t follows) {
    keel_moved_fields_t options;
    KEEL_TRY(compare_component(c, KEEL_COMPONENT_OPTIONS, &options));
    KEEL_TRY(find_backend(c));
    KEEL_TRY(find_kernels(c));
    KEEL_TRY(find_device_kinds(c));
    KEEL_TRY(find_spread(c, &options));
    KEEL_TRY(find_topology(c));
    KEEL_TRY(find_all_flags(c));
    KEEL_TRY(find_options(c, &options));
    KEEL_TRY(find_create_options(c));
    return give_components(c, follows);
}

keel_status_t keel_explain_components(const keel_key_t *old_key, const keel_key_t *new_key,
                                      uint32_t follows, keel_explanation_t *out) {
    components_t c = {.before = old_key,
                      .after = new_key,
                      .out = out,
                      .devices = KEEL_NONE,
                      .backend = KEEL_NONE};
    keel_arena_initialize(&c.arena, 0);
    keel_status_t status = explain_components(&c, follows);
    keel_free(c.data);
    keel_arena_deinitialize(&c.arena);
    return status;
}
