#define _GNU_SOURCE // PATH_MAX
#include "key/toolkit.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "key/key.h"

// ---- digests -----------------------------------------------------------------------------------

// Tools are tens of megabytes, and each program asks for their digests.
typedef struct known_t {
    keel_file_facts_t facts;
    keel_digest_t digest;
} known_t;

static struct {
    pthread_mutex_t lock;
    known_t known[16];
    unsigned count;
    char *folder; // where other processes find them; NULL: nowhere
} digests = {.lock = PTHREAD_MUTEX_INITIALIZER};

void keel_key_keep_digests(const char *folder) {
    pthread_mutex_lock(&digests.lock);
    if (!digests.folder) keel_status_ignore(keel_strdup(keel_str(folder), &digests.folder));
    pthread_mutex_unlock(&digests.lock);
}

static bool is_same(const keel_file_facts_t *a, const keel_file_facts_t *b) {
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified == b->modified && a->changed == b->changed;
}

static bool recall(const keel_file_facts_t *facts, keel_digest_t *out) {
    for (unsigned i = 0; i < digests.count; ++i) {
        if (!is_same(&digests.known[i].facts, facts)) continue;
        *out = digests.known[i].digest;
        return true;
    }
    return false;
}

static keel_status_t digest_of(const char *path, const keel_file_facts_t *facts,
                               keel_digest_t *out) {
    enum { MOST = sizeof digests.known / sizeof *digests.known };
    pthread_mutex_lock(&digests.lock);
    keel_status_t status = NULL;
    if (!recall(facts, out)) {
        status = keel_key_plugin_build(path, digests.folder, out);
        known_t *place = &digests.known[digests.count < MOST ? digests.count : MOST - 1];
        if (!status) *place = (known_t){*facts, *out};
        if (!status && digests.count < MOST) ++digests.count;
    }
    pthread_mutex_unlock(&digests.lock);
    return status;
}

// ---- files -------------------------------------------------------------------------------------

static keel_status_t unreadable(const char *path, keel_status_t status) {
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_t unsupported = keel_status_make(
        KEEL_UNSUPPORTED, "XLA compiles with %s, whose content cannot become part of a key: %s",
        path, keel_status_message(status));
    keel_status_ignore(status);
    return unsupported;
}

static keel_status_t add_file(keel_tool_files_t *files, const char *path) {
    enum { MOST = sizeof files->found / sizeof *files->found };
    keel_file_facts_t facts;
    keel_digest_t digest;
    char hex[KEEL_DIGEST_HEX];
    keel_status_t status = keel_file_facts(path, &facts);
    if (status || !facts.is_file) {
        keel_status_ignore(status); // then XLA does not find it either
        return NULL;
    }
    status = digest_of(path, &facts, &digest);
    if (status) return unreadable(path, status);
    for (uint32_t i = 0; i < files->count; ++i)
        if (keel_digest_equal(&files->found[i], &digest)) return NULL;
    if (files->count == MOST) return NULL;
    files->found[files->count++] = digest;
    keel_digest_hex(&digest, hex);
    keel_buffer_format(files->out, "%s=%s\n", files->name, hex);
    return keel_buffer_status(files->out);
}

keel_status_t keel_toolkit_add(keel_tool_files_t *files, const char *folder, const char *file) {
    char *path;
    if (!folder || !*folder || (files->count && !files->all)) return NULL;
    KEEL_TRY(keel_path(&path, "%s/%s", folder, file));
    keel_status_t status = add_file(files, path);
    keel_free(path);
    return status;
}

keel_status_t keel_toolkit_add_list(keel_tool_files_t *files, const char *folders,
                                    const char *file) {
    char folder[PATH_MAX];
    for (const char *at = folders ? folders : ""; *at;) {
        size_t size = strcspn(at, ":");
        if (size && size < sizeof folder) {
            snprintf(folder, sizeof folder, "%.*s", (int)size, at);
            KEEL_TRY(keel_toolkit_add(files, folder, file));
        }
        at += size + (at[size] == ':');
    }
    return NULL;
}

keel_status_t keel_toolkit_add_known(keel_tool_files_t *files, const char *file) {
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i)
        KEEL_TRY(keel_toolkit_add(files, getenv(variables[i]), file));
    KEEL_TRY(keel_toolkit_add(files, "/usr/local/cuda", file));
    return keel_toolkit_add(files, "/opt/cuda", file);
}

keel_status_t keel_toolkit_of_folder(keel_str_t folder, keel_buffer_t *out) {
    static const struct {
        const char *name, *file, *on_path;
    } tools[] = {{"toolkit.ptxas", "bin/ptxas", "ptxas"},
                 {"toolkit.libdevice", "nvvm/libdevice/libdevice.10.bc", NULL}};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s", KEEL_STR_ARGS(folder));
    for (size_t i = 0; i < sizeof tools / sizeof *tools; ++i) {
        keel_tool_files_t files = {.name = tools[i].name, .out = out};
        KEEL_TRY(keel_toolkit_add(&files, path, tools[i].file));
        if (files.count) continue;
        files.all = true;
        if (tools[i].on_path)
            KEEL_TRY(keel_toolkit_add_list(&files, getenv("PATH"), tools[i].on_path));
        KEEL_TRY(keel_toolkit_add_known(&files, tools[i].file));
    }
    return NULL;
}
