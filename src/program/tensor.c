#include "program/program.h"

// Bytes of one element, both parts if complex; 0 for a type without elements.
static uint32_t element_bytes(const keel_program_t *program, keel_type_id_t id) {
    uint32_t parts = 1;
    for (unsigned depth = 0; depth < 4; ++depth) {
        const keel_type_t *type = &program->types.data[id];
        switch (type->kind) {
            case KEEL_TYPE_INTEGER:
                return type->a && type->a <= 1u << 16 ? (type->a + 7) / 8 * parts : 0;
            case KEEL_TYPE_FLOAT: {
                static const uint8_t bits[] = {
#define BITS(name, text, storage) storage,
                    KEEL_FLOATS(BITS)
#undef BITS
                };
                return type->a < KEEL_FLOAT_COUNT ? (bits[type->a] + 7u) / 8 * parts : 0;
            }
            case KEEL_TYPE_INDEX:
                return 8 * parts;
            case KEEL_TYPE_COMPLEX:
                parts *= 2;
                id = type->a;
                break;
            case KEEL_TYPE_QUANTIZED:
                id = type->a;
                break;
            default:
                return 0;
        }
    }
    return 0;
}

static bool count_elements(keel_ints_t dims, uint64_t *out) {
    uint64_t count = 1;
    bool empty = false, overflow = false;
    for (uint32_t i = 0; i < dims.count; ++i) {
        if (dims.items[i] < 0) return false;
        empty |= dims.items[i] == 0;
        overflow |= __builtin_mul_overflow(count, (uint64_t)dims.items[i], &count);
    }
    *out = empty ? 0 : count;
    return empty || !overflow;
}

static keel_status_t misfit(keel_bytes_t blob) {
    return keel_status_make(KEEL_CORRUPT, "a constant of %zu bytes does not fit its type",
                            blob.size);
}

// Bools have two encodings, and a blob of one byte may be a splat: try them in this order.
static keel_status_t view_bools(keel_tensor_view_t *view) {
    uint64_t size = view->bytes.size, count = view->count;
    view->is_bool = true;
    if (size == 1 && view->bytes.data[0] == 0xff)
        view->is_splat = count > 1;
    else if (size == count / 8 + (count % 8 != 0) && size != count)
        view->is_packed = true;
    else if (size == 1 && count > 1)
        view->is_splat = true;
    else if (size != count)
        return misfit(view->bytes);
    return NULL;
}

keel_status_t keel_program_tensor(const keel_program_t *program, keel_type_id_t id,
                                  keel_bytes_t blob, keel_tensor_view_t *out) {
    if (id >= program->types.count) return misfit(blob);
    const keel_type_t *type = &program->types.data[id];
    keel_tensor_view_t view = {.bytes = blob};
    if (type->kind != KEEL_TYPE_TENSOR && type->kind != KEEL_TYPE_BUFFER) return misfit(blob);
    view.element_size = element_bytes(program, type->a);
    if (!view.element_size || !count_elements(keel_program_ints(program, type->b), &view.count))
        return misfit(blob);

    const keel_type_t *element = &program->types.data[type->a];
    uint64_t full;
    if (view.count == 0) {
        // MLIR writes one element for a splat, even of no elements.
        if (blob.size && blob.size != view.element_size) return misfit(blob);
        view.bytes.size = 0;
    } else if (element->kind == KEEL_TYPE_INTEGER && element->a == 1) {
        KEEL_TRY(view_bools(&view));
    } else if (__builtin_mul_overflow(view.count, view.element_size, &full) || full != blob.size) {
        if (blob.size != view.element_size) return misfit(blob);
        view.is_splat = true;
    }
    *out = view;
    return NULL;
}

bool keel_tensor_bool(const keel_tensor_view_t *tensor, uint64_t at) {
    if (tensor->is_splat) at = 0;
    if (tensor->is_packed) return tensor->bytes.data[at / 8] >> (at % 8) & 1;
    return tensor->bytes.data[at] & 1;
}
