#define _GNU_SOURCE
#include <stdio.h>
#include <time.h>

#include "store/layout.h"

enum { HOLDER_LIMIT = 4096 };

static const uint64_t say_after = 2000000000u, look_every = 1000000000u, longest_nap = 50000000u;

static void nap(uint64_t *nanoseconds) {
    struct timespec t = {.tv_nsec = (long)*nanoseconds};
    nanosleep(&t, NULL);
    *nanoseconds *= 2;
    if (*nanoseconds > longest_nap) *nanoseconds = longest_nap;
}

// ---- the holder --------------------------------------------------------------------------------

// The lock's file has two lines: one for people, one for keel_process_state.
typedef struct holder_t {
    char text[HOLDER_LIMIT + 1];
    keel_process_state_t state;
} holder_t;

// The text is empty if the holder is just writing its description, or has gone.
static void look_at_holder(const char *path, holder_t *out) {
    size_t size = 0;
    keel_file_facts_t facts;
    keel_status_ignore(
        keel_file_read_head(path, (uint8_t *)out->text, HOLDER_LIMIT, &size, &facts));
    out->text[size] = 0;
    char *process = strchr(out->text, '\n');
    if (process) *process++ = 0;
    if (process) process[strcspn(process, "\n")] = 0;
    out->state = process ? keel_process_state(keel_str(process)) : KEEL_PROCESS_UNKNOWN;
    char own[KEEL_PROCESS_NAME];
    keel_process_name(own);
    if (process && *own && strcmp(process, own) == 0)
        snprintf(out->text, sizeof out->text, "another thread of this process");
    if (!*out->text) memcpy(out->text, "another process", sizeof "another process");
}

// Why waiting for the holder any longer is useless; NULL if it is not.
static const char *why_in_vain(const holder_t *holder, bool is_late) {
    switch (holder->state) {
        case KEEL_PROCESS_GONE:
            return "has exited, but a process that it started still holds its lock";
        case KEEL_PROCESS_STOPPED:
            return "is stopped";
        case KEEL_PROCESS_RUNS:
        case KEEL_PROCESS_UNKNOWN:
            break;
    }
    return is_late ? "takes many times as long as the compile should" : NULL;
}

// ---- waiting -----------------------------------------------------------------------------------

static keel_status_t wait_for(const char *path, const keel_claimant_t *claimant, keel_lock_t *out) {
    uint64_t start = keel_clock_monotonic(), pause = 1000000u, next_look = start + look_every;
    bool said = !claimant->waiting;
    for (;;) {
        keel_status_t status = keel_store_take_lock(path, out);
        if (keel_status_code(status) != KEEL_REFUSED) return status;
        keel_status_ignore(status);
        nap(&pause);
        uint64_t now = keel_clock_monotonic();
        if (now < next_look) continue;
        next_look = now + look_every;
        holder_t holder;
        look_at_holder(path, &holder);
        const char *why = why_in_vain(&holder, now - start >= claimant->patience);
        if (why) return keel_status_make(KEEL_REFUSED, "%s %s", holder.text, why);
        if (!said && now - start >= say_after) claimant->waiting(claimant->context, holder.text);
        said = said || now - start >= say_after;
    }
}

static void describe_holder(const keel_lock_t *lock, const char *holder) {
    char process[KEEL_PROCESS_NAME], text[HOLDER_LIMIT];
    keel_process_name(process);
    int size = snprintf(text, sizeof text, "%s\n%s\n", holder, process);
    if (size <= 0 || (size_t)size >= sizeof text) return;
    keel_status_ignore(keel_lock_describe(lock, keel_bytes(text, (size_t)size)));
}

typedef struct held_t {
    keel_lock_t lock;
    char path[];
} held_t;

static void release_claim(void *context) {
    held_t *held = context;
    keel_lock_remove(&held->lock, held->path);
    keel_free(held);
}

static keel_status_t make_held(const char *folder, const keel_digest_t *key, held_t **out) {
    char *path;
    void *memory;
    KEEL_TRY(keel_store_lock_path(folder, key, &path));
    size_t size = strlen(path) + 1;
    keel_status_t status = keel_alloc(sizeof(held_t) + size, &memory);
    if (!status) {
        *out = memory;
        (*out)->lock = KEEL_NO_LOCK;
        memcpy((*out)->path, path, size);
    }
    keel_free(path);
    return status;
}

keel_status_t keel_store_claim(const char *folder, const keel_digest_t *key,
                               const keel_claimant_t *claimant, keel_claim_t *out) {
    held_t *held;
    KEEL_TRY(make_held(folder, key, &held));
    keel_status_t status = wait_for(held->path, claimant, &held->lock);
    if (status) {
        keel_free(held);
        return status;
    }
    describe_holder(&held->lock, claimant->name);
    *out = (keel_claim_t){held, release_claim};
    return NULL;
}
