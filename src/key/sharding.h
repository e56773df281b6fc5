// sharding: shardings that say "replicated", and when that is no more than to say nothing (key.h).
//
// Room-internal.
#ifndef KEEL_KEY_SHARDING_H_
#define KEEL_KEY_SHARDING_H_

#include "key/form.h"

// As far as the options tell.
keel_partitioning_t keel_partitioning(const keel_program_t *program, keel_bytes_t options);
// True where an entry of a dictionary is a sharding that says no more than an unset one does.
bool keel_sharding_says_nothing(keel_canon_t *canon, keel_str_t name, keel_attr_id_t value);

#endif // KEEL_KEY_SHARDING_H_
