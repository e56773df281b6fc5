// Modules: programs from XLA clients, to read, print and fingerprint.
//
// A module is MLIR bytecode (VHLO, builtin and sdy dialects; StableHLO 1.0 to 1.24 and the older
// 0.9 artifacts) or an HloModuleProto. docs/show.md describes its JSON.
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

// Reads a module; `data` is copied and may be freed afterwards. KEEL_CORRUPT: the bytes are not
// such a program. KEEL_UNSUPPORTED: they are, but use something that Keel does not know; the
// message names it.
KEEL_API keel_status_t keel_module_read(const void *data, size_t size,
                                        keel_module_t **out) KEEL_MUST_CHECK;
KEEL_API void keel_module_free(keel_module_t *module);

// The module's name, such as "jit_step"; "" if it has none. Lives as long as the module.
KEEL_API const char *keel_module_name(const keel_module_t *module);
// "mlir" or "hlo".
KEEL_API const char *keel_module_format(const keel_module_t *module);
KEEL_API uint32_t keel_module_operation_count(const keel_module_t *module);

// Readable text, or JSON, zero-terminated. The caller frees it with keel_text_free.
KEEL_API keel_status_t keel_module_text(const keel_module_t *module, char **out) KEEL_MUST_CHECK;
KEEL_API keel_status_t keel_module_json(const keel_module_t *module, char **out) KEEL_MUST_CHECK;
KEEL_API void keel_text_free(char *text);

enum { KEEL_FINGERPRINT_SIZE = 65 };

// 64 hex digits, equal for two modules only if their executables are interchangeable (BLAKE2b-256
// of the canonical form). Names and source positions do not count.
KEEL_API keel_status_t keel_module_fingerprint(const keel_module_t *module,
                                               char out[KEEL_FINGERPRINT_SIZE]) KEEL_MUST_CHECK;

// NULL if an executable of this module may be kept and reused, otherwise the reason why not. Lives
// as long as the module.
KEEL_API const char *keel_module_uncacheable(const keel_module_t *module);

#ifdef __cplusplus
}
#endif

#endif // KEEL_MODULE_H_
