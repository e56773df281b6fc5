// Modules: programs as XLA clients hand them over, read, shown and fingerprinted.
//
// A module is MLIR bytecode (VHLO, builtin and sdy dialects; StableHLO 1.0 to 1.24 and the older
// 0.9 artifacts) or an HloModuleProto. docs/show.md tells the shape of its JSON.
//
// Threads: one thread may free a module; until then any number may read it.
#ifndef KEEL_MODULE_H_
#define KEEL_MODULE_H_

#include <stddef.h>
#include <stdint.h>

#include "keel/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct keel_module_t keel_module_t;

// Reads a module; `data` is copied and may be freed afterwards. KEEL_CORRUPT: it is no such
// program. KEEL_UNSUPPORTED: it is one, but holds something that Keel does not know; the message
// names it.
KEEL_API keel_status_t keel_module_read(const void *data, size_t size,
                                        keel_module_t **out) KEEL_MUST_CHECK;
KEEL_API void keel_module_free(keel_module_t *module);

// The module's name, as "jit_step"; "" where it has none. Lives as long as the module.
KEEL_API const char *keel_module_name(const keel_module_t *module);
// "mlir" or "hlo".
KEEL_API const char *keel_module_format(const keel_module_t *module);
KEEL_API uint32_t keel_module_operation_count(const keel_module_t *module);

// Readable text, or JSON, that ends in a zero byte. The caller frees it with keel_text_free.
KEEL_API keel_status_t keel_module_text(const keel_module_t *module, char **out) KEEL_MUST_CHECK;
KEEL_API keel_status_t keel_module_json(const keel_module_t *module, char **out) KEEL_MUST_CHECK;
KEEL_API void keel_text_free(char *text);

enum { KEEL_FINGERPRINT_SIZE = 65 };

// 64 hex digits that are equal for two modules only if swapping their executables cannot be
// noticed (BLAKE2b-256 of the canonical form). Names and source positions do not enter.
KEEL_API keel_status_t keel_module_fingerprint(const keel_module_t *module,
                                               char out[KEEL_FINGERPRINT_SIZE]) KEEL_MUST_CHECK;

// NULL where an executable of this module may be kept and reused, else why not. Lives as long as
// the module.
KEEL_API const char *keel_module_uncacheable(const keel_module_t *module);

#ifdef __cplusplus
}
#endif

#endif // KEEL_MODULE_H_
