// JAX names the scope of a backward pass: "jit(step)/transpose(jvp(loss))/dot_general".
#define _GNU_SOURCE // memmem
#include <string.h>

#include "host/host.h"

bool keel_computes_gradient(const keel_program_t *program) {
    static const char scope[] = "transpose(jvp(";
    if (program->format != KEEL_FORMAT_MLIR) return false;
    for (uint32_t i = 0; i < program->strings.count; ++i) {
        keel_str_t text = keel_program_str(program, i);
        if (text.size >= sizeof scope && memmem(text.data, text.size, scope, sizeof scope - 1))
            return true;
    }
    return false;
}
