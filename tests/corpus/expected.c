#define _GNU_SOURCE
#include "expected.h"

#include "unit/place.h"

typedef struct reader_t {
    const char *folder, *below;
    expected_t *out;
} reader_t;

static const char *kept(expected_t *out, keel_str_t text) {
    keel_str_t copy;
    assert_ok(keel_arena_str(&out->texts, text, &copy));
    return copy.data;
}

static keel_str_t text_of(expected_t *out, const char *path) {
    uint8_t *data;
    size_t size;
    keel_str_t copy;
    assert_ok(keel_file_read(path, 1 << 20, &data, &size));
    assert_ok(keel_arena_str(&out->texts, (keel_str_t){(const char *)data, size}, &copy));
    keel_free(data);
    return copy;
}

static keel_str_t without(keel_str_t text, size_t size) {
    return (keel_str_t){text.data + size, text.size - size};
}

// ---- the head ----------------------------------------------------------------------------------

static void set_field(expected_t *out, keel_str_t name, const char *value) {
    if (keel_str_is(name, "run")) {
        ++out->processes;
        return;
    }
    if (keel_str_is(name, "program")) out->program = value;
    static const char *const of_the_run[] = {"program", "reason", "plugin", "launch", NULL};
    if (keel_str_is_one_of(name, of_the_run)) return;
    expected_cause_t *cause = &out->causes[out->cause_count - 1];
    const struct {
        const char *name, **value;
    } fields[] = {
        {"cause", &cause->kind},    {"subject", &cause->subject}, {"old", &cause->old_value},
        {"new", &cause->new_value}, {"pattern", &cause->pattern}, {"advice", &cause->advice},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i)
        if (keel_str_is(name, fields[i].name)) {
            *fields[i].value = value;
            return;
        }
    fail_msg("%s: the head has an unknown field: %.*s", out->name, KEEL_STR_ARGS(name));
}

static void read_head(expected_t *out, keel_str_t text) {
    out->cause_count = 1;
    for (keel_str_t line; keel_str_line(&text, &line) && keel_str_starts(line, KEEL_STR("#"));) {
        line = without(line, keel_str_starts(line, KEEL_STR("# ")) ? 2 : 1);
        if (keel_str_is(line, "and")) {
            assert_in_range(++out->cause_count, 1, EXPECTED_CAUSES);
            continue;
        }
        const char *colon = memchr(line.data, ':', line.size);
        if (!colon) fail_msg("%s: no field: %.*s", out->name, KEEL_STR_ARGS(line));
        keel_str_t name = {line.data, (size_t)(colon - line.data)};
        keel_str_t value = without(line, name.size + 1);
        set_field(out, name, kept(out, without(value, value.size ? 1 : 0)));
    }
    for (size_t i = 0; i < out->cause_count; ++i)
        if (!out->causes[i].kind) fail_msg("%s: the head names no cause", out->name);
    // What is compiled once is seen in a second process.
    if (!out->processes) out->processes = strcmp(out->causes[0].kind, "stable") == 0 ? 2 : 1;
}

// ---- the markers -------------------------------------------------------------------------------

// "cause", or "call 2"
static void set_mark(expected_t *out, keel_str_t mark, expected_place_t place) {
    const char *space = memchr(mark.data, ' ', mark.size);
    keel_str_t word = {mark.data, space ? (size_t)(space - mark.data) : mark.size};
    unsigned number = space ? (unsigned)strtoul(space, NULL, 10) : 0;
    bool is_cut = keel_str_is(word, "cut");
    if (is_cut || keel_str_is(word, "read")) {
        assert_in_range(out->read_count, 0, EXPECTED_MARKS - 1);
        unsigned pieces = !is_cut ? 0 : number ? number : 2;
        out->reads[out->read_count++] = (expected_read_t){place, pieces};
        return;
    }
    assert_in_range(number, 0, out->cause_count);
    expected_cause_t *cause = &out->causes[number ? number - 1 : 0];
    assert_true(keel_str_is(word, "cause") || keel_str_is(word, "call"));
    *(keel_str_is(word, "cause") ? &cause->place : &cause->call) = place;
}

static void read_markers(expected_t *out, const char *file, keel_str_t text) {
    static const char marker[] = "# <- ";
    unsigned number = 0;
    for (keel_str_t line; keel_str_line(&text, &line);) {
        const char *at = memmem(line.data, line.size, marker, strlen(marker));
        ++number;
        if (!at) continue;
        keel_str_t rest = without(line, (size_t)(at - line.data) + strlen(marker));
        while (rest.size) {
            const char *end = memmem(rest.data, rest.size, ", ", 2);
            keel_str_t mark = {rest.data, end ? (size_t)(end - rest.data) : rest.size};
            set_mark(out, mark, (expected_place_t){file, number});
            rest = without(rest, mark.size + (end ? 2 : 0));
        }
    }
}

// ---- the files ---------------------------------------------------------------------------------

static void path_of(const reader_t *reader, const char *file, char out[1024]) {
    snprintf(out, 1024, "%s/%s", reader->folder, file);
}

static keel_status_t read_marked(void *context, const char *name);

// A source, or all sources below a folder.
static void read_markers_below(const reader_t *reader, const char *file) {
    char path[1024];
    path_of(reader, file, path);
    if (keel_is_folder(path)) {
        reader_t below = {reader->folder, file, reader->out};
        assert_ok(keel_directory_walk(path, read_marked, &below));
    } else if (keel_str_ends(keel_str(file), KEEL_STR(".py"))) {
        read_markers(reader->out, kept(reader->out, keel_str(file)), text_of(reader->out, path));
    }
}

static keel_status_t read_marked(void *context, const char *name) {
    const reader_t *reader = context;
    char file[512];
    snprintf(file, sizeof file, "%s/%s", reader->below, name);
    read_markers_below(reader, file);
    return NULL;
}

void expected_read(const char *folder, const char *name, expected_t *out) {
    reader_t reader = {folder, "", out};
    char file[512], path[1024];
    *out = (expected_t){0};
    keel_arena_initialize(&out->texts, 4096);
    out->name = kept(out, keel_str(name));
    snprintf(file, sizeof file, "%s.py", name);
    path_of(&reader, file, path);
    if (!keel_is_file(path)) {
        snprintf(file, sizeof file, "%s", name);
        snprintf(path, sizeof path, "%s/%s/main.py", folder, name);
    }
    read_head(out, text_of(out, path));
    read_markers_below(&reader, file);
}

void expected_deinitialize(expected_t *expected) {
    keel_arena_deinitialize(&expected->texts);
}
