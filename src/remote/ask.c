// Finds the helper, or starts it, and asks it.
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "remote/remote.h"

enum { STARTED_WITHIN = 5 }; // seconds

static void hash_text(keel_hasher_t *hasher, const char *text) {
    keel_hasher_update(hasher, text, strlen(text) + 1);
}

// Helpers of other settings are others.
keel_status_t keel_remote_place(const keel_settings_t *settings, const char *cache_dir,
                                char **out_folder, char out_name[KEEL_REMOTE_NAME]) {
    keel_hasher_t hasher;
    char hex[KEEL_DIGEST_HEX];
    keel_hasher_initialize(&hasher);
    hash_text(&hasher, KEEL_VERSION);
    hash_text(&hasher, keel_settings_text(settings, KEEL_SETTING_REMOTES));
    hash_text(&hasher, keel_settings_text(settings, KEEL_SETTING_KEYS_DIR));
    hash_text(&hasher, keel_settings_text(settings, KEEL_SETTING_CACHE_LIMIT));
    const keel_digest_t digest = keel_hasher_finish(&hasher);
    keel_digest_hex(&digest, hex);
    snprintf(out_name, KEEL_REMOTE_NAME, "%.16s", hex);
    return keel_path(out_folder, "%s/remote-%u", cache_dir, (unsigned)geteuid());
}

// It goes into the background by itself once it listens, and then says nothing.
static keel_status_t start(const keel_settings_t *settings, const char *cache_dir) {
    static char cache[] = "--cache-dir", limit[] = "--cache-limit", remotes[] = "--remotes",
                keys[] = "--keys-dir";
    char *helper;
    KEEL_TRY(keel_settings_helper(&helper));
    if (!*helper) {
        keel_free(helper);
        return keel_status_make(KEEL_UNSUPPORTED, "the program keel-remote, which reaches remotes, "
                                                  "is not beside Keel's other files; install Keel "
                                                  "as a whole");
    }
    keel_buffer_t said;
    keel_buffer_initialize(&said, KEEL_REMOTE_LINE);
    const keel_setting_t of[] = {KEEL_SETTING_CACHE_LIMIT, KEEL_SETTING_REMOTES,
                                 KEEL_SETTING_KEYS_DIR};
    char *texts[3];
    for (size_t i = 0; i < 3; ++i)
        texts[i] = (char *)(uintptr_t)keel_settings_text(settings, of[i]);
    char *argv[] = {
        helper,   cache, (char *)(uintptr_t)cache_dir, limit, texts[0], remotes, texts[1], keys,
        texts[2], NULL};
    uint64_t until = keel_clock_monotonic() + STARTED_WITHIN * 1000000000ull;
    int code = keel_answer(argv, until, &said);
    while (said.size && said.data[said.size - 1] == '\n')
        said.data[--said.size] = 0;
    keel_status_t status =
        code == 0 ? NULL
                  : keel_status_make(KEEL_IO, "keel-remote does not start: %s",
                                     said.size ? keel_buffer_cstr(&said) : "it says nothing");
    keel_buffer_deinitialize(&said);
    keel_free(helper);
    return status;
}

static keel_status_t connect_to(const keel_settings_t *settings, const char *cache_dir,
                                bool is_running, int *out) {
    char *folder, name[KEEL_REMOTE_NAME];
    KEEL_TRY(keel_remote_place(settings, cache_dir, &folder, name));
    keel_status_t status = keel_socket_connect(folder, name, out);
    if (keel_status_code(status) == KEEL_NOT_FOUND && !is_running) {
        keel_status_ignore(status);
        status = start(settings, cache_dir);
        if (!status) status = keel_socket_connect(folder, name, out);
    }
    keel_free(folder);
    return status;
}

static bool send_line(int socket, const char *request, uint64_t until) {
    char line[512];
    int size = snprintf(line, sizeof line, "%s\n", request);
    KEEL_ASSERT(size > 0 && (size_t)size < sizeof line);
    return keel_socket_send(socket, keel_bytes(line, (size_t)size), until);
}

keel_status_t keel_remote_begin(const keel_settings_t *settings, const char *cache_dir,
                                const char *request, uint64_t until, int *out_socket) {
    KEEL_TRY(connect_to(settings, cache_dir, false, out_socket));
    if (send_line(*out_socket, request, until)) return NULL;
    close(*out_socket);
    return keel_status_make(KEEL_IO, "keel-remote ended");
}

keel_status_t keel_remote_ask(const keel_settings_t *settings, const char *cache_dir,
                              const char *request, uint64_t until, bool is_running,
                              keel_buffer_t *out) {
    // One that had nothing to do may end while it is asked.
    for (int i = 0; i < 2; ++i) {
        int socket;
        KEEL_TRY(connect_to(settings, cache_dir, is_running, &socket));
        bool answered = send_line(socket, request, until) && keel_socket_line(socket, until, out);
        close(socket);
        if (answered) return NULL;
        if (keel_clock_monotonic() >= until) return keel_status_make(KEEL_IO, "no answer in time");
        if (out->size) break;
    }
    return keel_status_make(KEEL_IO, "keel-remote ended");
}

keel_status_t keel_remote_plan(const keel_settings_t *settings, const char *cache_dir,
                               const char *verb, size_t place, const char *script,
                               keel_buffer_t *out) {
    enum { HELPER = 1 }; // seconds that the helper itself may take
    char request[256];
    int size = snprintf(request, sizeof request, "%s %zu %s", verb, place, script);
    if (size <= 0 || (size_t)size >= sizeof request - 2)
        return keel_status_make(KEEL_UNSUPPORTED, "the script's name is too long");
    uint64_t until =
        keel_clock_monotonic() + settings->remotes.list[place].timeout + HELPER * 1000000000ull;
    return keel_remote_ask(settings, cache_dir, request, until, false, out);
}
