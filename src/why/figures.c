#include "why/figures.h"

#include <stddef.h>

#include <jansson.h>

#include "journal/prune.h"

// Raised by every change of what the file has, or of how a figure is made.
enum { FORMAT = 3, FILE_LIMIT = 1 << 20, DECIMALS = 9 };

// ---- the figures -------------------------------------------------------------------------------

typedef enum kind_t { TEXT, COUNT, SIZE, REAL, TOOK, MOVED } kind_t;

// kind, name, member of keel_why_t
#define FIGURES(X)                                                                                 \
    X(TEXT, "command", run.command)                                                                \
    X(TEXT, "argv", run.argv)                                                                      \
    X(TEXT, "cwd", run.cwd)                                                                        \
    X(TEXT, "host", run.host)                                                                      \
    X(TEXT, "mode", run.mode)                                                                      \
    X(TEXT, "target", run.rehearsal.target.name)                                                   \
    X(REAL, "started", run.started)                                                                \
    X(REAL, "wall_seconds", run.wall_seconds)                                                      \
    X(COUNT, "processes", run.processes)                                                           \
    X(COUNT, "unfinished", run.unfinished)                                                         \
    X(SIZE, "programs", run.program_count)                                                         \
    X(TOOK, "compiles", run.compiles)                                                              \
    X(TOOK, "loads", run.loads)                                                                    \
    X(COUNT, "compiled", run.fates[KEEL_RUN_COMPILED])                                             \
    X(COUNT, "refused", run.fates[KEEL_RUN_REFUSED])                                               \
    X(COUNT, "pending", run.fates[KEEL_RUN_PENDING])                                               \
    X(COUNT, "skipped", run.fates[KEEL_RUN_SKIPPED])                                               \
    X(TOOK, "partitioned", run.partitioned)                                                        \
    X(COUNT, "memory_hits", run.memory_hits)                                                       \
    X(COUNT, "remote_hits", run.remote_hits)                                                       \
    X(COUNT, "ahead_loads", run.ahead_loads)                                                       \
    X(COUNT, "unused_loads", run.unused_loads)                                                     \
    X(REAL, "ahead_seconds", run.ahead_seconds)                                                    \
    X(REAL, "overhead_seconds", run.overhead_seconds)                                              \
    X(REAL, "load_overhead_seconds", run.load_overhead_seconds)                                    \
    X(REAL, "spared_seconds", run.spared_seconds)                                                  \
    X(COUNT, "misses", run.misses)                                                                 \
    X(COUNT, "uncacheable", run.uncacheable)                                                       \
    X(COUNT, "publishes", run.publishes)                                                           \
    X(COUNT, "executes", run.executes)                                                             \
    X(COUNT, "steps", run.steps)                                                                   \
    X(COUNT, "settled_at_step", run.settled_at_step)                                               \
    X(COUNT, "summed", run.summed)                                                                 \
    X(SIZE, "recompile_count", summary.recompile_count)                                            \
    X(TOOK, "recompiles", summary.again)                                                           \
    X(TOOK, "known", summary.known)                                                                \
    X(TOOK, "retraces", retraces)                                                                  \
    X(MOVED, "to_device", run.reads.to_device)                                                     \
    X(MOVED, "from_device", run.reads.from_device)                                                 \
    X(COUNT, "cuts", run.reads.cuts)                                                               \
    X(COUNT, "cut_steps", run.reads.cut_steps)                                                     \
    X(COUNT, "cut_pieces", run.reads.cut_pieces)                                                   \
    X(COUNT, "store_errors", run.store_errors)                                                     \
    X(COUNT, "fallbacks", run.fallbacks)

typedef struct figure_t {
    kind_t kind;
    const char *name;
    size_t offset;
} figure_t;

static const figure_t figures[] = {
#define FIGURE(kind, name, member) {kind, name, offsetof(keel_why_t, member)},
    FIGURES(FIGURE)
#undef FIGURE
};
enum { FIGURE_COUNT = sizeof figures / sizeof *figures };

static void put_took(keel_json_t *json, const char *name, const keel_took_t *took) {
    keel_json_object(json, name);
    keel_json_unsigned(json, "times", took->times);
    keel_json_unsigned(json, "unknown", took->unknown);
    keel_json_double(json, "seconds", took->seconds, DECIMALS);
    keel_json_end_object(json);
}

static void put_moved(keel_json_t *json, const char *name, const keel_moved_t *moved) {
    keel_json_object(json, name);
    keel_json_unsigned(json, "count", moved->count);
    keel_json_unsigned(json, "bytes", moved->bytes);
    keel_json_double(json, "seconds", moved->seconds, DECIMALS);
    keel_json_bool(json, "untimed", moved->is_untimed);
    keel_json_end_object(json);
}

static void put_figure(keel_json_t *json, const figure_t *figure, const void *at) {
    switch (figure->kind) {
        case TEXT:
            keel_json_string(json, figure->name, *(const char *const *)at);
            break;
        case COUNT:
            keel_json_unsigned(json, figure->name, *(const uint64_t *)at);
            break;
        case SIZE:
            keel_json_unsigned(json, figure->name, *(const size_t *)at);
            break;
        case REAL:
            keel_json_double(json, figure->name, *(const double *)at, DECIMALS);
            break;
        case TOOK:
            put_took(json, figure->name, at);
            break;
        case MOVED:
            put_moved(json, figure->name, at);
            break;
    }
}

static keel_status_t take_figure(const json_t *from, const figure_t *figure, keel_texts_t *texts,
                                 void *at) {
    const json_t *object = json_object_get(from, figure->name);
    switch (figure->kind) {
        case TEXT:
            return keel_texts_keep(texts, keel_event_text(from, figure->name), (const char **)at);
        case COUNT:
            *(uint64_t *)at = keel_event_count(from, figure->name);
            break;
        case SIZE:
            *(size_t *)at = (size_t)keel_event_count(from, figure->name);
            break;
        case REAL:
            *(double *)at = keel_event_number(from, figure->name);
            break;
        case TOOK:
            *(keel_took_t *)at = (keel_took_t){.times = keel_event_count(object, "times"),
                                               .unknown = keel_event_count(object, "unknown"),
                                               .seconds = keel_event_number(object, "seconds")};
            break;
        case MOVED:
            *(keel_moved_t *)at =
                (keel_moved_t){.count = keel_event_count(object, "count"),
                               .bytes = keel_event_count(object, "bytes"),
                               .seconds = keel_event_number(object, "seconds"),
                               .is_untimed = json_is_true(json_object_get(object, "untimed"))};
            break;
    }
    return NULL;
}

// ---- what they were made from ------------------------------------------------------------------

// Zeros: there is no such file.
typedef struct made_from_t {
    uint64_t bytes, modified;
} made_from_t;

static const struct {
    const char *name;
    keel_status_t (*path)(const char *run_dir, const char *id, char **out);
} sources[] = {{"journal", keel_journal_path}, {"explained", keel_journal_explained_path}};

static made_from_t look_at(const char *run_dir, const char *id, int source) {
    char *path;
    keel_file_facts_t facts;
    made_from_t from = {0};
    keel_status_t status = sources[source].path(run_dir, id, &path);
    if (!status) {
        status = keel_file_facts(path, &facts);
        keel_free(path);
    }
    if (!status) from = (made_from_t){facts.size, facts.modified};
    keel_status_ignore(status);
    return from;
}

// ---- writing -----------------------------------------------------------------------------------

static void write_figures(const keel_why_t *why, const made_from_t from[2], keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_COMPACT);
    keel_json_object(&json, NULL);
    keel_json_string(&json, "event", "figures");
    keel_json_unsigned(&json, "format", FORMAT);
    keel_json_string(&json, "keel", KEEL_VERSION);
    for (int i = 0; i < 2; ++i) {
        keel_json_object(&json, sources[i].name);
        keel_json_unsigned(&json, "bytes", from[i].bytes);
        keel_json_unsigned(&json, "modified", from[i].modified);
        keel_json_end_object(&json);
    }
    for (size_t i = 0; i < FIGURE_COUNT; ++i)
        put_figure(&json, &figures[i], (const char *)why + figures[i].offset);
    keel_json_end_object(&json);
}

// No fsync: the digest reveals what a power cut damaged.
static keel_status_t write_file(const char *path, const keel_buffer_t *line) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_t digest = keel_digest(keel_buffer_bytes(line));
    keel_draft_t draft;
    KEEL_TRY(keel_buffer_status(line));
    keel_digest_hex(&digest, hex);
    KEEL_TRY(keel_draft_open(path, &draft));
    draft.may_be_lost = true;
    keel_status_t status = keel_draft_write(&draft, keel_str_bytes(keel_str(hex)));
    if (!status) status = keel_draft_write(&draft, keel_bytes("\n", 1));
    if (!status) status = keel_draft_write(&draft, keel_buffer_bytes(line));
    if (!status) status = keel_draft_write(&draft, keel_bytes("\n", 1));
    if (!status) return keel_draft_publish(&draft, path);
    keel_draft_discard(&draft);
    return status;
}

void keel_figures_leave(const keel_why_t *why, const char *run_dir) {
    const keel_run_t *run = &why->run;
    const keel_journal_source_t *source = &run->source;
    made_from_t from[2];
    char *path;
    keel_buffer_t line;
    for (int i = 0; i < 2; ++i)
        from[i] = look_at(run_dir, run->id, i);
    uint64_t explained = source->is_explained ? source->explained.size : 0;
    if (run->damage.lines || !source->is_open || from[0].bytes != source->journal.size ||
        from[1].bytes != explained)
        return;
    keel_status_t status = keel_path(&path, "%s/%s/" KEEL_JOURNAL_FIGURES, run_dir, run->id);
    if (!status) {
        keel_buffer_initialize(&line, 0);
        write_figures(why, from, &line);
        status = write_file(path, &line);
        keel_buffer_deinitialize(&line);
        keel_free(path);
    }
    keel_status_ignore(status); // then the journal is read the next time, too
}

// ---- reading -----------------------------------------------------------------------------------

static keel_status_t refuse(const char *id, const char *why) {
    return keel_status_make(KEEL_NOT_FOUND, "the figures of run %s are %s", id, why);
}

static bool is_current(const json_t *line, const char *run_dir, const char *id) {
    for (int i = 0; i < 2; ++i) {
        const json_t *object = json_object_get(line, sources[i].name);
        made_from_t is = look_at(run_dir, id, i);
        if (keel_event_count(object, "bytes") != is.bytes ||
            keel_event_count(object, "modified") != is.modified)
            return false;
    }
    return keel_event_count(line, "format") == FORMAT &&
           strcmp(keel_event_text(line, "keel"), KEEL_VERSION) == 0;
}

static keel_status_t take_line(const char *run_dir, const char *id, const json_t *line,
                               keel_why_t *out) {
    if (!is_current(line, run_dir, id)) return refuse(id, "older than its journal");
    KEEL_TRY(keel_texts_keep(&out->run.texts, id, &out->run.id));
    KEEL_TRY(keel_journal_path(run_dir, id, &out->run.path));
    for (size_t i = 0; i < FIGURE_COUNT; ++i)
        KEEL_TRY(take_figure(line, &figures[i], &out->run.texts, (char *)out + figures[i].offset));
    out->run.journal_bytes = keel_journal_run_bytes(run_dir, id);
    return NULL;
}

static keel_status_t take_file(const char *run_dir, const char *id, keel_str_t text,
                               keel_why_t *out) {
    enum { HEX = KEEL_DIGEST_HEX - 1 };
    keel_digest_t named, is;
    if (text.size < HEX + 2 || text.data[HEX] != '\n' || text.data[text.size - 1] != '\n' ||
        !keel_digest_unhex((keel_str_t){text.data, HEX}, &named))
        return refuse(id, "damaged");
    keel_str_t rest = {text.data + HEX + 1, text.size - HEX - 2};
    is = keel_digest(keel_str_bytes(rest));
    json_t *line = keel_digest_equal(&named, &is) ? keel_journal_event(rest) : NULL;
    keel_status_t status = line ? take_line(run_dir, id, line, out) : refuse(id, "damaged");
    json_decref(line);
    return status;
}

keel_status_t keel_figures_read(const char *run_dir, const char *id, keel_why_t *out) {
    char *path;
    uint8_t *data;
    size_t size;
    keel_file_facts_t facts;
    KEEL_TRY(keel_path(&path, "%s/%s/" KEEL_JOURNAL_FIGURES, run_dir, id));
    keel_status_t status = keel_file_read_with_facts(path, FILE_LIMIT, &data, &size, &facts);
    keel_free(path);
    if (status) {
        if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
        keel_status_ignore(status);
        return refuse(id, "not there");
    }
    *out = (keel_why_t){0};
    keel_run_initialize(&out->run);
    keel_texts_initialize(&out->texts);
    status = take_file(run_dir, id, keel_bytes_str(keel_bytes(data, size)), out);
    keel_free(data);
    if (status) keel_why_deinitialize(out);
    return status;
}
