#define _GNU_SOURCE // memrchr
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json_cost.h"
#include "base/pack.h"
#include "journal/journal.h"

// Journals are read, not mapped: a file that shrinks under a mapping kills its reader.
#define JOURNAL_LIMIT ((uint64_t)4 << 30)
#define PROGRAM_LIMIT ((uint64_t)2 << 30) // as the file has it

// ---- events ------------------------------------------------------------------------------------

static void blame(keel_journal_damage_t *damage, uint64_t number, const char *why) {
    if (damage->lines++) return;
    damage->first_line = number;
    snprintf(damage->why, sizeof damage->why, "%s", why);
}

static uint64_t memory_for(uint64_t size) {
    return keel_limit_for(KEEL_LIMIT_EVENTS_LEAST, KEEL_LIMIT_EVENTS_RATIO, size);
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

static keel_status_t too_much(uint64_t size) {
    char most[16], shown[16];
    keel_format_size(memory_for(size), most);
    keel_format_size(size, shown);
    return keel_status_make(KEEL_CORRUPT,
                            "the events of this journal of %s would take more than %s of memory, "
                            "so Keel did not write it; copy the run again from its source",
                            shown, most);
}

static keel_status_t parse_lines(keel_bytes_t bytes, const keel_journal_needless_t *needless,
                                 keel_buffer_t scratch[2],
                                 keel_status_t (*visit)(void *context, const struct json_t *event),
                                 void *context, keel_journal_damage_t *out_damage) {
    *out_damage = (keel_journal_damage_t){0};
    keel_str_t rest = keel_bytes_str(bytes);
    uint64_t kept = 0;
    for (uint64_t number = 1; rest.size; ++number) {
        const char *end = memchr(rest.data, '\n', rest.size);
        keel_str_t line = {rest.data, end ? (size_t)(end - rest.data) : rest.size};
        size_t taken = line.size + (end ? 1 : 0);
        rest = (keel_str_t){rest.data + taken, rest.size - taken};
        if (!line.size || keel_journal_is_event(line, needless->events)) continue;
        char why[160];
        line = keel_journal_without(line, needless->lists, &scratch[0]);
        line = keel_journal_cut(line, needless->longest, &scratch[1]);
        if (needless->are_kept) kept += keel_json_cost(line);
        if (kept > memory_for(bytes.size)) return too_much(bytes.size);
        json_t *event = parse_event(line, why);
        if (event) {
            keel_status_t status = visit(context, event);
            json_decref(event);
            KEEL_TRY(status);
        } else if (end) {
            blame(out_damage, number, why);
        }
    }
    return NULL;
}

keel_status_t
keel_journal_parse_without(keel_bytes_t bytes, const keel_journal_needless_t *needless,
                           keel_status_t (*visit)(void *context, const struct json_t *event),
                           void *context, keel_journal_damage_t *out_damage) {
    keel_buffer_t scratch[2];
    keel_buffer_initialize(&scratch[0], 0);
    keel_buffer_initialize(&scratch[1], 0);
    keel_status_t status = parse_lines(bytes, needless, scratch, visit, context, out_damage);
    if (!status) status = keel_buffer_status(&scratch[0]);
    if (!status) status = keel_buffer_status(&scratch[1]);
    keel_buffer_deinitialize(&scratch[0]);
    keel_buffer_deinitialize(&scratch[1]);
    return status;
}

keel_status_t keel_journal_parse(keel_bytes_t bytes,
                                 keel_status_t (*visit)(void *context, const struct json_t *event),
                                 void *context, keel_journal_damage_t *out_damage) {
    static const char *const none[] = {NULL};
    return keel_journal_parse_without(bytes, &(keel_journal_needless_t){none, none, 0, false},
                                      visit, context, out_damage);
}

keel_status_t keel_journal_read(const char *path,
                                keel_status_t (*visit)(void *context, const struct json_t *event),
                                void *context, keel_journal_damage_t *out_damage) {
    uint8_t *data;
    size_t size;
    keel_file_facts_t facts;
    *out_damage = (keel_journal_damage_t){0};
    KEEL_TRY(keel_file_read_with_facts(path, JOURNAL_LIMIT, &data, &size, &facts));
    keel_status_t status = keel_journal_parse(keel_bytes(data, size), visit, context, out_damage);
    keel_free(data);
    return status;
}

static keel_status_t append(keel_journal_file_t *file, keel_bytes_t more) {
    // Skips an unfinished last line: its process was killed, or is writing it now.
    const uint8_t *last =
        file->bytes.size ? memrchr(file->bytes.data, '\n', file->bytes.size) : NULL;
    size_t whole = last ? (size_t)(last - file->bytes.data) + 1 : 0;
    void *grown = (void *)(uintptr_t)file->bytes.data;
    KEEL_TRY(keel_realloc_array(whole + more.size + 1, 1, &grown));
    if (more.size) memcpy((uint8_t *)grown + whole, more.data, more.size);
    file->bytes = keel_bytes(grown, whole + more.size);
    return NULL;
}

// Without its first and last lines, which describe the file itself; empty if the file is
// incomplete.
static keel_bytes_t answers_of(keel_bytes_t bytes) {
    const uint8_t *first = bytes.size ? memchr(bytes.data, '\n', bytes.size) : NULL;
    const uint8_t *last = first ? memrchr(bytes.data, '\n', bytes.size - 1) : NULL;
    if (!last) return keel_bytes(NULL, 0);
    return keel_bytes(first + 1, (size_t)(last - first));
}

static keel_status_t append_explained(const char *run_dir, const char *id,
                                      keel_journal_file_t *file) {
    char *path;
    uint8_t *data;
    size_t size;
    keel_file_facts_t facts;
    KEEL_TRY(keel_journal_explained_path(run_dir, id, &path));
    keel_status_t status = keel_file_read_with_facts(path, JOURNAL_LIMIT, &data, &size, &facts);
    keel_free(path);
    if (status) {
        bool is_out_of_memory = keel_status_code(status) == KEEL_NO_MEMORY;
        if (is_out_of_memory) return status;
        keel_status_ignore(status); // then nothing is explained
        return NULL;
    }
    status = append(file, answers_of(keel_bytes(data, size)));
    keel_free(data);
    return status;
}

keel_status_t keel_journal_file_read(const char *run_dir, const char *id,
                                     keel_journal_file_t *out) {
    uint8_t *data;
    size_t size;
    keel_file_facts_t facts;
    KEEL_TRY(keel_journal_path(run_dir, id, &out->path));
    keel_status_t status =
        keel_file_read_with_facts(out->path, JOURNAL_LIMIT, &data, &size, &facts);
    if (!status) {
        out->bytes = keel_bytes(data, size);
        status = append_explained(run_dir, id, out);
        if (status) keel_free((void *)(uintptr_t)out->bytes.data);
    }
    if (status) keel_free(out->path);
    return status;
}

void keel_journal_file_free(keel_journal_file_t *file) {
    keel_free((void *)file->bytes.data);
    keel_free(file->path);
}

// ---- runs --------------------------------------------------------------------------------------

typedef struct runs_t {
    const char *run_dir;
    keel_status_t (*visit)(void *context, const char *id);
    void *context;
} runs_t;

static bool has_journal(const char *run_dir, const char *id) {
    char *path;
    keel_file_facts_t facts;
    keel_status_t status = keel_journal_path(run_dir, id, &path);
    if (!status) {
        status = keel_file_facts(path, &facts);
        keel_free(path);
    }
    bool there = !status && facts.is_file;
    keel_status_ignore(status);
    return there;
}

static keel_status_t visit_name(void *context, const char *name) {
    runs_t *runs = context;
    if (!keel_journal_is_id(name) || !has_journal(runs->run_dir, name)) return NULL;
    return runs->visit(runs->context, name);
}

keel_status_t keel_journal_runs(const char *run_dir,
                                keel_status_t (*visit)(void *context, const char *id),
                                void *context) {
    runs_t runs = {run_dir, visit, context};
    return keel_directory_walk(run_dir, visit_name, &runs);
}

// ---- finding by a prefix -----------------------------------------------------------------------

typedef struct prefix_search_t {
    keel_str_t prefix;
    char *found; // the last match
    size_t matches;
    bool exact;
} prefix_search_t;

static keel_status_t match(void *context, const char *name) {
    prefix_search_t *search = context;
    if (search->exact || strncmp(name, search->prefix.data, search->prefix.size) != 0) return NULL;
    char *copy;
    KEEL_TRY(keel_strdup(keel_str(name), &copy));
    keel_free(search->found);
    search->found = copy;
    search->exact = search->prefix.size && strlen(name) == search->prefix.size;
    search->matches = search->exact ? 1 : search->matches + 1;
    return NULL;
}

keel_status_t keel_journal_find_run(const char *run_dir, const char *text, char **out) {
    bool latest = !text || strcmp(text, "latest") == 0;
    prefix_search_t search = {.prefix = latest ? KEEL_STR("") : keel_str(text)};
    keel_status_t status = keel_journal_runs(run_dir, match, &search);
    if (!status && !search.matches && latest)
        status = keel_status_make(KEEL_NOT_FOUND,
                                  "%s: no runs are recorded there; `keel run -- CMD` records one, "
                                  "--run-dir names another folder",
                                  run_dir);
    else if (!status && !search.matches)
        status = keel_status_make(KEEL_NOT_FOUND, "%s: no such run in %s%s; `keel runs` lists them",
                                  text, run_dir,
                                  keel_is_file(text) ? ", and no file of `keel pack`" : "");
    else if (!status && search.matches > 1 && !latest)
        status = keel_status_make(KEEL_INVALID, "%s: %zu runs start with this; give more of the id",
                                  text, search.matches);
    if (status) {
        keel_free(search.found);
        return status;
    }
    *out = search.found;
    return NULL;
}

// ---- programs ----------------------------------------------------------------------------------

static keel_status_t match_program(void *context, const char *name) {
    bool whole = keel_str_ends(keel_str(name), KEEL_STR(".zst")) &&
                 !keel_str_ends(keel_str(name), KEEL_STR(".options.zst")) && name[0] != '.';
    return whole ? match(context, name) : NULL;
}

// Opening a pipe would wait for its other end.
static keel_status_t path_of(const char *folder, const char *name, char **out) {
    KEEL_TRY(keel_path(out, "%s/%s", folder, name));
    if (keel_is_file(*out)) return NULL;
    keel_status_t status =
        keel_status_make(KEEL_INVALID, "%s is not a regular file; remove it", *out);
    keel_free(*out);
    return status;
}

keel_status_t keel_journal_find_program(const char *run_dir, const char *hex, char **out) {
    char *folder;
    KEEL_TRY(keel_path(&folder, "%s/programs", run_dir));
    prefix_search_t search = {.prefix = keel_str(hex)};
    keel_status_t status = keel_directory_walk(folder, match_program, &search);
    if (!status && !search.matches)
        status = keel_status_make(KEEL_NOT_FOUND,
                                  "%s: no program in %s starts with this; "
                                  "`keel stats` lists the programs of a run",
                                  hex, folder);
    else if (!status && search.matches > 1)
        status =
            keel_status_make(KEEL_INVALID, "%s: %zu programs start with this; give more digits",
                             hex, search.matches);
    if (!status) status = path_of(folder, search.found, out);
    keel_free(search.found);
    keel_free(folder);
    return status;
}

static keel_status_t damaged(const char *path, const char *why) {
    return keel_status_make(KEEL_CORRUPT, "%s: %s; remove it, and the next run keeps it again",
                            path, why);
}

keel_status_t keel_journal_unpack_program(keel_bytes_t packed, uint8_t **out, size_t *out_size) {
    uint64_t most = keel_limit_for(KEEL_LIMIT_PROGRAM_LEAST, KEEL_LIMIT_PROGRAM_RATIO, packed.size);
    return keel_unpack(packed, most < PROGRAM_LIMIT ? most : PROGRAM_LIMIT, out, out_size);
}

static keel_status_t decompress(const char *path, keel_bytes_t bytes, uint8_t **out,
                                size_t *out_size) {
    keel_status_t status = keel_journal_unpack_program(bytes, out, out_size);
    if (keel_status_code(status) != KEEL_CORRUPT) return status;
    keel_status_t why = damaged(path, keel_status_message(status));
    keel_status_ignore(status);
    return why;
}

keel_status_t keel_journal_check_name(const char *path, keel_bytes_t content) {
    enum { LENGTH = KEEL_DIGEST_HEX - 1 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    keel_digest_t named, is;
    if (strcspn(name, ".") != LENGTH || !keel_digest_unhex((keel_str_t){name, LENGTH}, &named))
        return NULL;
    is = keel_program_digest(content);
    if (keel_digest_equal(&named, &is)) return NULL;
    is = keel_digest(content); // older Keels name large programs by this too
    if (keel_digest_equal(&named, &is)) return NULL;
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(&is, hex);
    return keel_status_make(KEEL_CORRUPT,
                            "%s: damaged: its content has the digest %s, not the one in its name; "
                            "remove it, or give a copy another name",
                            path, hex);
}

keel_status_t keel_journal_read_program(const char *path, uint8_t **out, size_t *out_size) {
    uint8_t *data;
    size_t size;
    keel_file_facts_t facts;
    *out = NULL;
    KEEL_TRY(keel_file_read_with_facts(path, PROGRAM_LIMIT, &data, &size, &facts));
    keel_status_t status = decompress(path, keel_bytes(data, size), out, out_size);
    keel_free(data);
    if (!status) status = keel_journal_check_name(path, keel_bytes(*out, *out_size));
    if (keel_status_code(status) == KEEL_CORRUPT && *out) {
        keel_free(*out);
        *out = NULL;
    }
    return status;
}
