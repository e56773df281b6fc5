#include "needs/internal.h"

// Names of VHLO, Shardy and HLO, in which - is written as _. What both have stands once.
// Sources: openxla/stablehlo VhloOps.td, openxla/shardy ops.td, openxla/xla hlo_opcode.h.
// clang-format off
#define PLAIN(name, work)  {#name, NEEDS_PLAIN, NEEDS_##work, NEEDS_ANYWHERE}
#define RULE(name, rule)   {#name, NEEDS_##rule, NEEDS_FREE, NEEDS_ANYWHERE}
#define HOST(name)         {#name, NEEDS_PLAIN, NEEDS_MADE, NEEDS_HOST}
#define DEVICES(name)      {#name, NEEDS_PLAIN, NEEDS_MADE, NEEDS_DEVICES}
// In order of name.
static const needs_fact_t facts[] = {
    PLAIN(abs, MADE),
    PLAIN(acos, MADE),
    PLAIN(acosh, MADE),
    PLAIN(add, MADE),
    PLAIN(add_dependency, FREE),
    PLAIN(after_all, FREE),
    DEVICES(all_gather),
    DEVICES(all_gather_done),
    DEVICES(all_gather_start),
    DEVICES(all_reduce),
    DEVICES(all_reduce_done),
    DEVICES(all_reduce_start),
    DEVICES(all_to_all),
    PLAIN(and, MADE),
    PLAIN(asin, MADE),
    PLAIN(asinh, MADE),
    HOST(async_done),
    HOST(async_start),
    HOST(async_update),
    PLAIN(atan2, MADE),
    PLAIN(atanh, MADE),
    PLAIN(batch_norm_grad, TAKEN),
    PLAIN(batch_norm_inference, TAKEN),
    PLAIN(batch_norm_training, TAKEN),
    PLAIN(bitcast, MADE),
    PLAIN(bitcast_convert, MADE),
    PLAIN(broadcast, MADE),
    PLAIN(broadcast_in_dim, MADE),
    RULE(call, CALL),
    RULE(case, BRANCHES),
    PLAIN(cbrt, MADE),
    PLAIN(ceil, MADE),
    PLAIN(cholesky, SOLVE),
    PLAIN(clamp, MADE),
    DEVICES(collective_broadcast),
    DEVICES(collective_permute),
    DEVICES(collective_permute_done),
    DEVICES(collective_permute_start),
    DEVICES(collective_reduce),
    PLAIN(compare, MADE),
    PLAIN(complex, MADE),
    RULE(composite, NAMED),
    PLAIN(concatenate, MADE),
    RULE(conditional, BRANCHES),
    PLAIN(constant, FREE),
    PLAIN(convert, MADE),
    PLAIN(convolution, CONVOLUTION),
    PLAIN(copy, MADE),
    PLAIN(copy_done, MADE),
    PLAIN(copy_start, MADE),
    PLAIN(cosh, MADE),
    PLAIN(cosine, MADE),
    PLAIN(count_leading_zeros, MADE),
    PLAIN(create_token, FREE),
    DEVICES(cross_replica_sum),
    {"custom_call", NEEDS_NAMED, NEEDS_TAKEN, NEEDS_TARGET},
    PLAIN(divide, MADE),
    PLAIN(domain, FREE),
    PLAIN(dot, DOT),
    PLAIN(dot_general, DOT),
    PLAIN(dynamic_broadcast_in_dim, MADE),
    PLAIN(dynamic_conv, CONVOLUTION),
    PLAIN(dynamic_gather, MADE),
    PLAIN(dynamic_iota, MADE),
    PLAIN(dynamic_pad, MADE),
    PLAIN(dynamic_reshape, MADE),
    PLAIN(dynamic_slice, MADE),
    PLAIN(dynamic_update_slice, MADE),
    PLAIN(einsum, SOLVE),
    PLAIN(erf, MADE),
    PLAIN(exp2, MADE),
    PLAIN(exponential, MADE),
    PLAIN(exponential_minus_one, MADE),
    PLAIN(fft, TRANSFORM),
    PLAIN(floor, MADE),
    PLAIN(fma, MADE),
    PLAIN(fusion, FREE),
    PLAIN(gather, MADE),
    PLAIN(get_dimension_size, FREE),
    RULE(get_tuple_element, ELEMENT),
    RULE(if, BRANCHES),
    PLAIN(imag, MADE),
    HOST(infeed),
    PLAIN(iota, MADE),
    PLAIN(is_finite, MADE),
    PLAIN(log, MADE),
    PLAIN(log2, MADE),
    PLAIN(log_plus_one, MADE),
    PLAIN(logistic, MADE),
    {"manual_computation", NEEDS_MANUAL, NEEDS_FREE, NEEDS_DEVICES},
    PLAIN(map, MADE),
    PLAIN(maximum, MADE),
    PLAIN(mesh, FREE),
    PLAIN(minimum, MADE),
    PLAIN(multiply, MADE),
    PLAIN(named_computation, FREE),
    PLAIN(negate, MADE),
    PLAIN(not, MADE),
    RULE(opt_barrier, BARRIER),
    RULE(optimization_barrier, BARRIER),
    PLAIN(or, MADE),
    HOST(outfeed),
    PLAIN(pad, MADE),
    RULE(parameter, NOTHING),
    DEVICES(partition_id),
    PLAIN(popcnt, MADE),
    PLAIN(power, MADE),
    PLAIN(propagation_barrier, FREE),
    PLAIN(ragged_dot, DOT),
    PLAIN(real, MADE),
    PLAIN(real_dynamic_slice, MADE),
    HOST(recv),
    HOST(recv_done),
    PLAIN(reduce, TAKEN),
    PLAIN(reduce_precision, MADE),
    DEVICES(reduce_scatter),
    PLAIN(reduce_window, WINDOW),
    PLAIN(remainder, MADE),
    DEVICES(replica_id),
    PLAIN(reshape, FREE),
    PLAIN(reshard, FREE),
    PLAIN(return, FREE),
    PLAIN(reverse, MADE),
    HOST(rng),
    {"rng_bit_generator", NEEDS_PLAIN, NEEDS_MADE, NEEDS_BITS},
    HOST(rng_get_and_update_state),
    PLAIN(round_nearest_afz, MADE),
    PLAIN(round_nearest_even, MADE),
    PLAIN(rsqrt, MADE),
    PLAIN(scaled_dot, DOT),
    PLAIN(scan, TAKEN),
    PLAIN(scatter, TAKEN),
    PLAIN(select, MADE),
    PLAIN(select_and_scatter, TAKEN),
    HOST(send),
    HOST(send_done),
    PLAIN(set_dimension_size, MADE),
    PLAIN(sharding_constraint, FREE),
    PLAIN(sharding_group, FREE),
    PLAIN(shift_left, MADE),
    PLAIN(shift_right_arithmetic, MADE),
    PLAIN(shift_right_logical, MADE),
    PLAIN(sign, MADE),
    PLAIN(sine, MADE),
    PLAIN(sinh, MADE),
    PLAIN(slice, MADE),
    PLAIN(sort, SORT),
    PLAIN(sqrt, MADE),
    PLAIN(stochastic_convert, MADE),
    PLAIN(subtract, MADE),
    PLAIN(tan, MADE),
    PLAIN(tanh, MADE),
    PLAIN(topk, SORT),
    PLAIN(torch_index_select, MADE),
    PLAIN(transpose, MADE),
    PLAIN(triangular_solve, SOLVE),
    RULE(tuple, TUPLE),
    PLAIN(unary_einsum, TAKEN),
    PLAIN(uniform_dequantize, MADE),
    PLAIN(uniform_quantize, MADE),
    PLAIN(unrealized_conversion_cast, FREE),
    RULE(while, LOOP),
    PLAIN(xor, MADE),
};
// clang-format on

// The order of a name of either format and one of the table.
static int compare(keel_str_t name, const char *with) {
    for (size_t i = 0;; ++i) {
        unsigned char a = i < name.size ? (unsigned char)name.data[i] : 0;
        unsigned char b = (unsigned char)with[i];
        if (a == '-') a = '_';
        if (a != b || i == name.size) return a - b;
    }
}

const needs_fact_t *needs_fact(keel_str_t name) {
    size_t low = 0, high = sizeof facts / sizeof *facts;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(name, facts[middle].name);
        if (order == 0) return &facts[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

// A scatter puts elements where they belong; what a custom call does is unknown.
static bool combines(const needs_fact_t *fact) {
    switch (fact->work) {
        case NEEDS_TAKEN:
            return fact->trouble != NEEDS_TARGET && strcmp(fact->name, "scatter") != 0;
        case NEEDS_DOT:
        case NEEDS_CONVOLUTION:
        case NEEDS_WINDOW:
        case NEEDS_TRANSFORM:
        case NEEDS_SOLVE:
            return true;
        default:
            return false;
    }
}

bool keel_needs_combines(const keel_program_t *program) {
    for (uint32_t i = 0; i < program->op_names.count; ++i) {
        const needs_fact_t *fact =
            needs_fact(keel_program_str(program, program->op_names.data[i].name));
        if (fact && combines(fact)) return true;
    }
    return false;
}

bool keel_needs_meets(const keel_program_t *program) {
    for (uint32_t i = 0; i < program->op_names.count; ++i) {
        const needs_fact_t *fact =
            needs_fact(keel_program_str(program, program->op_names.data[i].name));
        if (fact && fact->trouble == NEEDS_DEVICES) return true;
    }
    return false;
}

needs_trouble_t needs_trouble_of(keel_str_t target) {
    // XLA itself expands them before a backend sees them.
    static const char *const anywhere[] = {
        "Eigh", "LayoutConstraint", "ProductOfElementaryHouseholderReflectors",
        "Qr",   "Sharding",         "xla.sdy.FuncResultSharding",
        NULL};
    static const char *const devices[] = {"SPMDFullToShardShape", "SPMDShardToFullShape",
                                          "xla.sdy.GlobalToLocalShape",
                                          "xla.sdy.LocalToGlobalShape", NULL};
    if (keel_str_is_one_of(target, anywhere)) return NEEDS_ANYWHERE;
    return keel_str_is_one_of(target, devices) ? NEEDS_DEVICES : NEEDS_HOST;
}

bool needs_is_placement(keel_str_t target) {
    static const char *const targets[] = {"MoveToDevice", "MoveToHost", "annotate_device_placement",
                                          NULL};
    return keel_str_is_one_of(target, targets);
}
