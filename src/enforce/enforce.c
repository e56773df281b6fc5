#define _GNU_SOURCE
#include "enforce/enforce.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "contract/contract.h"
#include "enforce/ranks.h"
#include "read/read.h"

// A contract that is held to.
typedef struct held_t {
    keel_contract_t contract;
    char *shown; // its file, as a message names it
    keel_on_drift_t on_drift;
    struct held_t *before;        // held to again once this one is released
    unsigned users;               // checks that look at it, and 1 until it is released
    keel_placements_t placements; // under the lock
} held_t;

// Of the process: code may begin to hold it to a contract before a client has loaded Keel's table.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);
static held_t *innermost; // under the lock

struct keel_enforcement_t {
    keel_engine_t *engine;
    keel_on_drift_t on_drift;
    uint64_t freeze_after; // steps; 0: never
    atomic_bool is_frozen;
    atomic_ullong frozen_at; // the number of steps that had ended
    ranks_t *ranks;          // NULL: processes do not compare their programs
    keel_map_t late;         // keys that were asked for too late; under the lock
};

static _Thread_local int allowed; // calls of keel_enforcement_allow(true)

// ---- contracts that are held to ----------------------------------------------------------------

static void drop(held_t *held) {
    keel_placements_deinitialize(&held->placements);
    keel_contract_deinitialize(&held->contract);
    keel_free(held->shown);
    keel_free(held);
}

static held_t *use_innermost(void) {
    pthread_mutex_lock(&lock);
    held_t *held = innermost;
    if (held) ++held->users;
    pthread_mutex_unlock(&lock);
    return held;
}

static void stop_using(held_t *held) {
    pthread_mutex_lock(&lock);
    bool is_last = held && --held->users == 0;
    pthread_mutex_unlock(&lock);
    if (is_last) drop(held);
}

static keel_status_t read_held(const char *path, held_t *held) {
    const char *slash = strrchr(path, '/');
    KEEL_TRY(keel_strdup(keel_str(slash ? slash + 1 : path), &held->shown));
    keel_status_t status = keel_contract_read(path, &held->contract);
    if (status) keel_free(held->shown);
    return status;
}

keel_status_t keel_enforcement_hold(const char *path, keel_on_drift_t on_drift) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(held_t), &memory));
    held_t *held = memory;
    keel_status_t status = read_held(path, held);
    if (status) {
        keel_free(held);
        return status;
    }
    held->on_drift = on_drift;
    held->users = 1;
    pthread_mutex_lock(&lock);
    held->before = innermost;
    innermost = held;
    pthread_mutex_unlock(&lock);
    return NULL;
}

void keel_enforcement_release(void) {
    pthread_mutex_lock(&lock);
    held_t *held = innermost;
    if (held) innermost = held->before;
    pthread_mutex_unlock(&lock);
    stop_using(held);
}

// ---- the contract ------------------------------------------------------------------------------

static keel_verdict_t verdict_of(keel_on_drift_t on_drift, keel_on_drift_t fallback) {
    switch (on_drift == KEEL_ON_DRIFT_DEFAULT ? fallback : on_drift) {
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
    keel_bytes_t code;
    keel_status_t status = keel_engine_ask_code(ask, &code);
    if (!status)
        status = strcmp(ask->format, "hlo") == 0 ? keel_read_hlo(code, &program)
                                                 : keel_read_mlir(code, &program);
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
    out->machine = keel_fingerprint_of_machine(ask->key);
    out->elsewhere = ask->elsewhere;
    return status;
}

// Why a program that is not listed may not appear, or not on these devices as well (`placed`: its
// pin, or NULL); NULL if it may.
static keel_status_t judge(const held_t *held, const keel_contract_asked_t *asked,
                           const keel_contract_pin_t *placed, keel_arena_t *arena,
                           keel_verdict_t *out) {
    const keel_contract_t *contract = &held->contract;
    keel_contract_scope_t scope = keel_contract_scope(contract, asked->name, asked->function);
    if (scope == KEEL_CONTRACT_ALLOW) return NULL;
    keel_contract_nearest_t nearest;
    KEEL_TRY(keel_contract_nearest(contract, asked, placed, arena, &nearest));
    if (nearest.fits && !asked->elsewhere) return NULL;
    *out = scope == KEEL_CONTRACT_REFUSE ? KEEL_VERDICT_REFUSED
           : scope == KEEL_CONTRACT_WARN ? KEEL_VERDICT_WARNED
                                         : verdict_of(held->on_drift, KEEL_ON_DRIFT_WARN);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 14);
    if (asked->elsewhere && !placed && keel_contract_may_list(contract, asked))
        keel_contract_tell_unchecked(asked, held->shown, &text);
    else
        keel_contract_tell(asked, &nearest, held->shown, &text);
    keel_status_t status =
        text.failed
            ? keel_status_make(KEEL_REFUSED, "%s is not in %s", asked->name.data, held->shown)
            : keel_status_make(KEEL_REFUSED, "%s", keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
    return status;
}

// Without memory it may.
static bool may_be_placed(held_t *held, const keel_contract_pin_t *pin, const keel_key_t *key) {
    bool may = true;
    const keel_fingerprint_t placement = keel_fingerprint_of_placement(key);
    pthread_mutex_lock(&lock);
    keel_status_ignore(
        keel_placements_add(&held->placements, &held->contract, pin, &placement, &may));
    pthread_mutex_unlock(&lock);
    return may;
}

static keel_status_t check_contract(held_t *held, const keel_engine_ask_t *ask,
                                    keel_verdict_t *out) {
    keel_fingerprint_t program = keel_fingerprint_of_program(ask->key),
                       options = keel_fingerprint_of_options(ask->key),
                       machine = keel_fingerprint_of_machine(ask->key);
    keel_contract_found_t found;
    options = keel_contract_options(&held->contract, &options, &machine);
    bool is_listed =
        keel_contract_match(&held->contract, &program, &options, &found) == KEEL_CONTRACT_LISTED;
    if (is_listed && may_be_placed(held, found.pin, ask->key)) return NULL;
    keel_arena_t arena;
    keel_contract_asked_t asked;
    keel_arena_initialize(&arena, 0);
    keel_status_t status = describe(ask, &arena, &asked);
    if (!status) status = judge(held, &asked, is_listed ? found.pin : NULL, &arena, out);
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

// False: it was frozen before.
static bool freeze(keel_enforcement_t *enforcement, uint64_t step) {
    bool not_yet = false;
    if (!atomic_compare_exchange_strong(&enforcement->is_frozen, &not_yet, true)) return false;
    atomic_store(&enforcement->frozen_at, step);
    return true;
}

static bool is_frozen(keel_enforcement_t *enforcement) {
    if (atomic_load(&enforcement->is_frozen)) return true;
    if (!enforcement->freeze_after || steps_ended(enforcement) < enforcement->freeze_after)
        return false;
    freeze(enforcement, enforcement->freeze_after);
    return true;
}

// One that was refused is not known for that.
static bool is_late(keel_enforcement_t *enforcement, const keel_engine_ask_t *ask) {
    keel_bytes_t key = keel_bytes(ask->key->digest.bytes, sizeof ask->key->digest.bytes);
    pthread_mutex_lock(&lock);
    bool late = ask->is_new || keel_map_find(&enforcement->late, key);
    if (late) keel_status_ignore(keel_map_put(&enforcement->late, key, 1));
    pthread_mutex_unlock(&lock);
    return late;
}

// A program that the contract lists is not drift: what should have asked for it earlier did not.
static keel_status_t check_freeze(keel_enforcement_t *enforcement, const held_t *held,
                                  const keel_engine_ask_t *ask, keel_verdict_t *out) {
    if (!is_frozen(enforcement) || !is_late(enforcement, ask)) return NULL;
    char since[64];
    unsigned long long steps = atomic_load(&enforcement->frozen_at);
    snprintf(since, sizeof since, steps ? "after step %llu" : "before the first step", steps);
    *out = verdict_of(enforcement->on_drift, KEEL_ON_DRIFT_REFUSE);
    if (ask->elsewhere)
        return keel_status_make(KEEL_REFUSED,
                                "%s: loaded from elsewhere (%s), and new after programs were "
                                "frozen (%s)",
                                ask->name, ask->elsewhere, since);
    if (held)
        return keel_status_make(KEEL_REFUSED,
                                "%s: %s allows it, but it was not asked for before the programs "
                                "were frozen (%s): the warm-up did not run it",
                                ask->name, held->shown, since);
    return keel_status_make(KEEL_REFUSED, "%s: a new program after programs were frozen (%s)",
                            ask->name, since);
}

// ---- the other processes -----------------------------------------------------------------------

static void fingerprint_text(const keel_fingerprint_t *fingerprint,
                             char out[KEEL_FINGERPRINT_HEX]) {
    keel_hex(fingerprint->bytes, sizeof fingerprint->bytes, out);
}

static keel_status_t check_ranks(ranks_t *ranks, const keel_engine_ask_t *ask) {
    keel_fingerprint_t program = keel_fingerprint_of_program(ask->key),
                       options = keel_fingerprint_of_options(ask->key);
    ranks_ask_t asked = {
        .name = ask->name, .code = ask->code, .digest = *ask->program, .process = ask->process};
    fingerprint_text(&program, asked.fingerprint);
    fingerprint_text(&options, asked.options);
    // Keys are compared; what differs in large constants is only not explained without them.
    keel_status_ignore(keel_engine_ask_code(ask, &asked.code));
    keel_status_t status = keel_engine_ask_members(ask, &asked.members, &asked.member_count);
    if (!status && ask->elsewhere && asked.member_count > 1) {
        ranks_leave(ranks, ask->name);
        return NULL;
    }
    if (!status) return ranks_check(ranks, &asked);
    keel_log_once("members", "%s; %s is not compared with the other processes' programs",
                  keel_status_message(status), ask->name);
    keel_status_ignore(status);
    return NULL;
}

// ---- the gate ----------------------------------------------------------------------------------

static keel_status_t check_under(keel_enforcement_t *enforcement, held_t *held,
                                 const keel_engine_ask_t *ask, keel_verdict_t *out) {
    bool lists_operations = held && held->contract.operations;
    if (ask->is_eager && !lists_operations) return NULL;
    keel_status_t status = held ? check_contract(held, ask, out) : NULL;
    return status ? status : check_freeze(enforcement, held, ask, out);
}

static keel_status_t check(void *context, const keel_engine_ask_t *ask, keel_verdict_t *out) {
    keel_enforcement_t *enforcement = context;
    // First, whatever else is found: the other processes wait for this one to say what it asks for.
    keel_status_t status = enforcement->ranks ? check_ranks(enforcement->ranks, ask) : NULL;
    if (status) {
        *out = KEEL_VERDICT_STOPPED;
        return status;
    }
    if (allowed) return NULL;
    held_t *held = use_innermost();
    status = check_under(enforcement, held, ask, out);
    stop_using(held);
    return status;
}

// It may be any program, so it is drift.
static keel_status_t check_unseen(void *context, const char *why, keel_verdict_t *out) {
    keel_enforcement_t *enforcement = context;
    if (allowed) return NULL;
    held_t *held = use_innermost();
    keel_status_t status = NULL;
    if (is_frozen(enforcement)) {
        *out = verdict_of(enforcement->on_drift, KEEL_ON_DRIFT_REFUSE);
        status = keel_status_make(
            KEEL_REFUSED, "a program could not be looked at (%s), and programs are frozen", why);
    } else if (held) {
        *out = verdict_of(held->on_drift, KEEL_ON_DRIFT_WARN);
        status = keel_status_make(KEEL_REFUSED,
                                  "a program could not be looked at (%s), so whether %s lists it "
                                  "is not known",
                                  why, held->shown);
    }
    stop_using(held);
    return status;
}

// ---- its life ----------------------------------------------------------------------------------

// What the settings name is the outermost contract, whatever code holds the process to already.
static keel_status_t hold_outermost(const char *path, keel_on_drift_t on_drift) {
    KEEL_TRY(keel_enforcement_hold(path, on_drift));
    pthread_mutex_lock(&lock);
    held_t *held = innermost;
    if (held->before) {
        held_t *last = innermost = held->before;
        while (last->before)
            last = last->before;
        last->before = held;
        held->before = NULL;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

keel_status_t keel_enforcement_create(const keel_settings_t *settings, keel_enforcement_t **out) {
    void *memory;
    const char *path = keel_settings_text(settings, KEEL_SETTING_CONTRACT);
    KEEL_TRY(keel_calloc(1, sizeof(keel_enforcement_t), &memory));
    keel_enforcement_t *enforcement = memory;
    enforcement->on_drift = settings->on_drift;
    enforcement->freeze_after = settings->freeze_after;
    keel_map_initialize(&enforcement->late);
    keel_status_t status = *path ? hold_outermost(path, settings->on_drift) : NULL;
    if (status)
        keel_enforcement_destroy(enforcement);
    else
        *out = enforcement;
    return status;
}

void keel_enforcement_destroy(keel_enforcement_t *enforcement) {
    if (!enforcement) return;
    keel_map_deinitialize(&enforcement->late);
    keel_free(enforcement);
}

static uint64_t executions_of(void *engine, const keel_digest_t *program) {
    return keel_engine_executions(engine, program);
}

static void begin_ranks(keel_enforcement_t *enforcement, keel_engine_t *engine) {
    const keel_settings_t *settings = keel_engine_settings(engine);
    char *folder;
    if (settings->agree == KEEL_AGREE_OFF) return;
    keel_status_t status = keel_engine_run_folder(engine, &folder);
    if (!status) {
        const ranks_executions_t executions = {executions_of, engine};
        status = ranks_create(settings, folder, &executions, &enforcement->ranks);
        keel_free(folder);
    }
    if (status)
        keel_log_once("ranks", "the programs of the processes are not compared: %s",
                      keel_status_message(status));
    keel_status_ignore(status);
}

void keel_enforcement_begin(keel_enforcement_t *enforcement, keel_engine_t *engine) {
    enforcement->engine = engine;
    begin_ranks(enforcement, engine);
    keel_engine_set_gate(engine, &(keel_engine_gate_t){check, enforcement, check_unseen});
}

void keel_enforcement_client_created(keel_enforcement_t *enforcement,
                                     const PJRT_Client_Create_Args *args) {
    if (enforcement->ranks) ranks_client_created(enforcement->ranks, args);
}

void keel_enforcement_client_closing(keel_enforcement_t *enforcement, const PJRT_Client *client) {
    if (enforcement->ranks) ranks_client_closing(enforcement->ranks, client);
}

// A loop in which each step has a new program looks like a warm-up that never ends.
static void say_never_frozen(const keel_enforcement_t *enforcement) {
    keel_engine_steps_t steps;
    uint64_t after = enforcement->freeze_after;
    if (!after || !enforcement->engine || atomic_load(&enforcement->is_frozen)) return;
    keel_engine_steps(enforcement->engine, &steps);
    if (!steps.by_operations && steps.ended < after && steps.ended + steps.warm >= after)
        keel_log_once("never frozen",
                      "programs were never frozen: %llu executions look like a warm-up, because no "
                      "program ran twice before the next one came; mark steps with keel.step(), or "
                      "call keel.freeze() after the warm-up",
                      (unsigned long long)steps.warm);
}

void keel_enforcement_end(keel_enforcement_t *enforcement) {
    say_never_frozen(enforcement);
    if (enforcement->ranks) ranks_end(enforcement->ranks);
}

void keel_enforcement_freeze(keel_enforcement_t *enforcement) {
    if (freeze(enforcement, steps_ended(enforcement))) keel_engine_frozen(enforcement->engine);
}

void keel_enforcement_allow(bool allows) {
    allowed += allows ? 1 : -1;
    if (allowed < 0) allowed = 0;
}
