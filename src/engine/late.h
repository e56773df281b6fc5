// late: variables that plugins read when a client is made, and that the script sets later.
#ifndef KEEL_ENGINE_LATE_H_
#define KEEL_ENGINE_LATE_H_

#include "engine/clients.h"

// Called at each compile, with its options: says once, on stderr and in the journal, what was set
// too late. Cheap while the environment is what it was at the last call.
void late_look(keel_engine_t *engine, const client_t *client, keel_bytes_t options);

// Appends the lines of `now` that `before` does not have, without their ends, joined by blanks; or
// "unset" and those that `now` lacks, if it only lost some. Both are sorted lines "name=value".
void late_changes(keel_str_t before, keel_str_t now, keel_buffer_t *out);

#endif // KEEL_ENGINE_LATE_H_
