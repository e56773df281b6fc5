// sharding: shardings that say "replicated", and when that is the same as an unset one (key.h).
//
// Room-internal.
#ifndef KEEL_KEY_SHARDING_H_
#define KEEL_KEY_SHARDING_H_

#include "key/form.h"

// What the options say.
keel_partitioning_t keel_partitioning(const keel_program_t *program, keel_bytes_t options);
// True if an entry of a dictionary is a sharding that is equivalent to an unset one.
bool keel_sharding_says_nothing(keel_canon_t *canon, keel_str_t name, keel_attr_id_t value);

#endif // KEEL_KEY_SHARDING_H_
