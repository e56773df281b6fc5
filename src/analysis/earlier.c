#include "analysis/earlier.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "analysis/process.h"

enum {
    HEAD = 1 << 18, // of a journal: contains its first process
    SCRIPTS = 64,   // of one run; later processes are ignored
    RUNS = 8,       // that are analyzed at once
};

// The first scripts of a run, and when the first of them began.
typedef struct scripts_t {
    char *names[SCRIPTS];
    size_t count;
    double began;
} scripts_t;

static void free_scripts(scripts_t *scripts) {
    for (size_t i = 0; i < scripts->count; ++i)
        keel_free(scripts->names[i]);
    scripts->count = 0;
}

static bool has_script(const scripts_t *scripts, const char *name) {
    for (size_t i = 0; i < scripts->count; ++i)
        if (strcmp(scripts->names[i], name) == 0) return true;
    return false;
}

static keel_status_t meet(void *context, const json_t *event) {
    scripts_t *scripts = context;
    const char *name;
    if (strcmp(keel_event_text(event, "event"), "start") != 0 || scripts->count == SCRIPTS)
        return NULL;
    double when = keel_event_number(event, "t");
    if (!scripts->count || when < scripts->began) scripts->began = when;
    char *script;
    KEEL_TRY(process_script(event, &script));
    name = script;
    if (!*name || has_script(scripts, name))
        keel_free(script);
    else
        scripts->names[scripts->count++] = script;
    return NULL;
}

static keel_status_t read_scripts(const char *run_dir, const char *id, scripts_t *out) {
    char *path;
    uint8_t *data;
    size_t size;
    keel_journal_damage_t damage;
    *out = (scripts_t){.count = 0};
    KEEL_TRY(keel_journal_path(run_dir, id, &path));
    keel_status_t status = keel_file_read_from(path, 0, HEAD, &data, &size);
    keel_free(path);
    KEEL_TRY(status);
    // The last line is usually cut, and then not an event.
    status = keel_journal_parse(keel_bytes(data, size), meet, out, &damage);
    keel_free(data);
    if (status) free_scripts(out);
    return status;
}

// ---- the runs ----------------------------------------------------------------------------------

typedef struct earlier_run_t {
    char *id;
    double began;
} earlier_run_t;

typedef struct script_search_t {
    const char *run_dir, *id;
    scripts_t own;
    earlier_run_t runs[RUNS]; // the newest, oldest first
    size_t count;
} script_search_t;

static bool is_analyzed(const char *run_dir, const char *id) {
    char *path;
    keel_status_t status = keel_journal_explained_path(run_dir, id, &path);
    bool analyzed = !status && keel_is_file(path);
    if (!status) keel_free(path);
    keel_status_ignore(status);
    return analyzed;
}

static keel_status_t enter_run(script_search_t *search, const char *id, double began) {
    size_t at = search->count;
    while (at > 0 && began < search->runs[at - 1].began)
        --at;
    if (search->count == RUNS && !at) return NULL; // older than all
    char *copy;
    KEEL_TRY(keel_strdup(keel_str(id), &copy));
    if (search->count == RUNS) {
        keel_free(search->runs[0].id);
        memmove(&search->runs[0], &search->runs[1], (at - 1) * sizeof *search->runs);
        --at;
    } else {
        memmove(&search->runs[at + 1], &search->runs[at],
                (search->count - at) * sizeof *search->runs);
        ++search->count;
    }
    search->runs[at] = (earlier_run_t){copy, began};
    return NULL;
}

static keel_status_t look_at(void *context, const char *id) {
    script_search_t *search = context;
    scripts_t scripts;
    if (strcmp(id, search->id) == 0 || is_analyzed(search->run_dir, id)) return NULL;
    keel_status_t status = read_scripts(search->run_dir, id, &scripts);
    if (status) {
        if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
        keel_status_ignore(status); // the journal is gone by now, or not readable
        return NULL;
    }
    bool is_wanted = false;
    for (size_t i = 0; i < scripts.count; ++i)
        is_wanted |= has_script(&search->own, scripts.names[i]);
    if (is_wanted && scripts.began < search->own.began)
        status = enter_run(search, id, scripts.began);
    free_scripts(&scripts);
    return status;
}

keel_status_t earlier_runs(const char *run_dir, const char *id,
                           keel_status_t (*visit)(void *context, const char *id), void *context) {
    script_search_t search = {.run_dir = run_dir, .id = id};
    KEEL_TRY(read_scripts(run_dir, id, &search.own));
    keel_status_t status = NULL;
    if (search.own.count) status = keel_journal_runs(run_dir, look_at, &search);
    for (size_t i = 0; i < search.count; ++i) {
        if (!status) status = visit(context, search.runs[i].id);
        keel_free(search.runs[i].id);
    }
    free_scripts(&search.own);
    return status;
}
