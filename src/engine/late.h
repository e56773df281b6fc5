// late: variables that plugins read when a client is made, and that the script sets later.
#ifndef KEEL_ENGINE_LATE_H_
#define KEEL_ENGINE_LATE_H_

#include "engine/clients.h"

// Notes what is set while the client is made.
void late_begin(client_t *client);
// Called at each compile, with its options: says once, on stderr and in the journal, what was set
// too late. Cheap while the environment is what it was at the last call.
void late_look(keel_engine_t *engine, const client_t *client, keel_bytes_t options);

// What a compile's options say of flags, which a client may have copied later than it was made.
typedef struct late_options_t {
    keel_str_t lines; // "name=value", 1 for true
    bool is_first;    // compile of the process: then what they do not say counts as said
} late_options_t;

// Appends the lines of `now` that `before` does not have and the options do not say, without their
// ends, joined by blanks; or "unset" and those that `now` lacks, if it only lost some. Both are
// sorted lines "name=value". `options` may be NULL.
void late_changes(keel_str_t before, keel_str_t now, const late_options_t *options,
                  keel_buffer_t *out);

#endif // KEEL_ENGINE_LATE_H_
