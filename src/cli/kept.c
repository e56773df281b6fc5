// Keel writes to some folders in `run_dir` and `cache_dir`. What else is there is the user's, who
// may have named a folder of his own (`runs`, in which his script keeps its logs).
#define _GNU_SOURCE
#include "cli/kept.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "journal/journal.h"

// What is in one of them, docs/journal.md and store/layout.h say.
typedef enum form_t {
    BY_DIGEST, // begins with its hex digits
    BY_SCRIPT, // the script's name, a dash and 16 hex digits
    BY_NUMBER, // decimal, with dots
    PLAIN,     // hex digits and dashes
} form_t;

typedef struct part_t {
    keel_setting_t setting;
    const char *folder;
    form_t form;
    const char *ending;
} part_t;

static const part_t parts[] = {{KEEL_SETTING_RUN_DIR, "programs", BY_DIGEST, ".zst"},
                               {KEEL_SETTING_RUN_DIR, "sources", BY_DIGEST, ".zst"},
                               {KEEL_SETTING_RUN_DIR, "history", BY_SCRIPT, ".ndjson"},
                               {KEEL_SETTING_CACHE_DIR, "entries", PLAIN, ""},
                               {KEEL_SETTING_CACHE_DIR, "locks", BY_DIGEST, ".lock"},
                               {KEEL_SETTING_CACHE_DIR, "marks", BY_NUMBER, ".mark"},
                               {KEEL_SETTING_CACHE_DIR, "plans", BY_SCRIPT, ".plan"},
                               {KEEL_SETTING_CACHE_DIR, "plugins", PLAIN, ""},
                               {KEEL_SETTING_CACHE_DIR, "handed", BY_DIGEST, ".program"},
                               {KEEL_SETTING_CACHE_DIR, "quarantine", BY_DIGEST, ".keel"}};

typedef struct checking_t {
    const part_t *part;
    const char *path;
} checking_t;

static bool is_keels(const part_t *part, const char *name) {
    static const char hex[] = "0123456789abcdef";
    enum { DIGEST = 2 * sizeof(keel_digest_t), HASH = 16 };
    // Files that are being written; and one that NFS keeps while it is open.
    static const char *const passing[] = {".tmp.", ".new.", ".nfs"};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; ++i)
        if (keel_str_starts(keel_str(name), keel_str(passing[i]))) return true;
    if (!keel_str_ends(keel_str(name), keel_str(part->ending))) return false;
    size_t size = strlen(name) - strlen(part->ending);
    switch (part->form) {
        case BY_DIGEST:
            return strspn(name, hex) == DIGEST;
        case BY_SCRIPT:
            return size > HASH && name[size - HASH - 1] == '-' &&
                   strspn(name + size - HASH, hex) >= HASH;
        case BY_NUMBER:
            return strspn(name, "0123456789.") >= size;
        case PLAIN:
            return strspn(name, "0123456789abcdef-") == size;
    }
    return false;
}

static keel_status_t check_name(void *context, const char *name) {
    const checking_t *checking = context;
    if (is_keels(checking->part, name)) return NULL;
    return keel_status_make(KEEL_UNSUPPORTED,
                            "%s/%s is not Keel's, but in a folder where Keel writes; give Keel "
                            "another folder with %s",
                            checking->path, name,
                            keel_setting_facts(checking->part->setting)->flag);
}

// Takes the path.
static keel_status_t add(char *path, cli_kept_t *out) {
    if (out->count + 1 == CLI_KEPT) {
        keel_free(path);
        return keel_status_make(KEEL_INTERNAL, "more than %d folders", CLI_KEPT - 1);
    }
    out->folders[out->count++] = path;
    return NULL;
}

static keel_status_t add_part(const keel_settings_t *settings, const part_t *part,
                              cli_kept_t *out) {
    const char *folder = keel_settings_text(settings, part->setting);
    bool is_cache = part->setting == KEEL_SETTING_CACHE_DIR;
    char *path;
    if (!*folder) return NULL;
    // If nothing is to be stored, no folder is made either.
    if (is_cache && settings->mode == KEEL_MODE_READONLY && !keel_is_folder(folder)) return NULL;
    KEEL_TRY(keel_path(&path, "%s/%s", folder, part->folder));
    KEEL_TRY(add(path, out));
    return keel_directory_walk(path, check_name, &(checking_t){part, path});
}

keel_status_t cli_kept_find(const keel_settings_t *settings, const char *const *others,
                            cli_kept_t *out) {
    *out = (cli_kept_t){.count = 0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        KEEL_TRY(add_part(settings, &parts[i], out));
    for (; *others; ++others) {
        char *path;
        KEEL_TRY(keel_strdup(keel_str(*others), &path));
        KEEL_TRY(add(path, out));
    }
    return NULL;
}

void cli_kept_deinitialize(cli_kept_t *kept) {
    for (size_t i = 0; i < kept->count; ++i)
        keel_free((void *)(uintptr_t)kept->folders[i]);
    kept->count = 0;
}

// ---- runs of the command's own -----------------------------------------------------------------

typedef struct moving_t {
    const char *run_dir, *from, *to; // folders
} moving_t;

static keel_status_t move_file(void *context, const char *name) {
    const moving_t *moving = context;
    char *from, *to = NULL;
    struct stat facts;
    keel_bytes_t bytes;
    KEEL_TRY(keel_path(&from, "%s/%s", moving->from, name));
    keel_status_t status = NULL;
    if (lstat(from, &facts) == 0 && S_ISREG(facts.st_mode)) {
        status = keel_path(&to, "%s/%s", moving->to, name);
        if (!status) status = keel_file_map(from, &bytes);
        if (!status) {
            status = keel_file_create(to, bytes);
            keel_file_unmap(bytes);
        }
        if (!status) status = keel_file_remove(from);
    }
    keel_free(to);
    keel_free(from);
    return status;
}

static keel_status_t move_run(void *context, const char *name) {
    const moving_t *runs = context;
    char *from, *to = NULL;
    struct stat facts;
    if (!keel_journal_is_id(name)) return NULL;
    KEEL_TRY(keel_path(&from, "%s/%s", runs->from, name));
    keel_status_t status = keel_path(&to, "%s/%s", runs->run_dir, name);
    // A run that was there is not the command's own.
    if (!status && lstat(from, &facts) == 0 && S_ISDIR(facts.st_mode) && lstat(to, &facts)) {
        const moving_t files = {NULL, from, to};
        status = keel_directory_make(to);
        if (!status) status = keel_directory_walk(from, move_file, (void *)(uintptr_t)&files);
        if (!status) status = keel_directory_remove(from);
    }
    keel_free(to);
    keel_free(from);
    return status;
}

keel_status_t cli_kept_runs(const keel_view_t *view, const char *run_dir) {
    char real[PATH_MAX], written[64];
    if (!realpath(run_dir, real)) return NULL;
    int folder = keel_view_open_written(view, real);
    if (folder < 0) return NULL;
    snprintf(written, sizeof written, "/proc/self/fd/%d", folder);
    keel_status_t status = keel_directory_walk(written, move_run, &(moving_t){real, written, NULL});
    close(folder);
    return status;
}
