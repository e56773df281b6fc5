// Reading a journal's events, one line at a time: memory does not grow with the journal.
#define _GNU_SOURCE // memrchr
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/json_cost.h"
#include "journal/journal.h"

// ---- lines -------------------------------------------------------------------------------------

typedef struct scan_t {
    const keel_journal_needless_t *needless;
    keel_status_t (*visit)(void *context, const struct json_t *event);
    void *context;
    keel_journal_damage_t *damage;
    keel_buffer_t scratch[2];
    uint64_t number; // of the line, from 1
} scan_t;

static void blame(const scan_t *scan, const char *why) {
    if (scan->damage->lines++) return;
    scan->damage->first_line = scan->number;
    snprintf(scan->damage->why, sizeof scan->damage->why, "%s", why);
}

// NULL, with the reason in *why, if the line is not an event.
static json_t *parse_event(keel_str_t line, char why[160]) {
    json_error_t error;
    json_t *event = NULL;
    if (!keel_json_fits(line)) {
        snprintf(why, 160, "too many small values to keep in memory");
        return NULL;
    }
    event = json_loadb(line.data, line.size, 0, &error);
    if (!event && json_error_code(&error) == json_error_premature_end_of_input)
        snprintf(why, 160, "the line is truncated");
    else if (!event)
        snprintf(why, 160, "not JSON: %.140s", error.text);
    else if (!json_is_string(json_object_get(event, "event")))
        snprintf(why, 160, "not an event: a JSON object with an \"event\" is expected");
    else
        return event;
    json_decref(event);
    return NULL;
}

json_t *keel_journal_event(keel_str_t line) {
    char why[160];
    return parse_event(line, why);
}

// A line that is not whole is the last one: its process was killed, or is writing it now.
static keel_status_t take_line(scan_t *scan, keel_str_t line, bool is_whole) {
    const keel_journal_needless_t *needless = scan->needless;
    char why[160];
    ++scan->number;
    if (!line.size || keel_journal_is_event(line, needless->events)) return NULL;
    line = keel_journal_without(line, needless->lists, &scan->scratch[0]);
    line = keel_journal_cut(line, needless->longest, &scan->scratch[1]);
    json_t *event = parse_event(line, why);
    if (!event && is_whole) blame(scan, why);
    keel_status_t status = event ? scan->visit(scan->context, event) : NULL;
    json_decref(event);
    return status;
}

// *out_taken: bytes of whole lines.
static keel_status_t take_lines(scan_t *scan, keel_str_t text, size_t *out_taken) {
    keel_str_t rest = text;
    for (const char *end; rest.size && (end = memchr(rest.data, '\n', rest.size));) {
        keel_str_t line = {rest.data, (size_t)(end - rest.data)};
        rest = (keel_str_t){end + 1, rest.size - line.size - 1};
        KEEL_TRY(take_line(scan, line, true));
    }
    *out_taken = text.size - rest.size;
    return NULL;
}

static void begin(scan_t *scan) {
    *scan->damage = (keel_journal_damage_t){0};
    keel_buffer_initialize(&scan->scratch[0], 0);
    keel_buffer_initialize(&scan->scratch[1], 0);
}

// Takes the status.
static keel_status_t end(scan_t *scan, keel_status_t status) {
    for (int i = 0; i < 2; ++i) {
        if (!status) status = keel_buffer_status(&scan->scratch[i]);
        keel_buffer_deinitialize(&scan->scratch[i]);
    }
    return status;
}

// ---- files -------------------------------------------------------------------------------------

// A part of a file, read in pieces.
typedef struct part_t {
    const keel_input_file_t *file;
    uint64_t at, end;
    char *data;
    size_t size, room; // bytes in `data`, and what it holds
    bool skips;        // the rest of a line that is too long
} part_t;

static keel_status_t fill(part_t *part) {
    enum { PIECE = 1 << 20 };
    size_t most = (size_t)keel_limit(KEEL_LIMIT_LINE);
    if (part->size == part->room) {
        void *grown = part->data;
        size_t room = part->room ? 2 * part->room : PIECE < most ? PIECE : most;
        KEEL_TRY(keel_realloc_array(room, 1, &grown));
        part->data = grown;
        part->room = room;
    }
    size_t size = part->room - part->size;
    if (size > part->end - part->at) size = (size_t)(part->end - part->at);
    KEEL_TRY(keel_input_file_read(part->file, part->at, part->data + part->size, size));
    part->at += size;
    part->size += size;
    return NULL;
}

// The rest of a line of which the beginning was dropped.
static void skip(part_t *part) {
    const char *end = memchr(part->data, '\n', part->size);
    size_t gone = end ? (size_t)(end - part->data) + 1 : part->size;
    part->skips = !end;
    part->size -= gone;
    memmove(part->data, part->data + gone, part->size);
}

static keel_status_t read_part(scan_t *scan, part_t *part) {
    char why[160], size[16];
    while (part->at < part->end) {
        size_t taken;
        KEEL_TRY(fill(part));
        if (part->skips) skip(part);
        if (part->skips) continue;
        KEEL_TRY(take_lines(scan, (keel_str_t){part->data, part->size}, &taken));
        part->size -= taken;
        memmove(part->data, part->data + taken, part->size);
        if (part->size < keel_limit(KEEL_LIMIT_LINE)) continue;
        keel_format_size(keel_limit(KEEL_LIMIT_LINE), size);
        snprintf(why, sizeof why, "the line is longer than %s", size);
        ++scan->number;
        blame(scan, why);
        part->skips = true;
        part->size = 0;
    }
    if (!part->size) return NULL;
    return take_line(scan, (keel_str_t){part->data, part->size}, false);
}

static keel_status_t read_file(scan_t *scan, const keel_input_file_t *file, uint64_t from,
                               uint64_t to) {
    part_t part = {.file = file, .at = from, .end = to};
    keel_status_t status = read_part(scan, &part);
    keel_free(part.data);
    return status;
}

// ---- a run's two files -------------------------------------------------------------------------

// Without its first and last lines, which describe the file itself; empty if it is incomplete.
static keel_status_t find_answers(keel_journal_source_t *source) {
    enum { MOST = 1 << 16 };
    const keel_input_file_t *file = &source->explained;
    size_t size = file->size < MOST ? (size_t)file->size : MOST;
    void *memory;
    source->answers_from = source->answers_to = 0;
    if (!size) return NULL;
    KEEL_TRY(keel_alloc(size, &memory));
    char *data = memory;
    keel_status_t status = keel_input_file_read(file, 0, data, size);
    const char *first = status ? NULL : memchr(data, '\n', size);
    uint64_t from = first ? (uint64_t)(first - data) + 1 : 0;
    if (first) status = keel_input_file_read(file, file->size - size, data, size);
    const char *last = first && !status ? memrchr(data, '\n', size - 1) : NULL;
    uint64_t to = last ? file->size - size + (uint64_t)(last - data) + 1 : 0;
    keel_free(data);
    if (from < to) {
        source->answers_from = from;
        source->answers_to = to;
    }
    return status;
}

static keel_status_t open_explained(const char *run_dir, const char *id,
                                    keel_journal_source_t *source) {
    char *path;
    KEEL_TRY(keel_journal_explained_path(run_dir, id, &path));
    keel_status_t status = keel_input_file_open(path, &source->explained);
    source->is_explained = !status;
    keel_free(path);
    if (!status) status = find_answers(source);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status); // then nothing is explained
    return NULL;
}

keel_status_t keel_journal_source_open(const char *run_dir, const char *id,
                                       keel_journal_source_t *out) {
    *out = (keel_journal_source_t){.path = NULL};
    KEEL_TRY(keel_journal_path(run_dir, id, &out->path));
    keel_status_t status = keel_input_file_open(out->path, &out->journal);
    out->is_open = !status;
    if (!status) status = open_explained(run_dir, id, out);
    if (status) keel_journal_source_close(out);
    return status;
}

void keel_journal_source_close(keel_journal_source_t *source) {
    if (source->is_open) keel_input_file_close(&source->journal);
    if (source->is_explained) keel_input_file_close(&source->explained);
    keel_free(source->path);
    *source = (keel_journal_source_t){.path = NULL};
}

static keel_status_t scan_source(scan_t *scan, const keel_journal_source_t *source) {
    size_t taken;
    if (source->is_open) KEEL_TRY(read_file(scan, &source->journal, 0, source->journal.size));
    if (source->is_explained)
        return read_file(scan, &source->explained, source->answers_from, source->answers_to);
    keel_str_t text = keel_bytes_str(source->bytes);
    KEEL_TRY(take_lines(scan, text, &taken));
    if (taken == text.size) return NULL;
    return take_line(scan, (keel_str_t){text.data + taken, text.size - taken}, false);
}

keel_status_t keel_journal_scan(const keel_journal_source_t *source,
                                const keel_journal_needless_t *needless,
                                keel_status_t (*visit)(void *context, const struct json_t *event),
                                void *context, keel_journal_damage_t *out_damage) {
    static const char *const none[] = {NULL};
    static const keel_journal_needless_t all = {none, none, 0};
    scan_t scan = {.needless = needless ? needless : &all,
                   .visit = visit,
                   .context = context,
                   .damage = out_damage};
    begin(&scan);
    return end(&scan, scan_source(&scan, source));
}

keel_status_t
keel_journal_parse_without(keel_bytes_t bytes, const keel_journal_needless_t *needless,
                           keel_status_t (*visit)(void *context, const struct json_t *event),
                           void *context, keel_journal_damage_t *out_damage) {
    return keel_journal_scan(&(keel_journal_source_t){.bytes = bytes}, needless, visit, context,
                             out_damage);
}

keel_status_t keel_journal_parse(keel_bytes_t bytes,
                                 keel_status_t (*visit)(void *context, const struct json_t *event),
                                 void *context, keel_journal_damage_t *out_damage) {
    return keel_journal_parse_without(bytes, NULL, visit, context, out_damage);
}

keel_status_t keel_journal_read(const char *path,
                                keel_status_t (*visit)(void *context, const struct json_t *event),
                                void *context, keel_journal_damage_t *out_damage) {
    keel_journal_source_t source = {.is_open = true};
    *out_damage = (keel_journal_damage_t){0};
    KEEL_TRY(keel_input_file_open(path, &source.journal));
    keel_status_t status = keel_journal_scan(&source, NULL, visit, context, out_damage);
    keel_journal_source_close(&source);
    return status;
}
