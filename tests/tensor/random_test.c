// Random graphs over the public functions: shapes, dtypes, operations, bodies and gradients, with
// and without misuse. Nothing may crash, leak or hang; a step either runs or names an error with a
// line. What is computed is held against JAX elsewhere (random_graphs.py).
//
// Usage: random_test [FIRST-SEED COUNT]
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "compiler_leaks.h"
#include "unit/place.h"

#include "keel/keel.h"

enum { POOL = 24, DEEPEST = 3, ALL_AT_ONCE = 4 };

typedef struct graph_t {
    uint64_t state;
    keel_context_t *keel, *other;
    keel_tensor_t pool[POOL]; // what operands are drawn from; places are taken again
    uint32_t added;
    int depth, budget;
    bool is_clean; // no misuse on purpose
    keel_shape_t carry;
} graph_t;

// ---- drawing -----------------------------------------------------------------------------------

static uint32_t draw(graph_t *graph, uint32_t below) {
    graph->state ^= graph->state << 13;
    graph->state ^= graph->state >> 7;
    graph->state ^= graph->state << 17;
    return (uint32_t)((graph->state >> 16) % below);
}

static bool one_in(graph_t *graph, uint32_t n) {
    return !draw(graph, n);
}

static bool misuses(graph_t *graph) {
    return !graph->is_clean && one_in(graph, 150);
}

static void add(graph_t *graph, keel_tensor_t x) {
    if (keel_is_empty(x) && graph->is_clean) return;
    graph->pool[graph->added++ % POOL] = x;
}

static keel_tensor_t any(graph_t *graph) {
    uint32_t count = graph->added < POOL ? graph->added : POOL;
    return graph->pool[draw(graph, count)];
}

static bool is_float(keel_tensor_t x) {
    return keel_dtype(x) == KEEL_F32 || keel_dtype(x) == KEEL_F64 || keel_dtype(x) == KEEL_BF16;
}

static keel_tensor_t any_float(graph_t *graph) {
    for (int i = 0; i < 2 * POOL; ++i) {
        keel_tensor_t x = any(graph);
        if (is_float(x)) return x;
    }
    return graph->pool[0];
}

static keel_dtype_t any_dtype(graph_t *graph) {
    static const keel_dtype_t common[] = {KEEL_F32, KEEL_F32, KEEL_F64, KEEL_BF16,
                                          KEEL_I32, KEEL_I64, KEEL_U8,  KEEL_BOOL};
    if (!graph->is_clean) return (keel_dtype_t)draw(graph, KEEL_DTYPE_COUNT + 1);
    return common[draw(graph, 8)];
}

static keel_shape_t any_shape(graph_t *graph) {
    keel_shape_t shape = {.rank = (int32_t)draw(graph, 4)};
    if (misuses(graph)) shape.rank = (int32_t)draw(graph, 12) - 1;
    for (int32_t i = 0; i < shape.rank && i < KEEL_MAX_RANK; ++i)
        shape.dims[i] = misuses(graph) ? (int64_t)draw(graph, 3) * (INT64_MAX / 2) - 1
                                       : (int64_t)draw(graph, 4);
    return shape;
}

static keel_tensor_t source(graph_t *graph) {
    static const double data[64 * 4] = {0.5, -0.25};
    keel_shape_t shape = any_shape(graph);
    keel_dtype_t dtype = any_dtype(graph);
    switch (draw(graph, 5)) {
        case 0:
            return keel_input(graph->keel, "i", dtype, shape, data);
        case 1:
            if (graph->is_clean) return keel_iota(graph->keel, KEEL_I32, KEEL_SHAPE(3, 2), 1);
            return keel_iota(graph->keel, dtype, shape, (int)draw(graph, 3));
        case 2:
            return keel_constant(any(graph), draw(graph, 5));
        default:
            return keel_number(any(graph), draw(graph, 5));
    }
}

// ---- operations --------------------------------------------------------------------------------

static keel_axes_t any_axes(graph_t *graph, keel_tensor_t x) {
    int32_t rank = keel_shape(x).rank;
    keel_axes_t axes = {0};
    for (int32_t i = 0; i < rank; ++i)
        if (one_in(graph, 2)) axes.items[axes.count++] = i;
    if (misuses(graph)) axes.items[axes.count < KEEL_MAX_RANK ? axes.count++ : 0] = 7;
    return axes;
}

static keel_tensor_t elementwise(graph_t *graph) {
    keel_tensor_t x = any_float(graph), y = any(graph);
    switch (draw(graph, 6)) {
        case 0: // of any dtype: refused for some
            if (graph->is_clean) return keel_sin(x);
            return keel_unary_at(KEEL_HERE, (keel_unary_op_t)draw(graph, KEEL_UNARY_OP_COUNT + 1),
                                 y);
        case 1:
            if (graph->is_clean) return keel_multiply(x, keel_tanh(x));
            return keel_binary_at(KEEL_HERE, (keel_binary_op_t)draw(graph, KEEL_BINARY_OP_COUNT), x,
                                  y);
        case 2:
            return keel_select(keel_less(x, keel_number(x, 0.5)), x, keel_constant(x, 2));
        case 3:
            return keel_cast(y, any_dtype(graph));
        case 4:
            return keel_add(x, keel_number(x, 1));
        default:
            return keel_multiply(x, keel_reduce_at(KEEL_HERE, KEEL_OP_SUM, x, keel_all_axes(x)));
    }
}

static keel_tensor_t product(graph_t *graph, keel_tensor_t x) {
    keel_shape_t shape = keel_shape(x);
    if (shape.rank < 2 && graph->is_clean) return keel_gelu(x);
    keel_axes_t back = {.count = shape.rank};
    for (int32_t i = 0; i < shape.rank; ++i)
        back.items[i] = i;
    if (shape.rank > 1) {
        back.items[shape.rank - 1] = shape.rank - 2;
        back.items[shape.rank - 2] = shape.rank - 1;
    }
    return keel_matmul(x, one_in(graph, 9) && !graph->is_clean ? x : keel_transpose(x, back));
}

static keel_tensor_t pool(graph_t *graph, keel_tensor_t x) {
    keel_shape_t shape = keel_shape(x);
    keel_window_t window = {.count = shape.rank ? 1 + (int32_t)draw(graph, 2) : 0};
    if (window.count > shape.rank && graph->is_clean) window.count = shape.rank;
    for (int32_t i = 0; i < 2; ++i) {
        window.size[i] = 1 + (int64_t)draw(graph, 3);
        window.stride[i] = misuses(graph) ? -1 : (int64_t)draw(graph, 3);
        window.before[i] = misuses(graph) ? INT64_MAX : (int64_t)draw(graph, 2);
    }
    keel_reduce_op_t op = (keel_reduce_op_t)draw(graph, graph->is_clean ? 3 : KEEL_REDUCE_OP_COUNT);
    return keel_reduce_window(op, x, &window);
}

static keel_tensor_t spectrum(graph_t *graph, keel_tensor_t x) {
    keel_shape_t shape = keel_shape(x);
    int64_t size = shape.rank ? shape.dims[shape.rank - 1] : 0;
    int rank = misuses(graph) ? (int)draw(graph, 6) - 1 : 1;
    if (!size && graph->is_clean) return x;
    if (keel_dtype(x) == KEEL_BF16 && graph->is_clean) x = keel_cast(x, KEEL_F32);
    keel_tensor_t half = keel_rfft(x, rank);
    if (misuses(graph)) return one_in(graph, 2) ? half : keel_fft(half, rank);
    half = keel_multiply(half, keel_complex(keel_real(half), keel_abs(half)));
    return keel_irfft(half, rank, misuses(graph) ? size + 1 : size);
}

static keel_tensor_t shaping(graph_t *graph) {
    keel_tensor_t x = any(graph);
    keel_shape_t shape = keel_shape(x);
    int axis = shape.rank ? (int)draw(graph, (uint32_t)shape.rank) : 0;
    if (!shape.rank && graph->is_clean) return keel_broadcast(x, KEEL_SHAPE(2, 3));
    int64_t size = shape.rank ? shape.dims[axis] : 1;
    switch (draw(graph, 9)) {
        case 0:
            return keel_slice(x, axis, 0, size - (size > 1));
        case 1:
            if (graph->is_clean && size > 8) return x;
            return keel_pad(x, axis, 1, misuses(graph) ? -1 : 0);
        case 2:
            return keel_concatenate(x, size > 8 ? any(graph) : x, axis);
        case 3:
            if (keel_dtype(x) == KEEL_BOOL && graph->is_clean) return x;
            return keel_reduce_at(
                KEEL_HERE,
                (keel_reduce_op_t)draw(graph, graph->is_clean ? 4 : KEEL_REDUCE_OP_COUNT + 1), x,
                any_axes(graph, x));
        case 4:
            return product(graph, any_float(graph));
        case 5:
            if (graph->is_clean && (!is_float(x) || !size)) return x;
            return keel_softmax(x, axis);
        case 6:
            return pool(graph, any_float(graph));
        case 7:
            return spectrum(graph, any_float(graph));
        default:
            if (graph->is_clean && !shape.dims[0]) return x;
            return keel_take(x, keel_iota(graph->keel, KEEL_I32, KEEL_SHAPE(2), 0));
    }
}

// ---- misuse ------------------------------------------------------------------------------------

static keel_tensor_t wrong(graph_t *graph) {
    keel_tensor_t x = any(graph), y = {0};
    float value;
    switch (draw(graph, 7)) {
        case 0:
            return (keel_tensor_t){0};
        case 1:
            return keel_variable(graph->other, "o", KEEL_F32, KEEL_SHAPE(1), NULL);
        case 2:
            x.id += draw(graph, 3);
            return x;
        case 3:
            x.step += draw(graph, 3);
            return x;
        case 4:
            keel_status_ignore(keel_read(x, &value, sizeof value));
            return x;
        case 5:
            keel_assign(x, any(graph));
            return x;
        default:
            if (graph->depth) keel_step_discard(graph->keel);
            keel_barrier(&x, 1, &y);
            return y;
    }
}

// ---- bodies ------------------------------------------------------------------------------------

static void grow(graph_t *graph, int steps);

// What a body traces is drawn from by nothing outside, except on purpose.
typedef struct saved_t {
    keel_tensor_t pool[POOL];
    uint32_t added;
} saved_t;

static void enter(graph_t *graph, saved_t *saved) {
    memcpy(saved->pool, graph->pool, sizeof saved->pool);
    saved->added = graph->added;
    ++graph->depth;
}

static void leave(graph_t *graph, const saved_t *saved) {
    --graph->depth;
    if (misuses(graph)) return;
    memcpy(graph->pool, saved->pool, sizeof saved->pool);
    graph->added = saved->added;
}

// A float of the shape and dtype of `like`, of a few operations on anything.
static keel_tensor_t like_it(graph_t *graph, keel_tensor_t like) {
    keel_tensor_t x = any_float(graph);
    if (misuses(graph)) return x;
    keel_tensor_t sum = keel_sum(x, keel_all_axes(x));
    return keel_multiply(like, keel_tanh(keel_cast(sum, keel_dtype(like))));
}

static void step(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    graph_t *graph = user;
    saved_t saved;
    enter(graph, &saved);
    keel_tensor_t carry = in[0];
    add(graph, in[0]);
    grow(graph, 3);
    out[0] = like_it(graph, carry);
    leave(graph, &saved);
}

static void step_of_scan(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    graph_t *graph = user;
    saved_t saved;
    enter(graph, &saved);
    add(graph, in[0]);
    add(graph, in[1]);
    grow(graph, 3);
    out[0] = like_it(graph, in[0]);
    out[1] = like_it(graph, in[1]);
    leave(graph, &saved);
}

static void condition(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = keel_less(in[1], keel_number(in[1], 3));
}

static void count_up(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    step(user, in, out);
    out[1] = keel_add(in[1], keel_number(in[1], 1));
}

static keel_tensor_t branch_operand;

static void branch(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)in;
    keel_tensor_t operand = branch_operand;
    step(user, &operand, out);
    branch_operand = operand;
}

static void backward(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = keel_multiply(in[2], in[0]);
}

static void layer(void *user, size_t number, const keel_tensor_t *in, keel_tensor_t *out) {
    graph_t *graph = user;
    (void)number;
    out[0] = keel_add(in[0], keel_number(in[0], one_in(graph, 4)));
    out[0] = keel_multiply(out[0], in[1]);
}

static keel_tensor_t loop(graph_t *graph, keel_tensor_t x, keel_save_t save) {
    keel_tensor_t y = any_float(graph), out[2];
    keel_shape_t shape = keel_shape(y);
    if (!shape.rank && graph->is_clean) y = keel_broadcast(y, KEEL_SHAPE(3));
    const keel_scan_t scan = {.carry = &x,
                              .carry_count = 1,
                              .inputs = &y,
                              .input_count = 1,
                              .output_count = 1,
                              .is_reversed = one_in(graph, 2),
                              .save = save};
    keel_scan(graph->keel, step_of_scan, graph, &scan, out);
    add(graph, out[1]);
    return out[0];
}

static keel_tensor_t with_bodies(graph_t *graph) {
    keel_tensor_t x = any_float(graph), out[2] = {{0}};
    keel_save_t save = (keel_save_t)draw(graph, misuses(graph) ? 5 : 3);
    keel_tensor_t i = keel_cast(keel_constant(x, draw(graph, 4)), KEEL_I32);
    keel_tensor_t parameters[] = {x, x, x};
    const keel_body_t branches[] = {branch, branch, branch};
    const keel_layers_t layers = {&x, 1, parameters, 1, 3, save, draw(graph, 3), one_in(graph, 2)};
    const keel_custom_t custom = {step, misuses(graph) ? step : backward, graph, &x, 1, 1, 0};
    const keel_tensor_t counted[] = {x, i};
    branch_operand = x;
    switch (draw(graph, 8)) {
        case 0:
        case 1:
            return loop(graph, x, save);
        case 2:
            keel_checkpoint(graph->keel, step, graph, save, &x, 1, 1, out);
            break;
        case 3:
            keel_cond(keel_less(i, keel_number(i, 2)), branch, branch, graph, 1, out);
            break;
        case 4:
            keel_switch(i, branches, 1 + draw(graph, 3), graph, 1, out);
            break;
        case 5:
            keel_custom_gradient(graph->keel, &custom, out);
            break;
        case 6:
            keel_layers(graph->keel, layer, graph, &layers, out);
            break;
        default:
            keel_while(graph->keel, condition, count_up, graph, counted, 2, out);
            out[0] = keel_stop_gradient(out[0]);
    }
    return out[0];
}

static void gradients(graph_t *graph) {
    keel_tensor_t y = any_float(graph), x[2] = {any_float(graph), any_float(graph)}, out[2];
    keel_gradients(keel_sum(y, keel_all_axes(y)), x, 2, out);
    add(graph, out[0]);
    add(graph, out[1]);
}

static void grow(graph_t *graph, int steps) {
    for (int i = 0; i < steps && graph->budget-- > 0; ++i) {
        uint32_t which = draw(graph, 21);
        if (misuses(graph))
            add(graph, wrong(graph));
        else if (which < 6)
            add(graph, elementwise(graph));
        else if (which < 12)
            add(graph, shaping(graph));
        else if (which < 14)
            add(graph, source(graph));
        else if (which < 18 && graph->depth < DEEPEST)
            add(graph, with_bodies(graph));
        else
            gradients(graph);
    }
}

// ---- one seed ----------------------------------------------------------------------------------

static unsigned ran, refused;

static void end(graph_t *graph, uint64_t seed, keel_tensor_t w) {
    keel_tensor_t kept[ALL_AT_ONCE];
    for (int i = 0; i < ALL_AT_ONCE; ++i)
        kept[i] = keel_keep(any(graph));
    keel_assign(w, w);
    keel_status_t status = keel_step_end(graph->keel);
    if (status && keel_status_code(status) == KEEL_INTERNAL)
        fail_msg("seed %d: %s", (int)seed, keel_status_message(status));
    if (status && !strstr(keel_status_message(status), "random_test.c:"))
        fail_msg("seed %d: no line: %s", (int)seed, keel_status_message(status));
    if (status && graph->is_clean)
        print_message("%d: %s\n", (int)seed, keel_status_message(status));
    ++*(status ? &refused : &ran);
    keel_status_ignore(status);
    for (int i = 0; i < ALL_AT_ONCE; ++i)
        keel_release(kept[i]);
}

static void run_seed(keel_context_t *keel, keel_context_t *other, uint64_t seed) {
    static const float data[] = {0.5f, -0.25f, 0.125f, 1, -1, 0.75f};
    graph_t graph = {.state = seed * 0x9e3779b97f4a7c15u + 1,
                     .keel = keel,
                     .other = other,
                     .budget = 40,
                     .is_clean = seed % 2};
    keel_tensor_t w = keel_variable(keel, "w", KEEL_F32, KEEL_SHAPE(2, 3), data);
    add(&graph, w);
    add(&graph, keel_input(keel, "x", KEEL_F32, KEEL_SHAPE(3), data));
    grow(&graph, 14);
    end(&graph, seed, w);
    keel_release(w);
    assert_null(keel_context_error(keel));
}

static uint64_t first_seed = 1, seed_count = 60;

static void random_graphs_run_or_name_their_error(void **state) {
    (void)state;
    keel_context_t *keel, *other;
    assert_ok(keel_context_create(NULL, &keel));
    assert_ok(keel_context_create(NULL, &other));
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; ++seed)
        run_seed(keel, other, seed);
    print_message("%u graphs ran, %u were refused\n", ran, refused);
    assert_true(ran > seed_count / 10);
    keel_context_free(keel);
    keel_context_free(other);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs_run_or_name_their_error)};
    if (count == 3) {
        first_seed = strtoull(arguments[1], NULL, 10);
        seed_count = strtoull(arguments[2], NULL, 10);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
