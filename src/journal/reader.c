#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pack.h"
#include "journal/journal.h"
#include "journal/program_name.h"

#define PROGRAM_LIMIT ((uint64_t)2 << 30) // as the file has it

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

// A whole digest names a file: no need to look through all. NULL if there is none.
static keel_status_t find_whole(const char *folder, const char *hex, char **out) {
    static const char *const formats[] = {"mlir", "hlo"};
    keel_digest_t digest;
    *out = NULL;
    if (!keel_digest_unhex(keel_str(hex), &digest)) return NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
        KEEL_TRY(keel_path(out, "%s/%s.%s.zst", folder, hex, formats[i]));
        if (keel_is_file(*out)) return NULL;
        keel_free(*out);
        *out = NULL;
    }
    return NULL;
}

static keel_status_t find_program(const char *folder, const char *hex, char **out) {
    KEEL_TRY(find_whole(folder, hex, out));
    if (*out) return NULL;
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
    return status;
}

keel_status_t keel_journal_find_program(const char *run_dir, const char *hex, char **out) {
    char *folder;
    KEEL_TRY(keel_path(&folder, "%s/programs", run_dir));
    keel_status_t status = find_program(folder, hex, out);
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

// Whether a file is named by a digest.
static bool digest_of_name(const char *path, keel_digest_t *out) {
    enum { LENGTH = KEEL_DIGEST_HEX - 1 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strcspn(name, ".") == LENGTH && keel_digest_unhex((keel_str_t){name, LENGTH}, out);
}

// Of a file that says which program it keeps.
static keel_status_t check_kept(const char *path, const keel_program_name_t *name,
                                keel_bytes_t content) {
    keel_digest_t named, is = keel_program_digest(content);
    bool is_named = digest_of_name(path, &named);
    if (is_named && !keel_digest_equal(&named, &name->program))
        return damaged(path, "damaged: it keeps another program");
    if (!keel_digest_equal(&is, &name->content))
        return damaged(path, "damaged: its content has another digest than it says");
    return NULL;
}

keel_status_t keel_journal_check_name(const char *path, keel_bytes_t content) {
    keel_digest_t named, is;
    if (!digest_of_name(path, &named)) return NULL;
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
    keel_program_name_t name;
    keel_bytes_t packed = keel_bytes(data, size);
    bool says = keel_program_name_read(&packed, &name);
    keel_status_t status = decompress(path, packed, out, out_size);
    keel_free(data);
    if (!status)
        status = says ? check_kept(path, &name, keel_bytes(*out, *out_size))
                      : keel_journal_check_name(path, keel_bytes(*out, *out_size));
    if (keel_status_code(status) == KEEL_CORRUPT && *out) {
        keel_free(*out);
        *out = NULL;
    }
    return status;
}
