// Replica threads: one executable for all devices of a program that must run on all of them at
// once.
//
// torch_xla.launch has a thread for each device, and each compiles and executes an executable of
// its own. XLA's CPU plugins since some version between PJRT 0.81 and 0.106 gather the devices of
// an execution by executable and launch id, and let none begin before all have come: executables of
// their own deadlock, and so do executions that all have launch id 0 (seen on 0.115). So where
// portable.c had to leave a program's options as they are, executables of one key are a gang: what
// the client executes on single devices goes to the first of them that was executed, the leader,
// with the launch id counted on each device.
//
// Everything else a client does with an executable goes to its own. The leader outlives its
// client's Destroy and Delete until the last of the gang is gone: destroyed, as what is deleted may
// still be executed, by a thread that comes too late; it gets an error.
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
    unsigned active;                         // and not deleted; likewise
    bool leader_closed;                      // likewise: the client has destroyed it
    atomic_bool leader_deleted;              // the client has
    _Atomic(PJRT_LoadedExecutable *) leader; // NULL until the first execution
    _Atomic uint64_t latest;                 // execution, by the clock
    struct keel_gang_t *next;
    uint32_t seat_count; // one a replica
    seat_t seats[];
};

// ---- members, under the table's lock -----------------------------------------------------------

static keel_status_t make(gangs_t *gangs, const gang_program_t *program, keel_gang_t **out) {
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

static keel_gang_t *find(const gangs_t *gangs, const gang_program_t *program) {
    keel_gang_t *gang = gangs->first;
    while (gang &&
           (gang->client != program->client || !keel_digest_equal(&gang->key, program->key)))
        gang = gang->next;
    return gang;
}

keel_status_t gang_join(gangs_t *gangs, const gang_program_t *program, keel_gang_t **out) {
    keel_gang_t *gang = find(gangs, program);
    if (!gang) KEEL_TRY(make(gangs, program, &gang));
    ++gang->members;
    ++gang->active;
    *out = gang;
    return NULL;
}

// The last one that can be executed is gone: what is compiled from now on makes a gang of its own.
static void retire(gangs_t *gangs, const keel_gang_t *gang) {
    keel_gang_t **link = &gangs->first;
    while (*link != gang)
        link = &(*link)->next;
    *link = gang->next;
}

bool gang_leave(gangs_t *gangs, keel_gang_t *gang, const PJRT_LoadedExecutable *loaded,
                bool was_active, PJRT_LoadedExecutable **out_leader) {
    PJRT_LoadedExecutable *leader = atomic_load(&gang->leader);
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

// Where there is no leader `loaded` is it from now on, also of those that come at the same time.
static PJRT_LoadedExecutable *leader_of(keel_gang_t *gang, PJRT_LoadedExecutable *loaded) {
    PJRT_LoadedExecutable *leader = NULL;
    return atomic_compare_exchange_strong(&gang->leader, &leader, loaded) ? loaded : leader;
}

bool gang_delete(gangs_t *gangs, keel_gang_t *gang, PJRT_LoadedExecutable *loaded) {
    // A thread that executes it for the first time must not make a leader of what is gone.
    if (leader_of(gang, loaded) == loaded && gang->active > 1) {
        atomic_store(&gang->leader_deleted, true);
        return false;
    }
    if (--gang->active == 0) retire(gangs, gang);
    return true;
}

bool gang_is_deleted(const keel_gang_t *gang, const PJRT_LoadedExecutable *loaded) {
    return atomic_load(&gang->leader_deleted) && atomic_load(&gang->leader) == loaded;
}

// ---- executions --------------------------------------------------------------------------------

// A device's own; NULL where more devices came than there are replicas.
static seat_t *seat_of(keel_gang_t *gang, PJRT_Device *device) {
    for (uint32_t i = 0; i < gang->seat_count; ++i) {
        PJRT_Device *held = NULL;
        seat_t *seat = &gang->seats[i];
        if (atomic_compare_exchange_strong(&seat->device, &held, device) || held == device)
            return seat;
    }
    return NULL;
}

// The client's own launch id stays. It counts from 1 on each device, and begins anew in the end.
static void count_launch(keel_gang_t *gang, PJRT_LoadedExecutable_Execute_Args *args,
                         keel_gang_call_t *call) {
    seat_t *seat = seat_of(gang, args->execute_device);
    PJRT_ExecuteOptions *options = args->options;
    if (!seat) return;
    // First the time: who sees the launch must not take the time of an older one for its own.
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

// How many devices have come to the latest launch; 0 where all have, or nobody yet.
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
        uint64_t latest = atomic_load(&gang->latest); // before the clock, which it must not outrun
        double since = keel_seconds(keel_clock_monotonic() - latest);
        if (!waiting || since < SECONDS) continue;
        snprintf(
            text, size,
            "%.80s waits on %u of %u devices for the others since %.0f s: this plugin begins a "
            "program for several replicas when all of its devices execute it. Each replica "
            "must run the same program, in which no number, such as its ordinal, may differ; "
            "and XLA_THREAD_POOL_SIZE must be at least %u",
            *gang->name ? gang->name : "a program", waiting, gang->seat_count, since,
            gang->seat_count);
        return true;
    }
    return false;
}
