// Fourier transforms: keel/complex.h.
#include "tensor/operation.h"

enum { FFT_MAX_RANK = 3 }; // XLA's

typedef enum fft_kind { FFT_FORWARD, FFT_INVERSE, FFT_OF_REAL, FFT_TO_REAL } fft_kind_t;
static const char *const names[] = {"fft", "ifft", "rfft", "irfft"};

// ---- public functions ---------------------------------------------------------------------------

static bool takes(fft_kind_t kind, keel_dtype_t dtype) {
    return kind == FFT_OF_REAL ? dtype == KEEL_F32 || dtype == KEEL_F64 : dtype_is_complex(dtype);
}

static keel_dtype_t gives(fft_kind_t kind, keel_dtype_t dtype) {
    if (kind == FFT_OF_REAL) return dtype == KEEL_F32 ? KEEL_C64 : KEEL_C128;
    return kind == FFT_TO_REAL ? dtype_real(dtype) : dtype;
}

// `size`: of the last dimension of what is real.
static keel_tensor_t transform(keel_context_t *context, fft_kind_t kind, uint32_t x, int rank,
                               int64_t size) {
    const keel_shape_t from = *trace_node_shape(context, x);
    node_spec_t spec = {.kind = NODE_FFT,
                        .op = (int)kind,
                        .dtype = gives(kind, (keel_dtype_t)trace_node(context, x)->dtype),
                        .shape = from,
                        .words = from.dims + from.rank - rank,
                        .word_count = (uint32_t)rank};
    int64_t lengths[FFT_MAX_RANK];
    memcpy(lengths, spec.words, (size_t)rank * sizeof *lengths);
    lengths[rank - 1] = size;
    spec.words = lengths;
    if (kind == FFT_OF_REAL) spec.shape.dims[from.rank - 1] = size / 2 + 1;
    if (kind == FFT_TO_REAL) spec.shape.dims[from.rank - 1] = size;
    return trace_add(context, &spec, &x, 1);
}

// `size` is 0 where it follows from x.
static keel_tensor_t begin(keel_caller_t site, fft_kind_t kind, keel_tensor_t x, int rank,
                           int64_t size) {
    uint32_t node;
    const char *what = names[kind];
    keel_context_t *context = ops_begin(site, what, &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    const keel_shape_t *shape = trace_node_shape(context, node);
    if (!takes(kind, (keel_dtype_t)trace_node(context, node)->dtype))
        return ops_refuse(context, what, node,
                          kind == FFT_OF_REAL ? "is neither f32 nor f64; keel_cast it, or keel_fft"
                                              : "is not complex; keel_cast it, or keel_rfft");
    if (rank < 1 || rank > FFT_MAX_RANK || rank > shape->rank)
        return ops_refuse(context, what, node, "does not have so many dimensions, of at most 3");
    for (int32_t i = shape->rank - rank; i < shape->rank; ++i)
        if (!shape->dims[i]) return ops_refuse(context, what, node, "has nothing to transform");
    int64_t last = shape->dims[shape->rank - 1];
    if (kind == FFT_TO_REAL && (size < 1 || size / 2 + 1 != last))
        return ops_refuse(context, what, node, "is not the half of a transform of that size");
    return transform(context, kind, node, rank, kind == FFT_TO_REAL ? size : last);
}

keel_tensor_t keel_fft_at(keel_caller_t site, keel_tensor_t x, int rank) {
    return begin(site, FFT_FORWARD, x, rank, 0);
}

keel_tensor_t keel_ifft_at(keel_caller_t site, keel_tensor_t x, int rank) {
    return begin(site, FFT_INVERSE, x, rank, 0);
}

keel_tensor_t keel_rfft_at(keel_caller_t site, keel_tensor_t x, int rank) {
    return begin(site, FFT_OF_REAL, x, rank, 0);
}

keel_tensor_t keel_irfft_at(keel_caller_t site, keel_tensor_t x, int rank, int64_t size) {
    return begin(site, FFT_TO_REAL, x, rank, size);
}

// ---- in HLO -------------------------------------------------------------------------------------

static keel_status_t emit_fft(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0};
    const keel_attr_t kind = {
        .kind = KEEL_ATTR_ENUM, .klass = KEEL_ENUM_FFT_TYPE, .a = (uint32_t)item->node->op};
    keel_attr_id_t attr;
    if (item->node->op != FFT_FORWARD) { // a default is left out
        KEEL_TRY(keel_program_add_attr(e->program, kind, &attr));
        KEEL_TRY(emit_field(e, &fields, "fft_type", attr));
    }
    KEEL_TRY(emit_ints(e, &fields, "fft_length", item->words, item->node->word_count));
    return emit_plain(e, item, "fft", &fields, out);
}

// ---- gradients ----------------------------------------------------------------------------------

// x -> fft(x)[..., :n / 2 + 1], from the right: zeros for the rest, transformed, without what is
// imaginary.
static keel_tensor_t of_half(const rule_t *rule, int rank, int64_t size) {
    int64_t missing = size - keel_shape(rule->gradient).dims[keel_shape(rule->gradient).rank - 1];
    keel_tensor_t whole = keel_pad_at(rule->site, rule->gradient, -1, 0, missing);
    return keel_real_at(rule->site, keel_fft_at(rule->site, whole, rank));
}

// Each element of the half but the first, and the last of an even size, counts twice.
static keel_tensor_t of_whole(const rule_t *rule, int rank, const int64_t *lengths) {
    keel_caller_t site = rule->site;
    keel_tensor_t half = keel_rfft_at(site, rule->gradient, rank);
    const keel_shape_t shape = keel_shape(half);
    if (keel_is_empty(half)) return half;
    const int64_t size = lengths[rank - 1];
    double scale = 1;
    for (int i = 0; i < rank; ++i)
        scale /= (double)lengths[i];
    keel_tensor_t places =
        keel_iota_at(site, rule->context, KEEL_I32, KEEL_SHAPE(shape.dims[shape.rank - 1]), 0);
    keel_tensor_t end = keel_constant_at(site, places, size % 2 ? -1 : (double)(size / 2));
    keel_tensor_t is_once = keel_binary_at(
        site, KEEL_OP_OR,
        keel_compare_at(site, KEEL_OP_EQUAL, places, keel_constant_at(site, places, 0)),
        keel_compare_at(site, KEEL_OP_EQUAL, places, end));
    keel_tensor_t counts = keel_select_at(site, is_once, keel_constant_at(site, half, scale),
                                          keel_constant_at(site, half, 2 * scale));
    return keel_conj_at(site, keel_binary_at(site, KEEL_OP_MULTIPLY, half, counts));
}

static keel_tensor_t gradient_fft(const rule_t *rule, int which) {
    const int rank = (int)rule->node.word_count;
    int64_t lengths[FFT_MAX_RANK];
    (void)which;
    memcpy(lengths, trace_words(&rule->context->trace, &rule->node),
           (size_t)rank * sizeof *lengths);
    switch ((fft_kind_t)rule->node.op) {
        case FFT_FORWARD:
            return keel_fft_at(rule->site, rule->gradient, rank);
        case FFT_INVERSE:
            return keel_ifft_at(rule->site, rule->gradient, rank);
        case FFT_OF_REAL:
            return of_half(rule, rank, lengths[rank - 1]);
        case FFT_TO_REAL:
            return of_whole(rule, rank, lengths);
    }
    return (keel_tensor_t){0};
}

const operation_t operation_fft = {emit_fft, gradient_fft, SHARDING_OF_OPERANDS};
