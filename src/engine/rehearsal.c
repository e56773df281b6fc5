// The way of a program whose device is not there.
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "engine/bulk.h"
#include "engine/clients.h"
#include "engine/memory.h"
#include "engine/publish.h"
#include "engine/rehearsal.h"
#include "engine/tiers.h"
#include "host/python.h"

// A value that no device computed, by its program and the line that read it.
typedef struct unreal_t {
    struct unreal_t *next;
    const char *maker;
    const site_t *site;      // NULL: unknown
    const char *into;        // the program that it is a constant of; NULL: none. Kept by this room
    uint64_t count, refused; // reads since the last event: done, and refused
    bool is_met;             // one was counted
} unreal_t;

// What the client was refused, by action, program and line.
typedef struct refused_t {
    struct refused_t *next;
    keel_rehearse_action_t action;
    const char *name;   // of the program; NULL: none. Never freed by this room
    const site_t *site; // NULL: unknown
    char *message;      // of the first time
    uint64_t count;     // since the last event
} refused_t;

// The last unreal values that a thread read, until it compiles.
enum { RECENT = 16, RECENT_RANK = 8 };
typedef struct recent_t {
    const site_t *site;
    const char *maker;
    size_t rank;
    int64_t dims[RECENT_RANK];
} recent_t;
static _Thread_local recent_t recent[RECENT];
static _Thread_local size_t recent_count;

// What is in use on a device when a program begins.
typedef struct living_t {
    struct living_t *next;
    const counter_t *program;
    uint64_t most, written; // bytes
    uint64_t adds;          // of its results
    bool spans;             // over several processes
    bool is_told;
} living_t;

struct rehearsal_t {
    keel_rehearse_compiles_t compiles;
    keel_rehearse_fill_t fill;
    pthread_mutex_t lock; // for all below
    unreal_t *unreal;
    refused_t *refused;
    uint64_t refused_count; // of all
    bool has_begun;         // a client was refused: the journal says what run this is
    living_t *living;
    bulk_t bulk;
};

// A key has the plugin's build, so the machine would never ask for what another one compiled.
static void check_build(const keel_engine_t *engine, const keel_target_t *target) {
    char build[KEEL_DIGEST_HEX];
    keel_digest_hex(&engine->plugin_build, build);
    if (*target->build && strcmp(target->build, build) != 0)
        keel_log_once(
            "build",
            "%s has a different build of the plugin (%.12s) than %s (%.12s), so it will not "
            "load what is compiled here; install the same version here",
            target->name, target->build, engine->plugin->path, build);
}

// ---- refusals ----------------------------------------------------------------------------------

// Under the lock. NULL without memory.
static refused_t *refused_of(rehearsal_t *rehearsal, const refused_t *wanted, keel_str_t message) {
    void *memory;
    refused_t **end = &rehearsal->refused;
    for (; *end; end = &(*end)->next)
        if ((*end)->action == wanted->action && (*end)->name == wanted->name &&
            (*end)->site == wanted->site)
            return *end;
    keel_status_t status = keel_calloc(1, sizeof(refused_t), &memory);
    refused_t *fresh = status ? NULL : memory;
    if (fresh) *fresh = *wanted;
    if (fresh) status = keel_strdup(message, &fresh->message);
    if (status) {
        keel_free(fresh);
        keel_status_ignore(status);
        return NULL;
    }
    return *end = fresh;
}

// The lock is not held while a line is written.
static void journal_refused(keel_engine_t *engine) {
#define WORD(name, word) word,
    static const char *const actions[] = {KEEL_REHEARSE_ACTIONS(WORD)};
#undef WORD
    rehearsal_t *rehearsal = engine->rehearsal;
    pthread_mutex_lock(&rehearsal->lock);
    for (refused_t *at = rehearsal->refused; at; at = at->next) {
        keel_journal_refused_t event = {.action = actions[at->action],
                                        .name = at->name,
                                        .message = at->message,
                                        .count = at->count};
        if (!at->count) continue;
        if (at->site) event.site = engine_site(site_place(at->site));
        at->count = 0;
        pthread_mutex_unlock(&rehearsal->lock);
        keel_journal_refused(engine->journal, &event);
        pthread_mutex_lock(&rehearsal->lock);
    }
    pthread_mutex_unlock(&rehearsal->lock);
}

// The first one is written at once: the process may not live to write it later.
static void note_refused(void *context, keel_rehearse_action_t action, const char *name,
                         keel_str_t message) {
    enum { LOOKED_AT = 100 }; // whatever time that takes
    keel_engine_t *engine = context;
    rehearsal_t *rehearsal = engine->rehearsal;
    pthread_mutex_lock(&rehearsal->lock);
    uint64_t before = rehearsal->refused_count++;
    bool has_begun = rehearsal->has_begun || clients_had_any(engine->clients);
    if (action == KEEL_REHEARSE_CLIENT) rehearsal->has_begun = true;
    pthread_mutex_unlock(&rehearsal->lock);
    const site_t *site = before < LOOKED_AT ? sites_now(engine->sites) : sites_here(engine->sites);
    const refused_t wanted = {.action = action, .name = name, .site = site};
    pthread_mutex_lock(&rehearsal->lock);
    refused_t *refused = refused_of(rehearsal, &wanted, message);
    if (refused) ++refused->count;
    pthread_mutex_unlock(&rehearsal->lock);
    // Without a client, nothing else says what run this is.
    if (action == KEEL_REHEARSE_CLIENT && !has_begun) engine_begin_without_client(engine);
    if (!before || action == KEEL_REHEARSE_CLIENT) journal_refused(engine);
}

keel_status_t keel_engine_rehearse(keel_engine_t *engine, const keel_target_t *target,
                                   keel_rehearse_compiles_t compiles, keel_rehearse_fill_t fill,
                                   keel_writes_t writes) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(rehearsal_t), &memory));
    engine->rehearsal = memory;
    pthread_mutex_init(&engine->rehearsal->lock, NULL);
    engine->target = target;
    tiers_leave_remotes(engine);
    check_build(engine, target);
    engine->rehearsal->compiles = compiles;
    engine->rehearsal->fill = fill;
    engine->rehearsal->bulk.writes = writes;
    if (compiles == KEEL_REHEARSE_ALL) engine->looks_up = false;
    keel_rehearse_when_refused(note_refused, engine);
    return NULL;
}

void rehearsal_destroy(rehearsal_t *rehearsal) {
    if (!rehearsal) return;
    keel_rehearse_when_refused(NULL, NULL);
    while (rehearsal->refused) {
        refused_t *next = rehearsal->refused->next;
        keel_free(rehearsal->refused->message);
        keel_free(rehearsal->refused);
        rehearsal->refused = next;
    }
    while (rehearsal->unreal) {
        unreal_t *next = rehearsal->unreal->next;
        keel_free((void *)(uintptr_t)rehearsal->unreal->into);
        keel_free(rehearsal->unreal);
        rehearsal->unreal = next;
    }
    while (rehearsal->living) {
        living_t *next = rehearsal->living->next;
        keel_free(rehearsal->living);
        rehearsal->living = next;
    }
    pthread_mutex_destroy(&rehearsal->lock);
    keel_free(rehearsal);
}

keel_journal_target_t rehearsal_target(const keel_engine_t *engine, const PJRT_Client *client) {
#define WORD(name, word, sentence) word,
    static const char *const compiles[] = {KEEL_REHEARSE_COMPILES(WORD)}, *const values[] = {
                                                                              KEEL_REHEARSE_FILLS(
                                                                                  WORD)};
#undef WORD
    const keel_target_t *target = engine->target;
    if (!target) return (keel_journal_target_t){.name = NULL};
    keel_journal_target_t told = {.name = target->name,
                                  .platform = keel_target_platform_names[target->platform],
                                  .kind = target->device_kind,
                                  .devices = target->device_count,
                                  .processes = target->process_count,
                                  .process = (uint64_t)keel_rehearse_process(client),
                                  .memory = target->memory,
                                  .compiles = compiles[engine->rehearsal->compiles],
                                  .values = values[engine->rehearsal->fill]};
    _Static_assert(sizeof told.assumed / sizeof *told.assumed >= KEEL_TARGET_ASSUMED_MOST, "room");
    keel_target_assumed(target, told.assumed);
    return told;
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
    claims_t claims;
} follower_t;

static void destroy_follower(follower_t *follower) {
    claims_release(&follower->claims);
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
    KEEL_TRY(keep_text(follower, place->application, &follower->place.application));
    KEEL_TRY(keep_text(follower, place->script_file, &follower->place.script_file));
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
    if (status) {
        destroy_follower(follower);
        return status;
    }
    follower->claims = rehearsed->claims;
    *out = follower;
    return NULL;
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
        keel_log_once("rehearsed", "%s does not compile for %s: %s", follower->name,
                      engine->target->name, compiled->error);
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
    bool is_followed = false;
    claims_t claims = rehearsed->claims;
    keel_status_t status = make_follower(engine, rehearsed, &follower);
    if (status) claims_release(&claims);
    if (!status) {
        status = keel_rehearse_when_compiled(loaded, take_compiled, follower, &is_followed);
        if (!is_followed) destroy_follower(follower);
    }
    if (status) engine_fell_through(engine, "publish", NULL, status);
}

bool rehearsal_discards(const keel_engine_t *engine) {
    return engine->rehearsal && engine->rehearsal->bulk.writes == KEEL_WRITES_DISCARD;
}

bool rehearsal_partitions(const keel_engine_t *engine) {
    return engine->rehearsal && engine->rehearsal->compiles == KEEL_REHEARSE_NONE;
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

// ---- values and memory -------------------------------------------------------------------------

// Under the lock. NULL without memory.
static living_t *living_of(rehearsal_t *rehearsal, const counter_t *program) {
    void *memory;
    for (living_t *at = rehearsal->living; at; at = at->next)
        if (at->program == program) return at;
    keel_status_t status = keel_calloc(1, sizeof(living_t), &memory);
    if (status) {
        keel_status_ignore(status);
        return NULL;
    }
    living_t *fresh = memory;
    *fresh = (living_t){.next = rehearsal->living, .program = program};
    rehearsal->living = fresh;
    return fresh;
}

void rehearsal_executed(keel_engine_t *engine, const counter_t *counter,
                        const PJRT_LoadedExecutable *loaded) {
    uint64_t bytes = keel_rehearse_in_use(loaded), computed = keel_rehearse_computes(loaded);
    pthread_mutex_lock(&engine->rehearsal->lock);
    living_t *living = counter ? living_of(engine->rehearsal, counter) : NULL;
    if (living && bytes > living->most) living->most = bytes;
    if (living) living->spans = keel_rehearse_spans(loaded);
    if (living) living->adds = keel_rehearse_adds(loaded);
    bulk_executed(&engine->rehearsal->bulk, computed);
    pthread_mutex_unlock(&engine->rehearsal->lock);
}

static bool is_same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

// Under the lock. NULL without memory.
static unreal_t *unreal_of(rehearsal_t *rehearsal, const site_t *site, const char *maker,
                           const char *into) {
    void *memory;
    char *copy = NULL;
    unreal_t **end = &rehearsal->unreal;
    for (; *end; end = &(*end)->next)
        if ((*end)->site == site && (*end)->maker == maker && is_same_text((*end)->into, into))
            return *end;
    keel_status_t status = keel_calloc(1, sizeof(unreal_t), &memory);
    if (!status && into) {
        status = keel_strdup(keel_str(into), &copy);
        if (status) keel_free(memory);
    }
    if (status) {
        keel_status_ignore(status);
        return NULL;
    }
    unreal_t *fresh = memory;
    *fresh = (unreal_t){.maker = maker, .site = site, .into = copy};
    return *end = fresh;
}

// Returns it if it is the first of its kind.
static unreal_t *count_unreal(rehearsal_t *rehearsal, const site_t *site, const char *maker,
                              const char *into, bool is_refused) {
    pthread_mutex_lock(&rehearsal->lock);
    unreal_t *unreal = unreal_of(rehearsal, site, maker, into);
    bool is_first = unreal && !unreal->is_met;
    if (unreal) ++*(is_refused ? &unreal->refused : &unreal->count);
    if (unreal) unreal->is_met = true;
    pthread_mutex_unlock(&rehearsal->lock);
    return is_first ? unreal : NULL;
}

// ---- loops that ended after a read -------------------------------------------------------------

static _Atomic(keel_unreal_note_t *) note_unreal;

void keel_engine_when_unreal(keel_unreal_note_t *note) {
    atomic_store(&note_unreal, note);
}

void keel_engine_note_left(keel_engine_t *engine, uint64_t read, const keel_journal_left_t *event) {
    keel_journal_left_t left = *event;
    if (getpid() != engine->pid || !engine->rehearsal) return;
    pthread_mutex_lock(&engine->rehearsal->lock);
    const unreal_t *unreal = engine->rehearsal->unreal;
    while (unreal && (uint64_t)(uintptr_t)unreal != read)
        unreal = unreal->next;
    pthread_mutex_unlock(&engine->rehearsal->lock);
    if (!unreal) return;
    left.maker = unreal->maker;
    if (unreal->site) left.site = engine_site(site_place(unreal->site));
    keel_journal_left(engine->journal, &left);
}

// The lock is not held: this runs the client's interpreter.
static void note_first(const unreal_t *unreal) {
    keel_unreal_note_t *note = unreal ? atomic_load(&note_unreal) : NULL;
    keel_python_t python;
    if (!note || keel_python_enter(&python))
        return; // not a thread of Python's, or Python is ending
    note((uint64_t)(uintptr_t)unreal);
    keel_python_leave(&python);
}

// The oldest first. The lock is not held while a line is written.
static void journal_unreal(keel_engine_t *engine) {
    rehearsal_t *rehearsal = engine->rehearsal;
    pthread_mutex_lock(&rehearsal->lock);
    for (unreal_t *at = rehearsal->unreal; at; at = at->next) {
        if (!at->count && !at->refused) continue;
        keel_journal_unreal_t event = {
            .maker = at->maker, .into = at->into, .count = at->count, .refused = at->refused};
        if (at->site) event.site = engine_site(site_place(at->site));
        at->count = at->refused = 0;
        pthread_mutex_unlock(&rehearsal->lock);
        keel_journal_unreal(engine->journal, &event);
        pthread_mutex_lock(&rehearsal->lock);
    }
    pthread_mutex_unlock(&rehearsal->lock);
}

static void note_recent(const site_t *site, const char *maker, PJRT_Buffer *buffer) {
    const int64_t *dims;
    recent_t *at = &recent[recent_count++ % RECENT];
    *at = (recent_t){.site = site, .maker = maker};
    keel_rehearse_dims(buffer, &dims, &at->rank);
    for (size_t i = 0; i < at->rank && i < RECENT_RANK; ++i)
        at->dims[i] = dims[i];
}

// Whether the program has a constant of those dimensions. Small ones are too common to tell.
static bool has_constant(const keel_program_t *program, const recent_t *value) {
    enum { SMALL = 16 }; // elements
    int64_t elements = 1;
    if (!value->rank || value->rank > RECENT_RANK) return false;
    for (size_t i = 0; i < value->rank; ++i)
        elements *= value->dims[i];
    for (uint32_t i = 0; i < program->attrs.count && elements >= SMALL; ++i) {
        const keel_attr_t *attr = &program->attrs.data[i];
        if (attr->kind != KEEL_ATTR_TENSOR) continue;
        const keel_type_t *type = keel_program_type(program, attr->a);
        if (keel_ints_equal(keel_program_ints(program, type->b),
                            (keel_ints_t){value->dims, (uint32_t)value->rank}))
            return true;
    }
    return false;
}

void rehearsal_look(keel_engine_t *engine, const keel_program_t *program, const char *name) {
    size_t count = recent_count < RECENT ? recent_count : RECENT;
    bool is_first = false;
    for (size_t i = 0; i < count; ++i)
        if (has_constant(program, &recent[i]))
            is_first |= count_unreal(engine->rehearsal, recent[i].site, recent[i].maker, name,
                                     false) != NULL;
    recent_count = 0;
    if (is_first) journal_unreal(engine);
}

keel_status_t rehearsal_read(keel_engine_t *engine, const site_t *site, PJRT_Buffer *buffer,
                             uint64_t bytes) {
    rehearsal_t *rehearsal = engine->rehearsal;
    const char *maker;
    if (keel_rehearse_is_real(buffer, &maker)) return NULL;
    pthread_mutex_lock(&rehearsal->lock);
    uint64_t bulk = bulk_read(&rehearsal->bulk, bytes);
    pthread_mutex_unlock(&rehearsal->lock);
    if (!site) site = bulk ? sites_now(engine->sites) : sites_here(engine->sites);
    keel_status_t refusal =
        bulk ? bulk_judge(&rehearsal->bulk, site ? site_place(site) : NULL, maker, bulk) : NULL;
    const unreal_t *first = count_unreal(rehearsal, site, maker, NULL, refusal);
    // At once, as with what was refused: a process may end without a word.
    if (first) journal_unreal(engine);
    note_first(first);
    if (!refusal) note_recent(site, maker, buffer);
    return refusal;
}

static void journal_living(keel_engine_t *engine) {
    rehearsal_t *rehearsal = engine->rehearsal;
    pthread_mutex_lock(&rehearsal->lock);
    for (living_t *at = rehearsal->living; at; at = at->next) {
        if (at->is_told && at->most == at->written) continue;
        bool spans = at->spans;
        uint64_t adds = at->adds;
        at->is_told = true;
        uint64_t bytes = at->written = at->most;
        const keel_digest_t *program = counter_program(at->program);
        pthread_mutex_unlock(&rehearsal->lock);
        keel_journal_living(engine->journal, program, bytes, adds, spans);
        pthread_mutex_lock(&rehearsal->lock);
    }
    pthread_mutex_unlock(&rehearsal->lock);
}

void rehearsal_journal(keel_engine_t *engine) {
    if (!engine->rehearsal) return;
    journal_refused(engine);
    journal_unreal(engine);
    journal_living(engine);
}

// ---- the end -----------------------------------------------------------------------------------

static void show_pending(void *context, uint64_t pending) {
    const keel_engine_t *engine = context;
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r\x1b[Kkeel: %llu program%s still being compiled for %s",
            (unsigned long long)pending, pending == 1 ? " is" : "s are", engine->target->name);
    fflush(stderr);
}

void rehearsal_end(keel_engine_t *engine) {
    if (!engine->target || !keel_rehearse_pending()) return;
    keel_rehearse_wait(show_pending, engine);
    if (isatty(STDERR_FILENO)) fputs("\r\x1b[K", stderr);
}
