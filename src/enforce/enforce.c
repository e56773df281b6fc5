#define _GNU_SOURCE
#include "enforce/enforce.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "contract/contract.h"
#include "read/read.h"

struct keel_enforcement_t {
    keel_engine_t *engine;
    keel_contract_t contract;
    bool has_contract;
    char *shown; // the contract's file, as a message names it
    keel_on_drift_t on_drift;
    uint64_t freeze_after; // steps; 0: never
    atomic_bool is_frozen;
    atomic_ullong frozen_at; // the number of steps that had ended
    pthread_mutex_t lock;    // of `late`
    keel_map_t late;         // keys that were asked for too late
};

static _Thread_local int allowed; // calls of keel_enforcement_allow(true)

// ---- the contract ------------------------------------------------------------------------------

static keel_verdict_t verdict_of(const keel_enforcement_t *enforcement, keel_on_drift_t fallback) {
    keel_on_drift_t chosen =
        enforcement->on_drift == KEEL_ON_DRIFT_DEFAULT ? fallback : enforcement->on_drift;
    switch (chosen) {
        case KEEL_ON_DRIFT_REFUSE:
            return KEEL_VERDICT_REFUSED;
        case KEEL_ON_DRIFT_RECORD:
            return KEEL_VERDICT_RECORDED;
        case KEEL_ON_DRIFT_DEFAULT:
        case KEEL_ON_DRIFT_WARN:
            break;
    }
    return KEEL_VERDICT_WARNED;
}

// The program again, as the contract lists programs. If it cannot be read, it has no arguments.
static keel_status_t describe(const keel_engine_ask_t *ask, keel_arena_t *arena,
                              keel_contract_asked_t *out) {
    keel_program_t program;
    const char *file = ask->site->place.file;
    *out = (keel_contract_asked_t){.name = keel_str(ask->name)};
    KEEL_TRY(keel_contract_function(keel_str(ask->site->origin),
                                    keel_str(ask->site->place.function), keel_str(file ? file : ""),
                                    arena, &out->function));
    keel_program_initialize(&program);
    keel_status_t status = strcmp(ask->format, "hlo") == 0 ? keel_read_hlo(ask->code, &program)
                                                           : keel_read_mlir(ask->code, &program);
    keel_str_t function = out->function;
    if (!status) status = keel_contract_ask(&program, keel_engine_ask_names(ask), arena, out);
    keel_program_deinitialize(&program);
    if (status && keel_status_code(status) != KEEL_NO_MEMORY) {
        keel_status_ignore(status);
        status = NULL;
    }
    out->name = keel_str(ask->name);
    out->function = function;
    out->fingerprint = keel_fingerprint_of_program(ask->key);
    out->options = keel_fingerprint_of_options(ask->key);
    return status;
}

// Why a program that is not listed may not appear; NULL if it may.
static keel_status_t judge(const keel_enforcement_t *enforcement,
                           const keel_contract_asked_t *asked, keel_arena_t *arena,
                           keel_verdict_t *out) {
    const keel_contract_t *contract = &enforcement->contract;
    keel_contract_scope_t scope = keel_contract_scope(contract, asked->name, asked->function);
    if (scope == KEEL_CONTRACT_ALLOW) return NULL;
    keel_contract_nearest_t nearest;
    KEEL_TRY(keel_contract_nearest(contract, asked, arena, &nearest));
    if (nearest.fits) return NULL;
    *out = scope == KEEL_CONTRACT_REFUSE ? KEEL_VERDICT_REFUSED
           : scope == KEEL_CONTRACT_WARN ? KEEL_VERDICT_WARNED
                                         : verdict_of(enforcement, KEEL_ON_DRIFT_WARN);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 14);
    keel_contract_tell(asked, &nearest, enforcement->shown, &text);
    keel_status_t status = text.failed
                               ? keel_status_make(KEEL_REFUSED, "%s is not in %s", asked->name.data,
                                                  enforcement->shown)
                               : keel_status_make(KEEL_REFUSED, "%s", keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
    return status;
}

static keel_status_t check_contract(const keel_enforcement_t *enforcement,
                                    const keel_engine_ask_t *ask, keel_verdict_t *out) {
    keel_fingerprint_t program = keel_fingerprint_of_program(ask->key),
                       options = keel_fingerprint_of_options(ask->key);
    if (keel_contract_match(&enforcement->contract, &program, &options, NULL) ==
        KEEL_CONTRACT_LISTED)
        return NULL;
    keel_arena_t arena;
    keel_contract_asked_t asked;
    keel_arena_initialize(&arena, 0);
    keel_status_t status = describe(ask, &arena, &asked);
    if (!status) status = judge(enforcement, &asked, &arena, out);
    keel_arena_deinitialize(&arena);
    // Without memory nothing is known about it, and the run goes on.
    if (keel_status_code(status) != KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    return NULL;
}

// ---- the freeze --------------------------------------------------------------------------------

// The initialization of a model may be many operations, and no step.
static uint64_t steps_ended(const keel_enforcement_t *enforcement) {
    keel_engine_steps_t steps;
    keel_engine_steps(enforcement->engine, &steps);
    return steps.by_operations ? 0 : steps.ended;
}

static void freeze(keel_enforcement_t *enforcement) {
    bool not_yet = false;
    uint64_t ended = steps_ended(enforcement);
    if (atomic_compare_exchange_strong(&enforcement->is_frozen, &not_yet, true))
        atomic_store(&enforcement->frozen_at, ended);
}

static bool is_frozen(keel_enforcement_t *enforcement) {
    if (atomic_load(&enforcement->is_frozen)) return true;
    if (!enforcement->freeze_after || steps_ended(enforcement) < enforcement->freeze_after)
        return false;
    freeze(enforcement);
    return true;
}

// One that was refused is not known for that.
static bool is_late(keel_enforcement_t *enforcement, const keel_engine_ask_t *ask) {
    keel_bytes_t key = keel_bytes(ask->key->digest.bytes, sizeof ask->key->digest.bytes);
    pthread_mutex_lock(&enforcement->lock);
    bool late = ask->is_new || keel_map_find(&enforcement->late, key);
    if (late) keel_status_ignore(keel_map_put(&enforcement->late, key, 1));
    pthread_mutex_unlock(&enforcement->lock);
    return late;
}

// A program that the contract lists is no drift: what should have asked for it earlier did not.
static keel_status_t check_freeze(keel_enforcement_t *enforcement, const keel_engine_ask_t *ask,
                                  keel_verdict_t *out) {
    if (!is_frozen(enforcement) || !is_late(enforcement, ask)) return NULL;
    char since[64];
    unsigned long long steps = atomic_load(&enforcement->frozen_at);
    snprintf(since, sizeof since, steps ? "after step %llu" : "before the first step", steps);
    *out = verdict_of(enforcement, KEEL_ON_DRIFT_REFUSE);
    if (enforcement->has_contract)
        return keel_status_make(KEEL_REFUSED,
                                "%s: %s allows it, but it was not asked for before the programs "
                                "were frozen (%s): the warm-up did not run it",
                                ask->name, enforcement->shown, since);
    return keel_status_make(KEEL_REFUSED, "%s: a new program after programs were frozen (%s)",
                            ask->name, since);
}

// ---- the gate ----------------------------------------------------------------------------------

static keel_status_t check(void *context, const keel_engine_ask_t *ask, keel_verdict_t *out) {
    keel_enforcement_t *enforcement = context;
    bool lists_operations = enforcement->has_contract && enforcement->contract.operations;
    if (allowed || (ask->is_eager && !lists_operations)) return NULL;
    keel_status_t status = enforcement->has_contract ? check_contract(enforcement, ask, out) : NULL;
    return status ? status : check_freeze(enforcement, ask, out);
}

// ---- its life ----------------------------------------------------------------------------------

static keel_status_t read_contract(keel_enforcement_t *enforcement, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!*path) return NULL;
    KEEL_TRY(keel_strdup(keel_str(slash ? slash + 1 : path), &enforcement->shown));
    KEEL_TRY(keel_contract_read(path, &enforcement->contract));
    enforcement->has_contract = true;
    return NULL;
}

keel_status_t keel_enforcement_create(const keel_settings_t *settings, keel_enforcement_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(keel_enforcement_t), &memory));
    keel_enforcement_t *enforcement = memory;
    enforcement->on_drift = settings->on_drift;
    enforcement->freeze_after = settings->freeze_after;
    pthread_mutex_init(&enforcement->lock, NULL);
    keel_map_initialize(&enforcement->late);
    keel_status_t status =
        read_contract(enforcement, keel_settings_text(settings, KEEL_SETTING_CONTRACT));
    if (status)
        keel_enforcement_destroy(enforcement);
    else
        *out = enforcement;
    return status;
}

void keel_enforcement_destroy(keel_enforcement_t *enforcement) {
    if (!enforcement) return;
    if (enforcement->has_contract) keel_contract_deinitialize(&enforcement->contract);
    keel_map_deinitialize(&enforcement->late);
    pthread_mutex_destroy(&enforcement->lock);
    keel_free(enforcement->shown);
    keel_free(enforcement);
}

void keel_enforcement_begin(keel_enforcement_t *enforcement, keel_engine_t *engine) {
    enforcement->engine = engine;
    keel_engine_set_gate(engine, &(keel_engine_gate_t){check, enforcement});
}

void keel_enforcement_freeze(keel_enforcement_t *enforcement) {
    freeze(enforcement);
}

void keel_enforcement_allow(bool allows) {
    allowed += allows ? 1 : -1;
    if (allowed < 0) allowed = 0;
}
