// members: the processes whose devices execute a program together.
#ifndef KEEL_ENGINE_MEMBERS_H_
#define KEEL_ENGINE_MEMBERS_H_

#include "engine/clients.h"

// Their numbers, ascending; both 0 if the compile options are not understood. Lives in the arena.
// Threads: any.
keel_status_t members_list(const PJRT_Api *api, const client_t *client, keel_bytes_t options,
                           keel_arena_t *arena, const uint32_t **out,
                           size_t *out_count) KEEL_MUST_CHECK;

#endif // KEEL_ENGINE_MEMBERS_H_
