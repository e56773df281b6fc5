// The programs of the front end, as modules.
#include "keel/module.h"
#include "tensor/tensor.h"

keel_status_t keel_program_text(const keel_context_t *context, char **out) {
    keel_module_t *module;
    if (!context || !out)
        return keel_status_make(KEEL_INVALID, "program_text: no context, or no place for the text");
    *out = NULL;
    const keel_bytes_t hlo = keel_tensor_newest(context);
    if (!hlo.size) return keel_status_make(KEEL_NOT_FOUND, "program_text: there is no program yet");
    KEEL_TRY(keel_module_read(hlo.data, hlo.size, &module));
    keel_status_t status = keel_module_text(module, out);
    keel_module_free(module);
    return status;
}
