// Replica threads: one executable for all devices of a program that must run on all of them at
// once.
//
// torch_xla.launch has a thread for each device, and each compiles and executes its own executable.
// Since some version between PJRT 0.81 and 0.106, XLA's CPU plugins gather the devices of an
// execution by executable and launch id, and start none until all have come: separate executables
// deadlock, and so do executions that all have launch id 0 (seen on 0.115). So if portable.c had to
// leave a program's options unchanged, executables of one key form a gang: what the client executes
// on single devices goes to the first of them that was executed, the leader, with a launch id
// counted on each device.
//
// Everything else that a client does with an executable goes to its own. The leader outlives its
// client's Destroy and Delete until the last of the gang is gone. A thread that comes too late may
// still execute a deleted executable; it gets an error.
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>

#include "engine/gang.h"

typedef struct seat_t {
    _Atomic(PJRT_Device *) device;
    atomic_uint launches;
} seat_t;

struct keel_gang_t {
    const PJRT_Client *client;
    keel_digest_t key;
    char *name;
    unsigned members;                        // not destroyed yet; under the table's lock
    unsigned active;                         // of those, not deleted; under the table's lock
    bool leader_closed;                      // the client has destroyed it; under the table's lock
    atomic_bool leader_deleted;              // the client has deleted it
    _Atomic(PJRT_LoadedExecutable *) leader; // NULL until the first execution
    _Atomic uint64_t latest;                 // time of the latest execution
    struct keel_gang_t *next;
    uint32_t seat_count; // one per replica
    seat_t seats[];
};

// ---- members, under the table's lock -----------------------------------------------------------

static keel_status_t make_gang(gangs_t *gangs, const gang_program_t *program, keel_gang_t **out) {
    enum { MOST = 1 << 16 };
    void *memory;
    uint64_t replicas = program->replicas;
    if (replicas > MOST)
        return keel_status_make(KEEL_UNSUPPORTED, "a program for %llu replicas: at most %d",
                                (unsigned long long)replicas, MOST);
    KEEL_TRY(keel_calloc(1, sizeof(keel_gang_t) + replicas * sizeof(seat_t), &memory));
    keel_gang_t *gang = memory;
    keel_status_t status = keel_strdup(keel_str(program->name), &gang->name);
    if (status) {
        keel_free(gang);
        return status;
    }
    gang->client = program->client;
    gang->key = *program->key;
    gang->seat_count = (uint32_t)replicas;
    gang->next = gangs->first;
    gangs->first = gang;
    *out = gang;
    return NULL;
}

static keel_gang_t *find_gang(const gangs_t *gangs, const gang_program_t *program) {
    keel_gang_t *gang = gangs->first;
    while (gang &&
           (gang->client != program->client || !keel_digest_equal(&gang->key, program->key)))
        gang = gang->next;
    return gang;
}

keel_status_t gang_join(gangs_t *gangs, const gang_program_t *program, keel_gang_t **out) {
    keel_gang_t *gang = find_gang(gangs, program);
    if (!gang) KEEL_TRY(make_gang(gangs, program, &gang));
    ++gang->members;
    ++gang->active;
    *out = gang;
    return NULL;
}

// The last one that can be executed is gone: later executables form a new gang.
static void retire(gangs_t *gangs, const keel_gang_t *gang) {
    keel_gang_t **link = &gangs->first;
    for (; *link != gang; link = &(*link)->next)
        KEEL_ASSERT(*link); // it is in the list until nobody can execute it
    *link = gang->next;
}

bool gang_leave(gangs_t *gangs, keel_gang_t *gang, const PJRT_LoadedExecutable *loaded,
                bool was_active, PJRT_LoadedExecutable **out_leader) {
    PJRT_LoadedExecutable *leader = atomic_load(&gang->leader);
    KEEL_ASSERT(gang->members && gang->active <= gang->members);
    bool is_leader = leader == loaded, is_last = --gang->members == 0;
    *out_leader = NULL;
    if (is_leader) gang->leader_closed = true;
    if (was_active && --gang->active == 0) retire(gangs, gang);
    if (!is_last) return !is_leader;
    if (gang->leader_closed && !is_leader) *out_leader = leader;
    keel_free(gang->name);
    keel_free(gang);
    return true;
}

// If there is no leader, `loaded` becomes it, for concurrent callers too.
static PJRT_LoadedExecutable *leader_of(keel_gang_t *gang, PJRT_LoadedExecutable *loaded) {
    PJRT_LoadedExecutable *leader = NULL;
    return atomic_compare_exchange_strong(&gang->leader, &leader, loaded) ? loaded : leader;
}

bool gang_delete(gangs_t *gangs, keel_gang_t *gang, PJRT_LoadedExecutable *loaded) {
    // A thread that executes for the first time must not make a deleted executable the leader.
    if (leader_of(gang, loaded) == loaded && gang->active > 1) {
        atomic_store(&gang->leader_deleted, true);
        return false;
    }
    KEEL_ASSERT(gang->active);
    if (--gang->active == 0) retire(gangs, gang);
    return true;
}

bool gang_is_deleted(const keel_gang_t *gang, const PJRT_LoadedExecutable *loaded) {
    return atomic_load(&gang->leader_deleted) && atomic_load(&gang->leader) == loaded;
}

// ---- executions --------------------------------------------------------------------------------

// A device's own; NULL if more devices came than there are replicas.
static seat_t *seat_of(keel_gang_t *gang, PJRT_Device *device) {
    for (uint32_t i = 0; i < gang->seat_count; ++i) {
        PJRT_Device *held = NULL;
        seat_t *seat = &gang->seats[i];
        if (atomic_compare_exchange_strong(&seat->device, &held, device) || held == device)
            return seat;
    }
    return NULL;
}

// Keeps the client's own launch id. Ours counts from 1 on each device and wraps around.
static void count_launch(keel_gang_t *gang, PJRT_LoadedExecutable_Execute_Args *args,
                         keel_gang_call_t *call) {
    seat_t *seat = seat_of(gang, args->execute_device);
    PJRT_ExecuteOptions *options = args->options;
    if (!seat) return;
    // Sets the time first: whoever sees this launch must not see the time of an earlier one.
    atomic_store(&gang->latest, keel_clock_monotonic());
    unsigned launch = atomic_fetch_add(&seat->launches, 1) % INT_MAX + 1;
    if (options->launch_id || options->struct_size > sizeof call->room) return;
    memcpy(call->room, options, options->struct_size);
    args->options = (PJRT_ExecuteOptions *)(void *)call->room;
    args->options->launch_id = (int)launch;
}

keel_status_t keel_gang_begin(keel_gang_t *gang, PJRT_LoadedExecutable_Execute_Args *args,
                              keel_gang_call_t *call) {
    call->executable = args->executable;
    call->options = args->options;
    if (!args->execute_device || args->num_devices != 1 || !args->options) return NULL;
    if (gang_is_deleted(gang, args->executable))
        return keel_status_make(KEEL_INVALID, "%s: this executable was deleted", gang->name);
    args->executable = leader_of(gang, args->executable);
    count_launch(gang, args, call);
    return NULL;
}

void keel_gang_end(PJRT_LoadedExecutable_Execute_Args *args, const keel_gang_call_t *call) {
    args->executable = call->executable;
    args->options = call->options;
}

// ---- deadlocks ---------------------------------------------------------------------------------

// How many devices have come to the latest launch; 0 if all have, or none.
static uint32_t count_waiting(keel_gang_t *gang) {
    unsigned most = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < gang->seat_count; ++i) {
        unsigned launches = atomic_load(&gang->seats[i].launches);
        if (launches > most) count = 0;
        if (launches > most) most = launches;
        if (launches && launches == most) ++count;
    }
    return count == gang->seat_count ? 0 : count;
}

bool gangs_find_stuck(const gangs_t *gangs, char *text, size_t size) {
    enum { SECONDS = 20 };
    for (keel_gang_t *gang = gangs->first; gang; gang = gang->next) {
        uint32_t waiting = count_waiting(gang);
        uint64_t latest = atomic_load(&gang->latest); // read before the clock, or it could be later
        double since = keel_seconds(keel_clock_monotonic() - latest);
        if (!waiting || since < SECONDS) continue;
        snprintf(
            text, size,
            "%.80s has been waiting on %u of %u devices for the others for %.0f s: this plugin "
            "starts a program for several replicas only when all of its devices execute it. Each "
            "replica must run the same program, with no number in it, such as its ordinal, that "
            "differs; and XLA_THREAD_POOL_SIZE must be at least %u",
            *gang->name ? gang->name : "a program", waiting, gang->seat_count, since,
            gang->seat_count);
        return true;
    }
    return false;
}
