// identity: the components of a key that come from the backend and its environment. Whoever
// compiles a program sets those of the program and its options.
//
// Threads: reads the environment, so no thread may change it meanwhile.
#ifndef KEEL_PJRT_IDENTITY_H_
#define KEEL_PJRT_IDENTITY_H_

#include "key/key.h"
#include "pjrt/pjrt.h"

// Sets all components except PROGRAM, OPTIONS, DEVICE_ASSIGNMENT and KEY_VERSION. `build` is the
// plugin's, from keel_key_plugin_build. `key` is initialized; even after a failure, the caller
// deinitializes it.
keel_status_t keel_backend_key(const keel_backend_t *backend, const keel_digest_t *build,
                               keel_key_t *key) KEEL_MUST_CHECK;

// The part that needs no client: flags and environment.
keel_status_t keel_environment_key(keel_key_t *key) KEEL_MUST_CHECK;
// Whether a variable is part of the key, besides the two with flags.
bool keel_environment_is_keyed(const char *name);

#endif // KEEL_PJRT_IDENTITY_H_
