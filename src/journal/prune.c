#define _GNU_SOURCE // memrchr
#include "journal/prune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "journal/journal.h"

#define SECOND ((uint64_t)1000000000)
#define DAY (24 * 3600 * SECOND)
#define WEEK (7 * DAY)

typedef struct old_run_t {
    char *id;
    uint64_t wrote; // nanoseconds since 1970
    bool has_journal, is_removed;
} old_run_t;

typedef struct pruning_t {
    const char *run_dir;
    const keel_prune_t *how;
    keel_pruned_t *out;
    uint64_t now;
    old_run_t *runs;
    size_t count, capacity;
    keel_map_t named; // digests in any line of the remaining runs
    bool any_goes_on;
} pruning_t;

static void report_fate(const pruning_t *pruning, keel_prune_fate_t fate, const char *what,
                        uint64_t bytes, const char *why) {
    if (fate == KEEL_PRUNE_FAILED) ++pruning->out->failures;
    if (pruning->how->tell) pruning->how->tell(pruning->how->context, fate, what, bytes, why);
}

// Takes the status. The caller reports a lack of memory.
static keel_status_t tell_failure(const pruning_t *pruning, const char *what,
                                  keel_status_t status) {
    if (!status || keel_status_code(status) == KEEL_NO_MEMORY) return status;
    report_fate(pruning, KEEL_PRUNE_FAILED, what, 0, keel_status_message(status));
    keel_status_ignore(status);
    return NULL;
}

// ---- the runs there are ------------------------------------------------------------------------

static keel_status_t add_run(pruning_t *pruning, const char *id, bool has_journal, uint64_t wrote) {
    void *grown = pruning->runs;
    KEEL_TRY(keel_grow_array(pruning->count, sizeof *pruning->runs, &pruning->capacity, &grown));
    pruning->runs = grown;
    old_run_t *run = &pruning->runs[pruning->count];
    *run = (old_run_t){.wrote = wrote, .has_journal = has_journal};
    KEEL_TRY(keel_strdup(keel_str(id), &run->id));
    ++pruning->count;
    return NULL;
}

static keel_status_t look_at_run(void *context, const char *id) {
    pruning_t *pruning = context;
    char *folder, *journal = NULL;
    keel_file_facts_t facts, written;
    if (!keel_journal_is_id(id)) return NULL;
    KEEL_TRY(keel_path(&folder, "%s/%s", pruning->run_dir, id));
    keel_status_t status = keel_journal_path(pruning->run_dir, id, &journal);
    bool is_folder = !status && !keel_is_link(folder) && keel_is_folder(folder);
    if (is_folder) {
        keel_status_t looked = keel_file_facts(journal, &written);
        bool has_journal = !looked && written.is_file;
        keel_status_ignore(looked);
        looked = has_journal ? NULL : keel_file_facts(folder, &facts);
        if (!looked)
            status =
                add_run(pruning, id, has_journal, has_journal ? written.modified : facts.modified);
        keel_status_ignore(looked);
    }
    keel_free(folder);
    keel_free(journal);
    return status;
}

static int by_age(const void *left, const void *right) {
    const old_run_t *a = left, *b = right;
    if (a->wrote != b->wrote) return a->wrote < b->wrote ? -1 : 1;
    return strcmp(a->id, b->id);
}

// ---- lines -------------------------------------------------------------------------------------

// Calls `visit` for each line of a file, in pieces, whatever its size; a line longer than a piece
// is visited once per piece, and its pieces overlap by a few bytes. A missing file has no lines.
static keel_status_t
each_line(const char *path, keel_status_t (*visit)(void *context, keel_str_t line), void *context) {
    enum { PIECE = 1 << 24, SHARED = 128 };
    uint64_t offset = 0;
    for (;;) {
        uint8_t *data;
        size_t size;
        keel_status_t status = keel_file_read_from(path, offset, PIECE, &data, &size);
        if (keel_status_code(status) == KEEL_NOT_FOUND) {
            keel_status_ignore(status);
            return NULL;
        }
        KEEL_TRY(status);
        const uint8_t *last = size == PIECE ? memrchr(data, '\n', size) : NULL;
        size_t whole = last ? (size_t)(last - data) + 1 : size, next = whole;
        if (size == PIECE && !last) next = size - SHARED;
        for (size_t at = 0; at < whole && !status;) {
            const uint8_t *end = memchr(data + at, '\n', whole - at);
            size_t length = end ? (size_t)(end - data) - at : whole - at;
            status = visit(context, (keel_str_t){(const char *)data + at, length});
            at += length + 1;
        }
        keel_free(data);
        KEEL_TRY(status);
        offset += next;
        if (size < PIECE) return NULL;
    }
}

// ---- is it live --------------------------------------------------------------------------------

typedef struct living_t {
    keel_map_t open; // pid -> 1: it began and has not ended; 2: and runs, or this is unknown
    bool runs, unknown;
} living_t;

static keel_status_t meet_process(void *context, keel_str_t line) {
    living_t *living = context;
    static const char *const kinds[] = {"start", "end", NULL};
    if (!keel_journal_is_event(line, kinds)) return NULL;
    json_t *event = keel_journal_event(line);
    if (!event) return NULL;
    json_int_t pid = json_integer_value(json_object_get(event, "pid"));
    uint64_t state = 0; // of one that ended
    if (strcmp(keel_event_text(event, "event"), "start") == 0)
        state = 1 + (uint64_t)keel_process_state(keel_str(keel_event_text(event, "process")));
    json_decref(event);
    return keel_map_put(&living->open, keel_bytes(&pid, sizeof pid), state);
}

static void sum_up(living_t *living) {
    const keel_map_slot_t *slot = NULL;
    while ((slot = keel_map_next(&living->open, slot))) {
        if (!slot->value) continue;
        keel_process_state_t state = (keel_process_state_t)(slot->value - 1);
        living->runs |= state == KEEL_PROCESS_RUNS || state == KEEL_PROCESS_STOPPED;
        living->unknown |= state == KEEL_PROCESS_UNKNOWN;
    }
}

static keel_status_t goes_on(const pruning_t *pruning, const old_run_t *run, bool *out) {
    *out = false;
    // Its first line may be about to be written.
    if (!run->has_journal) {
        *out = pruning->now < run->wrote + DAY;
        return NULL;
    }
    char *path;
    living_t living = {.runs = false};
    KEEL_TRY(keel_journal_path(pruning->run_dir, run->id, &path));
    keel_map_initialize(&living.open);
    keel_status_t status = each_line(path, meet_process, &living);
    sum_up(&living);
    keel_map_deinitialize(&living.open);
    keel_free(path);
    *out = living.runs || (living.unknown && pruning->now < run->wrote + WEEK);
    return status;
}

// ---- removing a run ----------------------------------------------------------------------------

typedef struct folder_t {
    const char *path;
    uint64_t bytes;
    bool removes;
    bool is_last;     // the journal comes last: without it, the folder is not a run any more
    char foreign[64]; // a file that Keel did not write; "" if there is none
} folder_t;

// Hidden ones are temporary files of killed processes.
static bool is_ours(const char *name) {
    static const char *const names[] = {"journal.ndjson", "explained.ndjson", "sources.tsv",
                                        KEEL_JOURNAL_FIGURES, KEEL_JOURNAL_LOST_FOLDER};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (strcmp(name, names[i]) == 0) return true;
    return name[0] == '.' || strncmp(name, "metrics.", 8) == 0;
}

static keel_status_t meet_file(void *context, const char *name) {
    folder_t *folder = context;
    char *path;
    keel_file_facts_t facts;
    if (!is_ours(name)) snprintf(folder->foreign, sizeof folder->foreign, "%s", name);
    if (!is_ours(name) || (strcmp(name, "journal.ndjson") == 0) != folder->is_last) return NULL;
    KEEL_TRY(keel_path(&path, "%s/%s", folder->path, name));
    keel_status_t status = keel_file_facts(path, &facts);
    bool is_file = !status && facts.is_file;
    keel_status_ignore(status);
    status = NULL;
    if (is_file && !keel_is_link(path)) folder->bytes += facts.on_disk;
    bool is_mark = strcmp(name, KEEL_JOURNAL_LOST_FOLDER) == 0;
    if (folder->removes) status = is_mark ? keel_directory_remove(path) : keel_file_remove(path);
    keel_free(path);
    return status;
}

static keel_status_t walk_folder(folder_t *folder) {
    folder->bytes = 0;
    folder->is_last = false;
    KEEL_TRY(keel_directory_walk(folder->path, meet_file, folder));
    folder->is_last = true;
    return keel_directory_walk(folder->path, meet_file, folder);
}

static keel_status_t remove_folder(folder_t *folder) {
    KEEL_TRY(walk_folder(folder));
    if (*folder->foreign)
        return keel_status_make(KEEL_REFUSED, "%s holds %s, which Keel did not write; move it away",
                                folder->path, folder->foreign);
    folder->removes = true;
    KEEL_TRY(walk_folder(folder));
    return keel_directory_remove(folder->path);
}

uint64_t keel_journal_run_bytes(const char *run_dir, const char *id) {
    char *path;
    folder_t folder = {.bytes = 0};
    keel_status_t status = keel_path(&path, "%s/%s", run_dir, id);
    if (!status) {
        folder.path = path;
        status = walk_folder(&folder);
        keel_free(path);
    }
    keel_status_ignore(status);
    return folder.bytes;
}

static keel_status_t remove_run(pruning_t *pruning, old_run_t *run) {
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", pruning->run_dir, run->id));
    folder_t folder = {.path = path};
    keel_status_t status = pruning->how->dry_run ? walk_folder(&folder) : remove_folder(&folder);
    keel_free(path);
    if (status) return tell_failure(pruning, run->id, status);
    run->is_removed = true;
    ++pruning->out->runs;
    pruning->out->run_bytes += folder.bytes;
    report_fate(pruning, KEEL_PRUNE_REMOVED, run->id, folder.bytes, NULL);
    return NULL;
}

static bool is_old(const pruning_t *pruning, uint64_t when) {
    uint64_t age = pruning->now > when ? (pruning->now - when) / SECOND : 0;
    return age >= pruning->how->older;
}

static keel_status_t remove_old(pruning_t *pruning) {
    for (size_t i = 0; i < pruning->count; ++i) {
        old_run_t *run = &pruning->runs[i];
        if (pruning->count - i <= pruning->how->keep || !is_old(pruning, run->wrote)) continue;
        bool living;
        keel_status_t status = goes_on(pruning, run, &living);
        if (status) {
            KEEL_TRY(tell_failure(pruning, run->id, status));
        } else if (living) {
            pruning->any_goes_on = true;
            report_fate(pruning, KEEL_PRUNE_GOES_ON, run->id, 0, NULL);
        } else {
            KEEL_TRY(remove_run(pruning, run));
        }
    }
    return NULL;
}

// ---- what nothing names any more ---------------------------------------------------------------

// Every digest counts, in any field, even of an event that this Keel does not know.
static keel_status_t note_digests(void *context, keel_str_t line) {
    enum { LENGTH = KEEL_DIGEST_HEX - 1 };
    keel_map_t *named = context;
    size_t run = 0;
    for (size_t i = 0; i <= line.size; ++i) {
        unsigned char c = i < line.size ? (unsigned char)line.data[i] : 0;
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) {
            ++run;
            continue;
        }
        keel_digest_t digest;
        if (run == LENGTH &&
            keel_digest_unhex((keel_str_t){line.data + i - LENGTH, LENGTH}, &digest))
            KEEL_TRY(keel_map_put(named, keel_bytes(digest.bytes, KEEL_DIGEST_SIZE), 1));
        run = 0;
    }
    return NULL;
}

static keel_status_t note_run(pruning_t *pruning, const old_run_t *run) {
    static const char *const names[] = {"journal.ndjson", "explained.ndjson", "sources.tsv",
                                        KEEL_JOURNAL_LOST_FOLDER};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        char *path;
        KEEL_TRY(keel_path(&path, "%s/%s/%s", pruning->run_dir, run->id, names[i]));
        keel_status_t status = each_line(path, note_digests, &pruning->named);
        keel_free(path);
        KEEL_TRY(status);
    }
    if (pruning->any_goes_on) return NULL;
    return goes_on(pruning, run, &pruning->any_goes_on);
}

typedef struct sweep_t {
    pruning_t *pruning;
    const char *folder;
    bool is_history;
} sweep_t;

// Either no run names it and none is about to, or a killed process left it unfinished.
static bool is_left_over(const sweep_t *sweep, const char *name, const keel_file_facts_t *facts) {
    const pruning_t *pruning = sweep->pruning;
    keel_digest_t digest;
    bool is_new = facts->modified + DAY > pruning->now;
    if (!facts->is_file) return false;
    if (name[0] == '.') return !is_new;
    if (sweep->is_history) return pruning->how->older && is_old(pruning, facts->modified);
    size_t length = strcspn(name, ".");
    if (!keel_digest_unhex((keel_str_t){name, length}, &digest)) return false;
    if (facts->modified >= pruning->now || (is_new && pruning->any_goes_on)) return false;
    return !keel_map_find(&pruning->named, keel_bytes(digest.bytes, KEEL_DIGEST_SIZE));
}

static keel_status_t sweep_file(void *context, const char *name) {
    const sweep_t *sweep = context;
    pruning_t *pruning = sweep->pruning;
    keel_file_facts_t facts;
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s/%s", pruning->run_dir, sweep->folder, name));
    keel_status_t status = keel_is_link(path) ? NULL : keel_file_facts(path, &facts);
    bool goes = !status && !keel_is_link(path) && is_left_over(sweep, name, &facts);
    keel_status_ignore(status);
    status = goes && !pruning->how->dry_run ? keel_file_remove(path) : NULL;
    if (goes && !status) {
        ++pruning->out->files;
        pruning->out->file_bytes += facts.on_disk;
    }
    status = tell_failure(pruning, path, status);
    keel_free(path);
    return status;
}

static keel_status_t sweep(pruning_t *pruning) {
    static const char *const folders[] = {"programs", "sources", "history"};
    for (size_t i = 0; i < pruning->count; ++i) {
        keel_status_t status =
            pruning->runs[i].is_removed ? NULL : note_run(pruning, &pruning->runs[i]);
        // What it names is unknown, so nothing may go.
        if (status) return tell_failure(pruning, pruning->runs[i].id, status);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        char *path;
        sweep_t sweep = {pruning, folders[i], i == 2};
        KEEL_TRY(keel_path(&path, "%s/%s", pruning->run_dir, folders[i]));
        keel_status_t status =
            keel_is_link(path) ? NULL : keel_directory_walk(path, sweep_file, &sweep);
        status = tell_failure(pruning, path, status);
        keel_free(path);
        KEEL_TRY(status);
    }
    return NULL;
}

// ---- together ----------------------------------------------------------------------------------

static keel_status_t prune(pruning_t *pruning) {
    KEEL_TRY(keel_directory_walk(pruning->run_dir, look_at_run, pruning));
    if (pruning->count) qsort(pruning->runs, pruning->count, sizeof *pruning->runs, by_age);
    KEEL_TRY(remove_old(pruning));
    return pruning->out->runs || pruning->how->thorough ? sweep(pruning) : NULL;
}

keel_status_t keel_journal_prune(const char *run_dir, const keel_prune_t *how, keel_pruned_t *out) {
    pruning_t pruning = {.run_dir = run_dir, .how = how, .out = out, .now = keel_clock_wall()};
    *out = (keel_pruned_t){0};
    keel_map_initialize(&pruning.named);
    keel_status_t status = prune(&pruning);
    for (size_t i = 0; i < pruning.count; ++i)
        keel_free(pruning.runs[i].id);
    keel_free(pruning.runs);
    keel_map_deinitialize(&pruning.named);
    return status;
}
