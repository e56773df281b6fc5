// gang: executables of replica threads that are executed as one. See gang.c for why.
#ifndef KEEL_ENGINE_GANG_H_
#define KEEL_ENGINE_GANG_H_

#include "engine/core.h"

// The gangs that can still be joined, under the lock of the table that holds their executables.
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

// All four under that lock. A gang lives until its last member was destroyed.
keel_status_t gang_join(gangs_t *gangs, const gang_program_t *program,
                        keel_gang_t **out) KEEL_MUST_CHECK;
// The client destroys `loaded`; `was_active`: gang_delete() was not called for it, or said no.
// False where the others still need it; *out_leader: what the client has destroyed before and
// nobody needs any more, or NULL.
bool gang_leave(gangs_t *gangs, keel_gang_t *gang, const PJRT_LoadedExecutable *loaded,
                bool was_active, PJRT_LoadedExecutable **out_leader);
// The client deletes it. False where the others still need it. Else it is executed by itself from
// now on, to be refused.
bool gang_delete(gangs_t *gangs, keel_gang_t *gang, PJRT_LoadedExecutable *loaded);
// True where devices wait for others which do not come; then says so in `text`.
bool gangs_find_stuck(const gangs_t *gangs, char *text, size_t size);

bool gang_is_deleted(const keel_gang_t *gang, const PJRT_LoadedExecutable *loaded);

#endif // KEEL_ENGINE_GANG_H_
