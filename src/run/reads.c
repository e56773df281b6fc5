#include "run/reads.h"

#include <inttypes.h>
#include <stdlib.h>

#include "host/host.h"
#include "run/steps.h"

// A piece: one program at one line of one process, as the journal reported it last.
typedef struct keel_reads_piece_t {
    size_t line;
    uint64_t forced, sampled, shared, pieces;
    const char *program;
} piece_t;

typedef keel_reads_reading_t reading_t;

static void add_moved(keel_moved_t *sum, const json_t *object, bool is_untimed) {
    sum->count += keel_event_count(object, "count");
    sum->bytes += keel_event_count(object, "bytes");
    if (is_untimed && object) sum->is_untimed = true;
    if (!is_untimed) sum->seconds += keel_event_number(object, "seconds");
}

static keel_status_t describe_line(const reading_t *reading, const json_t *site,
                                   keel_reads_line_t *out) {
    keel_texts_t *texts = reading->texts;
    *out = (keel_reads_line_t){.line = keel_event_line(site, "line"),
                               .call_line = keel_event_line(site, "call_line"),
                               .library_line = keel_event_line(site, "library_line"),
                               .program = "",
                               .name = ""};
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(site, "file"), &out->file));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(site, "function"), &out->function));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(site, "call_file"), &out->call_file));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(site, "library_file"), &out->library_file));
    KEEL_TRY(keel_event_place(texts, out->library_file, out->library_line, reading->folder,
                              &out->library_shown));
    KEEL_TRY(keel_event_place(texts, out->file, out->line, reading->folder, &out->shown));
    return keel_event_place(texts, out->call_file, out->call_line, reading->folder,
                            &out->call_shown);
}

static keel_status_t line_at(reading_t *reading, const json_t *site, size_t *out) {
    keel_buffer_t key;
    keel_buffer_initialize(&key, 0);
    keel_buffer_format(&key, "%u ", keel_event_line(site, "line"));
    keel_buffer_text(&key, keel_event_text(site, "file"));
    keel_status_t status = keel_buffer_status(&key);
    const uint64_t *known =
        status ? NULL : keel_map_find(&reading->by_line, keel_buffer_bytes(&key));
    keel_reads_t *reads = reading->out;
    void *grown = reads->lines;
    *out = known ? (size_t)*known : reads->count;
    if (!status && !known)
        status = keel_realloc_array(reads->count + 1, sizeof *reads->lines, &grown);
    reads->lines = grown;
    if (!status && !known) status = describe_line(reading, site, &reads->lines[reads->count]);
    if (!status && !known)
        status = keel_map_put(&reading->by_line, keel_buffer_bytes(&key), reads->count++);
    keel_buffer_deinitialize(&key);
    return status;
}

static keel_status_t add_piece(reading_t *reading, const json_t *event, const json_t *object) {
    size_t line;
    KEEL_TRY(line_at(reading, json_object_get(object, "site"), &line));
    keel_buffer_t key;
    keel_buffer_initialize(&key, 0);
    keel_buffer_format(&key, "%zu %" JSON_INTEGER_FORMAT " ", line,
                       json_integer_value(json_object_get(event, "pid")));
    keel_buffer_text(&key, keel_event_text(object, "program"));
    keel_status_t status = keel_buffer_status(&key);
    const uint64_t *known =
        status ? NULL : keel_map_find(&reading->by_piece, keel_buffer_bytes(&key));
    size_t at = known ? (size_t)*known : reading->piece_count;
    void *grown = reading->pieces;
    if (!status && !known) status = keel_realloc_array(at + 1, sizeof *reading->pieces, &grown);
    reading->pieces = grown;
    if (!status && !known) {
        piece_t *fresh = &reading->pieces[at];
        *fresh = (piece_t){.line = line};
        status = keel_event_keep_field(reading->texts, object, "program", &fresh->program);
    }
    if (!status && !known) {
        status = keel_map_put(&reading->by_piece, keel_buffer_bytes(&key), reading->piece_count++);
    }
    keel_buffer_deinitialize(&key);
    if (status) return status;
    piece_t *piece = &reading->pieces[at];
    piece->forced += keel_event_count(object, "forced");
    piece->sampled = keel_event_count(object, "sampled");
    piece->shared = keel_event_count(object, "shared");
    piece->pieces = keel_event_count(object, "pieces");
    return NULL;
}

static keel_status_t add_event(reading_t *reading, const json_t *event) {
    keel_reads_t *reads = reading->out;
    size_t index, line;
    const json_t *object;
    bool is_untimed =
        keel_steps_is_rehearsed(reading->steps, json_integer_value(json_object_get(event, "pid")));
    add_moved(&reads->to_device, json_object_get(event, "to_device"), is_untimed);
    add_moved(&reads->from_device, json_object_get(event, "from_device"), is_untimed);
    reads->cut_steps += keel_event_count(event, "cut_steps");
    reads->cut_pieces += keel_event_count(event, "cut_pieces");
    json_array_foreach(json_object_get(event, "reads"), index, object) {
        KEEL_TRY(line_at(reading, json_object_get(object, "site"), &line));
        add_moved(&reads->lines[line].moved, object, is_untimed);
    }
    json_array_foreach(json_object_get(event, "pieces"), index, object)
        KEEL_TRY(add_piece(reading, event, object));
    return NULL;
}

static keel_status_t judge_piece(const reading_t *reading, const piece_t *piece) {
    keel_reads_line_t *line = &reading->out->lines[piece->line];
    bool is_cut = piece->shared && piece->shared >= piece->sampled - piece->shared;
    if (!is_cut) {
        line->others += piece->forced;
        return NULL;
    }
    line->cuts += piece->forced;
    // The first events of a piece may come before the end of its first step.
    uint64_t pieces = piece->pieces > 2 ? piece->pieces : 2;
    if (pieces > line->pieces) line->pieces = pieces;
    if (*line->program) return NULL;
    const char *name = keel_steps_name(reading->steps, piece->program);
    KEEL_TRY(keel_texts_keep(reading->texts, name, &line->name));
    return keel_texts_keep(reading->texts, piece->program, &line->program);
}

enum { LEAST = 3 };

// Reads at one line, each of a larger program than the one before. With so few steps, one read
// followed by another is enough.
static bool program_grows(const reading_t *reading) {
    uint64_t count = 0, most = 0;
    for (size_t i = 0; i < reading->steps->program_count; ++i) {
        const keel_steps_program_t *program = &reading->steps->programs[i];
        if (!program->executes) continue;
        if (program->ops <= most) return false;
        most = program->ops;
        ++count;
    }
    for (size_t i = 1; i < reading->piece_count; ++i)
        if (reading->pieces[i].line != reading->pieces[0].line) return false;
    return count >= LEAST;
}

// A single read may come at the end of a process's work; if every read does, a growing step never
// ends.
static void find_endless(const reading_t *reading) {
    keel_reads_t *reads = reading->out;
    uint64_t executions = 0, forced = 0, cuts = reads->cuts;
    for (size_t i = 0; i < reading->steps->program_count; ++i)
        executions += reading->steps->programs[i].executes;
    for (size_t i = 0; i < reading->piece_count; ++i)
        forced += reading->pieces[i].forced;
    bool most = cuts >= LEAST && cuts * 2 > executions;
    reads->endless = cuts && forced >= executions && (most || program_grows(reading));
    for (size_t i = 0; i < reads->count; ++i)
        reads->lines[i].endless = reads->endless;
}

// Lines and the total are counted at different moments: the lines never add up to more.
static void find_elsewhere(keel_reads_t *reads) {
    keel_moved_t *rest = &reads->elsewhere;
    *rest = reads->from_device;
    for (size_t i = 0; i < reads->count; ++i) {
        const keel_moved_t *own = &reads->lines[i].moved;
        rest->count -= own->count < rest->count ? own->count : rest->count;
        rest->bytes -= own->bytes < rest->bytes ? own->bytes : rest->bytes;
        rest->seconds -= own->seconds < rest->seconds ? own->seconds : rest->seconds;
    }
    if (!rest->count) *rest = (keel_moved_t){0};
}

static int by_weight(const void *a, const void *b) {
    const keel_reads_line_t *x = a, *y = b;
    if (!x->cuts != !y->cuts) return x->cuts ? -1 : 1;
    if (x->cuts != y->cuts) return x->cuts < y->cuts ? 1 : -1;
    if (x->moved.count != y->moved.count) return x->moved.count < y->moved.count ? 1 : -1;
    int order = strcmp(x->file, y->file);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

void keel_reads_begin(keel_reads_reading_t *reading, const keel_steps_t *steps, keel_texts_t *texts,
                      keel_reads_t *out) {
    *reading = (keel_reads_reading_t){.steps = steps, .folder = "", .texts = texts, .out = out};
    *out = (keel_reads_t){0};
    keel_map_initialize(&reading->by_line);
    keel_map_initialize(&reading->by_piece);
}

keel_status_t keel_reads_add(keel_reads_reading_t *reading, const json_t *event,
                             const char *folder) {
    if (strcmp(keel_event_text(event, "event"), "transfers") != 0) return NULL;
    reading->folder = folder;
    return add_event(reading, event);
}

keel_status_t keel_reads_settle(keel_reads_reading_t *reading) {
    keel_reads_t *reads = reading->out;
    for (size_t i = 0; i < reading->piece_count; ++i)
        KEEL_TRY(judge_piece(reading, &reading->pieces[i]));
    for (size_t i = 0; i < reads->count; ++i)
        reads->cuts += reads->lines[i].cuts;
    find_endless(reading);
    find_elsewhere(reads);
    if (reads->count) qsort(reads->lines, reads->count, sizeof *reads->lines, by_weight);
    while (reads->cut_count < reads->count && reads->lines[reads->cut_count].cuts)
        ++reads->cut_count;
    return NULL;
}

void keel_reads_end(keel_reads_reading_t *reading) {
    keel_map_deinitialize(&reading->by_line);
    keel_map_deinitialize(&reading->by_piece);
    keel_free(reading->pieces);
}

void keel_reads_deinitialize(keel_reads_t *reads) {
    keel_free(reads->lines);
    *reads = (keel_reads_t){0};
}
