// sharding: shardings that say "replicated", and when that is the same as an unset one (key.h).
//
// Room-internal.
#ifndef KEEL_KEY_SHARDING_H_
#define KEEL_KEY_SHARDING_H_

#include "key/form.h"

// What the options say; if they are empty, what the program says.
keel_partitioning_t keel_partitioning(const keel_program_t *program, keel_bytes_t options);
keel_partitioning_t keel_partitioning_of_options(keel_bytes_t options);
// One partition, and nothing that looks for shardings: no partitioner runs.
bool keel_partitioning_is_none(const keel_partitioning_t *partitioning);
// True if an entry of a dictionary is a sharding that is equivalent to an unset one.
bool keel_sharding_says_nothing(keel_canon_t *canon, keel_str_t name, keel_attr_id_t value);

#endif // KEEL_KEY_SHARDING_H_
