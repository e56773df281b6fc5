// identity: the components of a key that the backend and its surroundings give; those of a program
// and its options are for whoever compiles one.
//
// Threads: reads the environment, so no thread may change that meanwhile.
#ifndef KEEL_PJRT_IDENTITY_H_
#define KEEL_PJRT_IDENTITY_H_

#include "key/key.h"
#include "pjrt/pjrt.h"

// Sets all components but PROGRAM, OPTIONS, DEVICE_ASSIGNMENT and KEY_VERSION. `build` is the
// plugin's, from keel_key_plugin_build. `key` is initialized; after a failure it is to be
// deinitialized as any other.
keel_status_t keel_backend_key(const keel_backend_t *backend, const keel_digest_t *build,
                               keel_key_t *key) KEEL_MUST_CHECK;

// The part of it that needs no client: flags and environment.
keel_status_t keel_environment_key(keel_key_t *key) KEEL_MUST_CHECK;
// Whether a variable is part of it, other than the two with flags.
bool keel_environment_is_keyed(const char *name);

#endif // KEEL_PJRT_IDENTITY_H_
