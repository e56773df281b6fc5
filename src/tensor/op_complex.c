// The parts of complex numbers. With those gradients that JAX has: of what is holomorphic the rules
// of real numbers hold, and nothing is conjugated on the way.
#include "tensor/operation.h"

#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))

enum { REAL_PART, IMAGINARY_PART };

// ---- public functions ---------------------------------------------------------------------------

keel_tensor_t keel_complex_at(keel_caller_t site, keel_tensor_t real, keel_tensor_t imaginary) {
    uint32_t nodes[2];
    keel_context_t *context =
        ops_begin(site, "complex", (keel_tensor_t[]){real, imaginary}, 2, nodes);
    if (!context || !ops_meet(context, "complex", nodes)) return (keel_tensor_t){0};
    keel_dtype_t dtype = (keel_dtype_t)trace_node(context, nodes[0])->dtype;
    if (dtype != KEEL_F32 && dtype != KEEL_F64)
        return ops_refuse(context, "complex", nodes[0], "is neither f32 nor f64; keel_cast it");
    const node_spec_t spec = {.kind = NODE_COMPLEX,
                              .dtype = dtype == KEEL_F32 ? KEEL_C64 : KEEL_C128,
                              .shape = *trace_node_shape(context, nodes[0])};
    return trace_add(context, &spec, nodes, 2);
}

static keel_tensor_t part_of(keel_caller_t site, const char *what, int part, keel_tensor_t x) {
    uint32_t node;
    keel_context_t *context = ops_begin(site, what, &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    keel_dtype_t dtype = (keel_dtype_t)trace_node(context, node)->dtype;
    if (!dtype_is_complex(dtype)) return ops_refuse(context, what, node, "is not complex");
    const node_spec_t spec = {.kind = NODE_COMPLEX_PART,
                              .op = part,
                              .dtype = dtype_real(dtype),
                              .shape = *trace_node_shape(context, node)};
    return trace_add(context, &spec, &node, 1);
}

keel_tensor_t keel_real_at(keel_caller_t site, keel_tensor_t x) {
    return part_of(site, "real", REAL_PART, x);
}

keel_tensor_t keel_imag_at(keel_caller_t site, keel_tensor_t x) {
    return part_of(site, "imag", IMAGINARY_PART, x);
}

keel_tensor_t keel_angle_at(keel_caller_t site, keel_tensor_t x) {
    keel_tensor_t real = part_of(site, "angle", REAL_PART, x);
    return BINARY(ATAN2, part_of(site, "angle", IMAGINARY_PART, x), real);
}

keel_tensor_t keel_conj_at(keel_caller_t site, keel_tensor_t x) {
    keel_tensor_t real = part_of(site, "conj", REAL_PART, x);
    keel_tensor_t imaginary = part_of(site, "conj", IMAGINARY_PART, x);
    return keel_complex_at(site, real, keel_unary_at(site, KEEL_OP_NEGATE, imaginary));
}

// ---- in HLO, and gradients ----------------------------------------------------------------------

static keel_status_t emit_complex(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_plain(e, item, "complex", NULL, out);
}

static keel_status_t emit_complex_part(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_plain(e, item, item->node->op == REAL_PART ? "real" : "imag", NULL, out);
}

static keel_tensor_t gradient_complex(const rule_t *rule, int which) {
    keel_caller_t site = rule->site;
    if (!which) return keel_real_at(site, rule->gradient);
    return keel_unary_at(site, KEEL_OP_NEGATE, keel_imag_at(site, rule->gradient));
}

static keel_tensor_t gradient_complex_part(const rule_t *rule, int which) {
    keel_caller_t site = rule->site;
    (void)which;
    keel_tensor_t zero = gradient_constant(rule, 0);
    if (rule->node.op == REAL_PART) return keel_complex_at(site, rule->gradient, zero);
    return keel_complex_at(site, zero, keel_unary_at(site, KEEL_OP_NEGATE, rule->gradient));
}

const operation_t operation_complex = {emit_complex, gradient_complex, SHARDING_OF_OPERANDS};
const operation_t operation_complex_part = {emit_complex_part, gradient_complex_part,
                                            SHARDING_OF_OPERANDS};
