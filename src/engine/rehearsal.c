// The way of a program whose device is not there.
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "engine/memory.h"
#include "engine/publish.h"
#include "engine/rehearsal.h"

void keel_engine_rehearse(keel_engine_t *engine, const char *target,
                          keel_rehearse_compiles_t compiles) {
    engine->target = target;
    if (compiles == KEEL_REHEARSE_ALL) engine->looks_up = false;
}

// ---- what the compiler makes -------------------------------------------------------------------

typedef struct follower_t {
    keel_engine_t *engine;
    keel_key_t key;
    keel_digest_t program;
    keel_arena_t texts;
    const char *name;
    keel_place_t place;
    bool is_kept;
} follower_t;

static void destroy_follower(follower_t *follower) {
    keel_key_deinitialize(&follower->key);
    keel_arena_deinitialize(&follower->texts);
    keel_free(follower);
}

static keel_status_t keep_text(follower_t *follower, const char *text, const char **out) {
    keel_str_t kept;
    *out = NULL;
    if (!text) return NULL;
    KEEL_TRY(keel_arena_str(&follower->texts, keel_str(text), &kept));
    *out = kept.data;
    return NULL;
}

static keel_status_t keep_place(follower_t *follower, const keel_place_t *place) {
    follower->place = *place;
    KEEL_TRY(keep_text(follower, place->file, &follower->place.file));
    KEEL_TRY(keep_text(follower, place->function, &follower->place.function));
    KEEL_TRY(keep_text(follower, place->call_file, &follower->place.call_file));
    return keep_text(follower, place->library_file, &follower->place.library_file);
}

static keel_status_t make_follower(keel_engine_t *engine, const rehearsed_t *rehearsed,
                                   follower_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(follower_t), &memory));
    follower_t *follower = memory;
    follower->engine = engine;
    follower->program = *rehearsed->program;
    follower->is_kept = rehearsed->is_kept;
    keel_key_initialize(&follower->key);
    keel_arena_initialize(&follower->texts, 0);
    keel_status_t status = keel_key_copy(rehearsed->key, &follower->key);
    if (!status) status = keep_text(follower, rehearsed->name, &follower->name);
    if (!status) status = keep_place(follower, rehearsed->place);
    if (!status)
        *out = follower;
    else
        destroy_follower(follower);
    return status;
}

static void journal_compiled(const follower_t *follower, const keel_journal_subject_t *subject,
                             const keel_compiled_t *compiled) {
    keel_engine_t *engine = follower->engine;
    keel_journal_compiled(engine->journal,
                          &(keel_journal_compiled_t){.subject = *subject,
                                                     .seconds = compiled->seconds,
                                                     .cpu_seconds = compiled->cpu_seconds,
                                                     .peak_memory = compiled->peak_memory,
                                                     .payload_bytes = compiled->executable_size,
                                                     .failed = compiled->error != NULL});
    if (!compiled->error) return;
    keel_journal_site_t site = engine_site(&follower->place);
    const char *code = keel_pjrt_code_name(compiled->code);
    keel_journal_compile_error(engine->journal, subject, &site, code, compiled->error);
}

// Called when the compiler is done with it.
static void take_compiled(void *context, const keel_compiled_t *compiled) {
    follower_t *follower = context;
    keel_engine_t *engine = follower->engine;
    const keel_journal_subject_t subject = {
        .program = &follower->program, .name = follower->name, .key = &follower->key.digest};
    journal_compiled(follower, &subject, compiled);
    if (compiled->error) {
        keel_log_once("rehearsed", "%s does not compile for %s: %s", follower->name, engine->target,
                      compiled->error);
    } else {
        if (compiled->has_memory) memory_write(engine, &subject, &compiled->memory);
        if (engine->stores && follower->is_kept)
            publish_compiled(engine, &follower->key, &follower->program, follower->name, compiled);
    }
    destroy_follower(follower);
}

void rehearsal_follow(keel_engine_t *engine, PJRT_LoadedExecutable *loaded,
                      const rehearsed_t *rehearsed) {
    follower_t *follower;
    keel_status_t status = make_follower(engine, rehearsed, &follower);
    if (status) {
        engine_fell_through(engine, "publish", NULL, status);
        return;
    }
    if (!keel_rehearse_when_compiled(loaded, take_compiled, follower)) destroy_follower(follower);
}

const char *rehearsal_word(PJRT_LoadedExecutable *loaded) {
    switch (keel_rehearse_state(loaded)) {
        case KEEL_REHEARSE_COMPILED:
            return "now";
        case KEEL_REHEARSE_COMPILING:
            return "later";
        default:
            return "never";
    }
}

// ---- the end -----------------------------------------------------------------------------------

static void show_pending(void *context, uint64_t pending) {
    const keel_engine_t *engine = context;
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r\x1b[Kkeel: %llu program%s still being compiled for %s",
            (unsigned long long)pending, pending == 1 ? " is" : "s are", engine->target);
    fflush(stderr);
}

void rehearsal_end(keel_engine_t *engine) {
    if (!engine->target || !keel_rehearse_pending()) return;
    keel_rehearse_wait(show_pending, engine);
    if (isatty(STDERR_FILENO)) fputs("\r\x1b[K", stderr);
}
