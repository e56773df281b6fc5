// Room-internal: reading an archive piece by piece, as it is decompressed.
#ifndef KEEL_PACK_UNPACK_H_
#define KEEL_PACK_UNPACK_H_

#include "base/tar.h"
#include "journal/journal.h"

// Takes a member that is allowed; both are valid for the call. A status ends the reading.
typedef keel_status_t unpack_take_t(void *context, const char *name, keel_bytes_t contents);

typedef struct unpack_t {
    uint64_t most;  // bytes that members may have together
    uint64_t left;  // bytes that they may still have
    uint64_t whole; // bytes that the archive may still have
    unpack_take_t *take;
    void *context;
    char run[KEEL_RUN_ID_SIZE]; // "" before the first member
    keel_tar_member_t member;   // that is read
    bool is_inside, is_over;
    keel_buffer_t pending; // bytes that are not a whole header or member yet
    keel_map_t seen;       // names of members
} unpack_t;

// Members may have `most` bytes together, and headers as many.
void unpack_initialize(unpack_t *unpack, uint64_t most, unpack_take_t *take, void *context);
void unpack_deinitialize(unpack_t *unpack);
// The next bytes of the archive. KEEL_CORRUPT if it is not one of a run.
keel_status_t unpack_feed(unpack_t *unpack, keel_bytes_t bytes) KEEL_MUST_CHECK;
// KEEL_CORRUPT unless all of it has come.
keel_status_t unpack_end(const unpack_t *unpack) KEEL_MUST_CHECK;

#endif // KEEL_PACK_UNPACK_H_
