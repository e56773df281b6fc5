// kernels: functions of the client that programs call by name while they run, by XLA's foreign
// function interface (FFI). jaxlib has LAPACK as 61 of them.
//
// A client registers its kernels with the runtime that it was built with, but the plugin is another
// runtime and knows none of them: "No FFI handler registered for lapack_spotrf_ffi". So Keel
// registers them with the plugin too. A plugin refuses a kernel that was built for a newer version
// of FFI than its own. jaxlib's kernels for CPU use nothing that FFI 0.1 lacks
// (tests/client/linalg.py runs them all), so Keel answers with the plugin's version for them. Other
// kernels are registered as they are.
//
// Structs: PJRT's FFI extension (pjrt_c_api_ffi_extension.h) and XLA's FFI (xla/ffi/api/c_api.h).
// Ownership: kernels are the process's, and stay. Threads: any; a forked child may call everything.
#ifndef KEEL_PJRT_KERNELS_H_
#define KEEL_PJRT_KERNELS_H_

#include "pjrt/pjrt.h"

enum { KEEL_KERNEL_LIMIT = 96 };

// The client has a kernel for CPU. The name is copied; of two kernels of one name the first counts,
// as in XLA. KEEL_UNSUPPORTED beyond the limit.
keel_status_t keel_kernel_add(const char *name, void *function) KEEL_MUST_CHECK;

// The plugin has a client: if that runs on CPU, the plugin gets all kernels, later ones at once.
// A kernel that it refuses is named once on stderr; programs without it work.
void keel_kernels_register(const PJRT_Api *api, PJRT_Client *client);

// Another process has a kernel of that name, in this library: nothing is registered with a plugin.
keel_status_t keel_kernel_know(const char *name, const char *library) KEEL_MUST_CHECK;

// The digest of the file of the library that the kernel is from; *out_known is false if the client
// has no such kernel. The file is read once.
keel_status_t keel_kernel_build(keel_str_t name, bool *out_known,
                                keel_digest_t *out) KEEL_MUST_CHECK;

#endif // KEEL_PJRT_KERNELS_H_
