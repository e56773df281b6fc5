#include <math.h>
#include <stdio.h>

#include "explain/pair.h"

// The first operation from `from` to `end` that takes the value, and as which operand.
static keel_op_id_t first_user(const keel_program_t *program, keel_op_id_t from, keel_op_id_t end,
                               keel_value_id_t value, uint32_t *out_operand) {
    for (keel_op_id_t op = from; op < end; ++op) {
        keel_list_t operands = keel_program_operands(program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            if (operands.items[i] != value) continue;
            *out_operand = i;
            return op;
        }
    }
    return KEEL_NONE;
}

static keel_op_id_t user_in(const keel_graph_t *graph, const keel_block_t *block, uint32_t argument,
                            uint32_t *out_operand) {
    if (argument >= block->argument_count) return KEEL_NONE;
    keel_op_id_t user = first_user(graph->program, block->first_op, block->end_op,
                                   block->first_argument + argument, out_operand);
    bool is_used = user != KEEL_NONE && !keel_str_is(keel_graph_name(graph, user), "return");
    return is_used ? user : KEEL_NONE;
}

// A loop takes what it closes over as an operand that it never changes. The operation that uses it
// inside, and as which operand; the loop itself if it does change it.
static keel_op_id_t inside_loops(const keel_graph_t *graph, keel_op_id_t op, uint32_t *operand) {
    enum { DEPTH = 16 };
    for (unsigned depth = 0; depth < DEPTH; ++depth) {
        const keel_block_t *condition, *body;
        if (!keel_graph_loop(graph, op, &condition, &body)) return op;
        keel_list_t results = keel_program_operands(graph->program, body->end_op - 1);
        if (*operand >= results.count || results.items[*operand] != body->first_argument + *operand)
            return op;
        uint32_t inner;
        keel_op_id_t user = user_in(graph, body, *operand, &inner);
        if (user == KEEL_NONE) user = user_in(graph, condition, *operand, &inner);
        if (user == KEEL_NONE) return op;
        op = user;
        *operand = inner;
    }
    return op;
}

// The operation that finally uses an operand: looks into called functions, and past operations that
// only reshape it.
static keel_op_id_t user_of(keel_diff_t *diff, keel_op_id_t op, uint32_t operand) {
    op = inside_loops(&diff->after, op, &operand);
    const keel_program_t *program = diff->after.program;
    for (unsigned depth = 0; depth < 16; ++depth) {
        uint32_t callee = keel_graph_callee(&diff->after, op),
                 function = diff->after.function_of[op];
        if (callee == KEEL_NONE && !keel_graph_only_reshapes(keel_graph_name(&diff->after, op)))
            return op;
        if (callee != KEEL_NONE) function = callee;
        if (function == KEEL_NONE) return op;
        const keel_block_t *block = keel_program_body(program, function);
        if (!block) return op;
        if (callee != KEEL_NONE && operand >= block->argument_count) return op;
        keel_value_id_t value = callee == KEEL_NONE ? program->operations.data[op].first_result
                                                    : block->first_argument + operand;
        keel_op_id_t from = callee == KEEL_NONE ? op + 1 : block->first_op;
        keel_op_id_t user = first_user(program, from, block->end_op, value, &operand);
        if (user == KEEL_NONE || keel_str_is(keel_graph_name(&diff->after, user), "return"))
            return op;
        op = user;
    }
    return op;
}

// The subject, "add" or "constant of add", and the place are those of the operation that uses the
// constant.
static keel_difference_t difference_at_user(keel_diff_t *diff, const keel_pair_t *pair,
                                            uint32_t operand, const char *prefix) {
    keel_difference_t difference = keel_pair_difference(diff, pair, KEEL_CAUSE_CONSTANT);
    keel_op_id_t user = user_of(diff, pair->after, operand);
    keel_str_t name = keel_graph_name(&diff->after, user);
    difference.subject = keel_diff_text(diff, "%s%.*s", prefix, (int)name.size, name.data);
    bool is_loop = keel_str_is(keel_graph_name(&diff->after, pair->after), "while");
    if (is_loop && keel_graph_line(&diff->after, user)->identity)
        difference.place = keel_diff_place(diff, true, user);
    return difference;
}

typedef struct constant_t {
    keel_type_id_t type;
    keel_tensor_view_t tensor;
} constant_t;

static bool is_coarse(const constant_t *constant) {
    return constant->tensor.element_size <= 2;
}

// In two dtypes the same number may differ in the last bits.
static double tolerance_of(const constant_t *a, const constant_t *b) {
    if (a->tensor.element_size == b->tensor.element_size) return 0;
    return is_coarse(a) || is_coarse(b) ? 1e-2 : 1e-6;
}

static bool is_same_element(const keel_diff_t *diff, const constant_t *a, const constant_t *b,
                            uint64_t at) {
    double x, y;
    if (keel_diff_number(diff->before.program, a->type, &a->tensor, at, &x) &&
        keel_diff_number(diff->after.program, b->type, &b->tensor, at, &y))
        return (isnan(x) && isnan(y)) || (x == y && !signbit(x) == !signbit(y)) ||
               (isfinite(x) && isfinite(y) && x != y &&
                fabs(x - y) <= tolerance_of(a, b) * fmax(fabs(x), fabs(y))) ||
               keel_diff_is_rounded(diff, a->type, x, b->type, y);
    uint32_t size = a->tensor.element_size;
    if (size != b->tensor.element_size || a->tensor.is_splat != b->tensor.is_splat) return false;
    uint64_t place = a->tensor.is_splat ? 0 : at * size;
    if (place + size > a->tensor.bytes.size || place + size > b->tensor.bytes.size) return false;
    return memcmp(a->tensor.bytes.data + place, b->tensor.bytes.data + place, size) == 0;
}

// True if the elements can be compared byte by byte.
static bool is_of_one_dtype(keel_diff_t *diff, const constant_t *a, const constant_t *b) {
    uint64_t size = a->tensor.element_size;
    return size && size == b->tensor.element_size && !a->tensor.is_splat && !b->tensor.is_splat &&
           !a->tensor.is_packed && !b->tensor.is_packed &&
           a->tensor.bytes.size / size >= a->tensor.count &&
           b->tensor.bytes.size / size >= a->tensor.count &&
           keel_diff_element_hash(&diff->before, a->type) ==
               keel_diff_element_hash(&diff->after, b->type);
}

// There may be millions of weights; usually nearly all or nearly none of them differ.
static uint64_t count_different_bytes(const constant_t *a, const constant_t *b,
                                      uint64_t *out_first) {
    enum { AT_ONCE = 256 };
    size_t size = a->tensor.element_size;
    const uint8_t *x = a->tensor.bytes.data, *y = b->tensor.bytes.data;
    uint64_t different = 0;
    for (uint64_t from = 0; from < a->tensor.count; from += AT_ONCE) {
        uint64_t end = a->tensor.count - from < AT_ONCE ? a->tensor.count : from + AT_ONCE;
        if (memcmp(x + from * size, y + from * size, (end - from) * size) == 0) continue;
        for (uint64_t i = from; i < end; ++i) {
            if (memcmp(x + i * size, y + i * size, size) == 0) continue;
            if (!different++) *out_first = i;
        }
    }
    return different;
}

// How many elements differ; the first of them in *out_first.
static uint64_t count_different(keel_diff_t *diff, const constant_t *a, const constant_t *b,
                                uint64_t *out_first) {
    if (is_of_one_dtype(diff, a, b)) return count_different_bytes(a, b, out_first);
    uint64_t count = a->tensor.is_splat && b->tensor.is_splat ? 1 : a->tensor.count, different = 0;
    for (uint64_t i = 0; i < count; ++i) {
        if (is_same_element(diff, a, b, i)) continue;
        if (!different++) *out_first = i;
    }
    return different;
}

static bool is_splat_or_one(const constant_t *constant) {
    return constant->tensor.is_splat || constant->tensor.count == 1;
}

// False if they are not single numbers.
static bool numbers_of(const keel_diff_t *diff, const constant_t *a, const constant_t *b, double *x,
                       double *y) {
    return is_splat_or_one(a) && is_splat_or_one(b) &&
           keel_diff_number(diff->before.program, a->type, &a->tensor, 0, x) &&
           keel_diff_number(diff->after.program, b->type, &b->tensor, 0, y);
}

uint32_t keel_pair_explain_number(keel_diff_t *diff, keel_op_id_t after, double x, double y,
                                  bool is_coarse) {
    if (keel_diff_is_librarys(diff, after))
        return keel_sizes_explain_derived(&diff->sizes, x, y, is_coarse);
    uint32_t root = keel_sizes_explain_value(&diff->sizes, x, y, is_coarse);
    bool are_whole = x == floor(x) && y == floor(y) && fabs(x) < 1e15 && fabs(y) < 1e15;
    if (root != KEEL_NONE) return root;
    return are_whole ? keel_pair_explain_part(diff, after, (int64_t)x, (int64_t)y)
                     : keel_pair_explain_scale(diff, after, x, y);
}

// The root that explains the numbers, or each of the few elements that differ.
static uint32_t explains_value(keel_diff_t *diff, const keel_pair_t *pair, uint32_t operand,
                               const constant_t *a, const constant_t *b) {
    enum { FEW = 16 };
    double x, y;
    uint32_t root = KEEL_NONE;
    if (numbers_of(diff, a, b, &x, &y)) {
        root = keel_pair_explain_number(diff, pair->after, x, y, is_coarse(a));
        if (root == KEEL_NONE && a->tensor.count == 1)
            root = keel_pair_last_index(diff, pair, operand, 0, x, y);
        return root;
    }
    for (uint64_t i = 0; a->tensor.count <= FEW && i < a->tensor.count; ++i) {
        if (is_same_element(diff, a, b, i)) continue;
        x = y = 0;
        uint32_t explained =
            keel_diff_number(diff->before.program, a->type, &a->tensor, i, &x) &&
                    keel_diff_number(diff->after.program, b->type, &b->tensor, i, &y)
                ? keel_pair_explain_number(diff, pair->after, x, y, is_coarse(a))
                : KEEL_NONE;
        if (explained == KEEL_NONE)
            explained = keel_pair_last_index(diff, pair, operand, (uint32_t)i, x, y);
        if (explained == KEEL_NONE || (root != KEEL_NONE && explained != root)) return KEEL_NONE;
        root = explained;
    }
    return root;
}

// A number beyond the limit is only counted: with thousands of them, printing decimals takes most
// of the time.
static bool is_only_counted(keel_diff_t *diff, keel_pair_t *pair, uint32_t explained,
                            const constant_t *a, const constant_t *b) {
    double x, y;
    if (!numbers_of(diff, a, b, &x, &y)) return false;
    if (explained == KEEL_NONE) {
        if (diff->root_count < KEEL_DIFF_ROOTS) return false;
        for (uint32_t i = 0; explained == KEEL_NONE && i < diff->root_count; ++i)
            if (diff->roots[i].is_number && diff->roots[i].before == x && diff->roots[i].after == y)
                explained = i;
        pair->root = explained == KEEL_NONE ? KEEL_DIFF_ROOTS - 1 : explained;
    }
    if (explained != KEEL_NONE && !keel_diff_is_full(diff)) return false;
    keel_diff_count(diff, explained);
    return true;
}

// "nan 0x7fc00001": the bits of two elements that read the same.
static const char *bytes_text(keel_diff_t *diff, const char *text, const constant_t *constant,
                              uint64_t at) {
    uint32_t size = constant->tensor.element_size;
    uint64_t from = constant->tensor.is_splat ? 0 : at * size;
    if (from + size > constant->tensor.bytes.size) return text;
    text = keel_diff_text(diff, "%s 0x", text);
    for (uint32_t i = size; i-- > 0;)
        text = keel_diff_text(diff, "%s%02x", text, constant->tensor.bytes.data[from + i]);
    return text;
}

static void describe_elements(keel_diff_t *diff, const constant_t *a, const constant_t *b,
                              uint64_t at, keel_difference_t *out) {
    out->old_value = keel_diff_element(diff, diff->before.program, a->type, &a->tensor, at);
    out->new_value = keel_diff_element(diff, diff->after.program, b->type, &b->tensor, at);
    if (strcmp(out->old_value, out->new_value) != 0) return;
    out->old_value = bytes_text(diff, out->old_value, a, at);
    out->new_value = bytes_text(diff, out->new_value, b, at);
}

static void describe_array(keel_diff_t *diff, const constant_t *a, const constant_t *b,
                           uint64_t different, uint64_t first, keel_difference_t *out) {
    const keel_program_t *q = diff->after.program;
    out->subject =
        keel_diff_text(diff, "constant %s of %s", keel_diff_type(diff, q, b->type), out->subject);
    describe_elements(diff, a, b, first, out);
    // The indices of the first one, in row-major order.
    char index[160] = "";
    keel_ints_t dims = keel_diff_dims(q, b->type);
    uint64_t rest = first;
    for (uint32_t i = dims.count; i-- > 0 && dims.items[i] > 0;) {
        char text[160];
        snprintf(text, sizeof text, "%llu%s%.120s",
                 (unsigned long long)(rest % (uint64_t)dims.items[i]), *index ? "," : "", index);
        rest /= (uint64_t)dims.items[i];
        memcpy(index, text, sizeof index);
    }
    out->note = keel_diff_text(diff, "%llu of %llu elements differ%s, the first at [%s]",
                               (unsigned long long)different, (unsigned long long)b->tensor.count,
                               different == 1 ? "s" : "", index);
}

static keel_status_t add_difference(keel_diff_t *diff, keel_pair_t *pair, uint32_t explained,
                                    const keel_difference_t *difference, const constant_t *a,
                                    const constant_t *b) {
    if (explained != KEEL_NONE) return keel_diff_fold(diff, explained, difference);
    uint32_t known = diff->root_count;
    KEEL_TRY(keel_pair_root(diff, difference, &pair->root));
    if (diff->root_count == known) return NULL;
    keel_root_t *root = &diff->roots[pair->root];
    root->is_coarse = is_coarse(a);
    const keel_program_t *program = diff->before.program;
    root->is_integer = keel_program_type(program, keel_program_type(program, a->type)->a)->kind ==
                       KEEL_TYPE_INTEGER;
    root->is_number = numbers_of(diff, a, b, &root->before, &root->after);
    return NULL;
}

static keel_status_t compare_values(keel_diff_t *diff, keel_pair_t *pair, uint32_t operand,
                                    const constant_t *a, const constant_t *b, keel_op_id_t made) {
    keel_ints_t x = keel_diff_dims(diff->before.program, a->type);
    keel_ints_t y = keel_diff_dims(diff->after.program, b->type);
    bool same_dims = keel_ints_equal(x, y), is_one = is_splat_or_one(a) && is_splat_or_one(b);
    if (!same_dims && !(is_one && a->tensor.count == b->tensor.count)) return NULL;
    uint64_t first = 0, different = count_different(diff, a, b, &first);
    if (!different) return NULL; // the same values in another dtype: covered by the types
    uint32_t explained = explains_value(diff, pair, operand, a, b);
    if (!same_dims && explained == KEEL_NONE) explained = keel_pair_explain_dims(diff, x, y);
    keel_str_t name = keel_graph_name(&diff->after, user_of(diff, pair->after, operand));
    double was, is;
    if (explained == KEEL_NONE && keel_str_is(name, "divide") && numbers_of(diff, a, b, &was, &is))
        explained = keel_sizes_explain_divisor(&diff->sizes, was, is);
    if (is_only_counted(diff, pair, explained, a, b)) return NULL;
    keel_difference_t difference = difference_at_user(diff, pair, operand, "");
    if (is_one)
        describe_elements(diff, a, b, 0, &difference);
    else
        describe_array(diff, a, b, different, first, &difference);
    if (made != KEEL_NONE) difference.place = keel_diff_place(diff, true, made);
    return add_difference(diff, pair, explained, &difference, a, b);
}

static bool read_constant(const keel_graph_t *graph, keel_op_id_t op, constant_t *out) {
    return keel_graph_tensor(graph, op, &out->type, &out->tensor);
}

// Two arrays of different shapes, each a splat.
static keel_status_t compare_shapes(keel_diff_t *diff, keel_pair_t *pair, uint32_t operand,
                                    const constant_t *a, const constant_t *b) {
    bool is_filler = is_splat_or_one(a) && is_splat_or_one(b);
    if (is_filler && is_same_element(diff, a, b, 0)) return NULL;
    keel_difference_t difference = difference_at_user(diff, pair, operand, "constant of ");
    keel_diff_types(diff, a->type, b->type, &difference);
    return keel_pair_root(diff, &difference, &pair->root);
}

// HLO: what the user's line makes (torch.arange, torch.full) has that line, whoever uses it.
static bool is_of_users_line(keel_diff_t *diff, keel_op_id_t constant) {
    const keel_source_line_t *line = keel_graph_line(&diff->after, constant);
    return diff->after.lender && line->identity && !line->is_foreign && !line->library_file.size;
}

keel_status_t keel_pair_constants(keel_diff_t *diff, keel_pair_t *pair, uint32_t operand,
                                  keel_op_id_t before, keel_op_id_t after, bool same_use) {
    const keel_operation_t *p = &diff->before.program->operations.data[before];
    const keel_operation_t *q = &diff->after.program->operations.data[after];
    if (keel_graph_attr_hash(&diff->before, p->attributes) ==
        keel_graph_attr_hash(&diff->after, q->attributes))
        return NULL;
    constant_t a, b;
    if (!read_constant(&diff->before, before, &a) || !read_constant(&diff->after, after, &b))
        return NULL;
    bool same_dims = keel_ints_equal(keel_diff_dims(diff->before.program, a.type),
                                     keel_diff_dims(diff->after.program, b.type));
    if (same_use && !same_dims && a.tensor.count != b.tensor.count)
        return compare_shapes(diff, pair, operand, &a, &b);
    return compare_values(diff, pair, operand, &a, &b,
                          is_of_users_line(diff, after) ? after : KEEL_NONE);
}

keel_status_t keel_pair_baked(keel_diff_t *diff, keel_pair_t *pair, uint32_t operand,
                              keel_op_id_t op, bool is_after) {
    constant_t constant;
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    if (!read_constant(graph, op, &constant) || !is_splat_or_one(&constant)) return NULL;
    const char *value = keel_diff_element(diff, graph->program, constant.type, &constant.tensor, 0);
    keel_difference_t difference = difference_at_user(diff, pair, operand, "");
    difference.old_value = is_after ? "an argument" : value;
    difference.new_value = is_after ? value : "an argument";
    KEEL_TRY(keel_pair_root(diff, &difference, &pair->root));
    diff->baked_root = pair->root;
    return NULL;
}
