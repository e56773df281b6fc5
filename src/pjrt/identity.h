// identity: the components of a key that come from the backend and its environment. Whoever
// compiles a program sets those of the program and its options.
//
// Threads: reads the environment, so no thread may change it meanwhile.
#ifndef KEEL_PJRT_IDENTITY_H_
#define KEEL_PJRT_IDENTITY_H_

#include "key/key.h"
#include "pjrt/pjrt.h"

// Sets all components except PROGRAM, OPTIONS, DEVICE_ASSIGNMENT, KERNELS and KEY_VERSION. `plugin`
// is the path of the plugin's file, `build` its digest from keel_key_plugin_build. `key` is
// initialized; even after a failure, the caller deinitializes it.
keel_status_t keel_backend_key(const keel_backend_t *backend, const char *plugin,
                               const keel_digest_t *build, keel_key_t *key) KEEL_MUST_CHECK;

#endif // KEEL_PJRT_IDENTITY_H_
