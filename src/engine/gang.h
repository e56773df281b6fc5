// gang: executables of replica threads that are executed as one. gang.c explains why.
#ifndef KEEL_ENGINE_GANG_H_
#define KEEL_ENGINE_GANG_H_

#include "engine/core.h"

// The gangs that can still be joined, under the lock of the executables' table.
typedef struct gangs_t {
    keel_gang_t *first;
} gangs_t;

// The program of an executable that joins.
typedef struct gang_program_t {
    const PJRT_Client *client;
    const keel_digest_t *key;
    const char *name;
    uint64_t replicas;
} gang_program_t;

// All four need that lock. A gang lives until its last member is destroyed.
keel_status_t gang_join(gangs_t *gangs, const gang_program_t *program,
                        keel_gang_t **out) KEEL_MUST_CHECK;
// The client destroys `loaded`; `was_active`: gang_delete() was not called for it, or returned
// false. False if the others still need it. *out_leader: an executable that the client destroyed
// earlier and that nobody needs any more, or NULL.
bool gang_leave(gangs_t *gangs, keel_gang_t *gang, const PJRT_LoadedExecutable *loaded,
                bool was_active, PJRT_LoadedExecutable **out_leader);
// The client deletes it. False if the others still need it. Otherwise its executions are its own
// from now on, and are refused.
bool gang_delete(gangs_t *gangs, keel_gang_t *gang, PJRT_LoadedExecutable *loaded);
// True, with a message in `text`, if devices wait for others that do not come.
bool gangs_find_stuck(const gangs_t *gangs, char *text, size_t size);

bool gang_is_deleted(const keel_gang_t *gang, const PJRT_LoadedExecutable *loaded);

#endif // KEEL_ENGINE_GANG_H_
