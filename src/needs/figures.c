// What a part costs: counted over its live operations, each called part once for each call.
#include "needs/internal.h"

static needs_figures_t sum(needs_figures_t a, needs_figures_t b) {
    return (needs_figures_t){a.work + b.work, a.bytes + b.bytes, a.inlined + b.inlined};
}

// ---- sizes -------------------------------------------------------------------------------------

// A dimension that is not known counts as one.
static double elements_of_dims(keel_ints_t dims) {
    double count = 1;
    for (uint32_t i = 0; i < dims.count; ++i)
        if (dims.items[i] >= 0) count *= (double)dims.items[i];
    return count;
}

static double bits_of(const keel_program_t *program, keel_type_id_t id, unsigned depth) {
    static const uint8_t floats[] = {
#define BITS(name, text, storage) storage,
        KEEL_FLOATS(BITS)
#undef BITS
    };
    const keel_type_t *type = keel_program_type(program, id);
    if (!depth) return 0;
    switch (type->kind) {
        case KEEL_TYPE_INTEGER:
            return type->a < 8 ? 8 : type->a;
        case KEEL_TYPE_FLOAT:
            return type->a < KEEL_FLOAT_COUNT ? floats[type->a] : 0;
        case KEEL_TYPE_INDEX:
            return 64;
        case KEEL_TYPE_COMPLEX:
            return 2 * bits_of(program, type->a, depth - 1);
        case KEEL_TYPE_QUANTIZED:
            return bits_of(program, type->a, depth - 1);
        default:
            return 0;
    }
}

static bool is_array(const keel_type_t *type) {
    return type->kind == KEEL_TYPE_TENSOR || type->kind == KEEL_TYPE_BUFFER;
}

static double elements_of(const keel_program_t *program, keel_type_id_t id) {
    const keel_type_t *type = keel_program_type(program, id);
    return is_array(type) ? elements_of_dims(keel_program_ints(program, type->b)) : 0;
}

static double bytes_of_type(const keel_program_t *program, keel_type_id_t id) {
    enum { NESTED = 4 };
    const keel_type_t *type = keel_program_type(program, id);
    if (!is_array(type)) return 0;
    return elements_of(program, id) * bits_of(program, type->a, NESTED) / 8;
}

// Of the needed elements of a tuple; a tuple in a tuple has no size of its own.
static double sum_elements(const keel_needs_t *needs, const needs_part_t *part,
                           keel_value_id_t value,
                           double (*size)(const keel_program_t *, keel_type_id_t)) {
    const keel_program_t *program = needs->program;
    const keel_type_t *type = keel_program_type(program, program->value_types.data[value]);
    if (!needs->is_hlo || type->kind != KEEL_TYPE_TUPLE)
        return size(program, program->value_types.data[value]);
    keel_list_t types = keel_program_list(program, type->b);
    double total = 0;
    for (uint32_t i = 0; i < types.count; ++i)
        if (needs_is_needed(needs, part, value, i)) total += size(program, types.items[i]);
    return total;
}

typedef struct op_t {
    keel_needs_t *needs;
    const needs_part_t *part;
    keel_op_id_t op;
    const keel_operation_t *operation;
    keel_list_t operands;
} op_t;

static double sum_results(const op_t *o, double (*size)(const keel_program_t *, keel_type_id_t)) {
    double total = 0;
    for (uint32_t i = 0; i < o->operation->result_count; ++i)
        if (o->needs->is_hlo ||
            needs_is_needed(o->needs, o->part, o->operation->first_result + i, 0))
            total += sum_elements(o->needs, o->part, o->operation->first_result + i, size);
    return total;
}

static double sum_operands(const op_t *o) {
    double total = 0;
    for (uint32_t i = 0; i < o->operands.count; ++i)
        total += sum_elements(o->needs, o->part, o->operands.items[i], elements_of);
    return total;
}

// ---- work --------------------------------------------------------------------------------------

static keel_ints_t dims_of(const op_t *o, uint32_t operand) {
    const keel_program_t *program = o->needs->program;
    if (operand >= o->operands.count) return (keel_ints_t){NULL, 0};
    const keel_type_t *type =
        keel_program_type(program, program->value_types.data[o->operands.items[operand]]);
    return keel_program_ints(program, is_array(type) ? type->b : KEEL_NONE);
}

static keel_attr_id_t attribute(const op_t *o, const char *name) {
    return keel_program_dict_find(o->needs->program, o->operation->attributes, name);
}

// The product of the dimensions that a list of numbers names.
static double product_at(const op_t *o, keel_attr_id_t id, keel_ints_t dims) {
    const keel_program_t *program = o->needs->program;
    const keel_attr_t *attr = keel_program_attr(program, id);
    double product = 1;
    keel_tensor_view_t view;
    if (attr->kind == KEEL_ATTR_INTS) {
        keel_ints_t list = keel_program_ints(program, attr->b);
        for (uint32_t i = 0; i < list.count; ++i)
            if (list.items[i] >= 0 && list.items[i] < dims.count)
                product *= (double)dims.items[list.items[i]];
    } else if (attr->kind == KEEL_ATTR_TENSOR && attr->b < program->blobs.count) {
        keel_status_t status =
            keel_program_tensor(program, attr->a, program->blobs.data[attr->b], &view);
        for (uint64_t i = 0; !status && i < view.count && i < 64; ++i) {
            uint8_t at = view.bytes.data[view.is_splat ? 0 : i * view.element_size];
            if (at < dims.count) product *= (double)dims.items[at];
        }
        keel_status_ignore(status);
    }
    return product;
}

// 2*M*N*K: each element of the result from as many products as the contracted dimensions have.
static double dot_work(const op_t *o) {
    const keel_program_t *program = o->needs->program;
    keel_attr_id_t numbers = attribute(o, "dot_dimension_numbers");
    keel_attr_id_t contracted =
        o->needs->is_hlo ? keel_program_dict_find(program, numbers, "lhs_contracting_dimensions")
                         : attribute(o, "lhs_contracting_dimensions");
    keel_ints_t dims = dims_of(o, 0);
    double products = product_at(o, contracted, dims);
    // `dot` of VHLO contracts the last dimension.
    if (contracted == KEEL_NONE && !o->needs->is_hlo && dims.count)
        products = (double)dims.items[dims.count - 1];
    return 2 * sum_results(o, elements_of) * products;
}

// Each element of the result from the kernel, but for its output features.
static double convolution_work(const op_t *o) {
    const keel_program_t *program = o->needs->program;
    keel_ints_t kernel = dims_of(o, 1);
    keel_attr_id_t numbers = attribute(o, "convolution_dimension_numbers");
    keel_attr_id_t feature =
        o->needs->is_hlo
            ? keel_program_dict_find(program, numbers, "kernel_output_feature_dimension")
            : attribute(o, "kernel_output_feature_dimension");
    int64_t at = keel_program_number(program, feature, 0);
    double per_result = elements_of_dims(kernel);
    if (at >= 0 && at < kernel.count && kernel.items[at] > 0)
        per_result /= (double)kernel.items[at];
    return 2 * sum_results(o, elements_of) * per_result;
}

static double window_work(const op_t *o) {
    const keel_program_t *program = o->needs->program;
    const keel_attr_t *window = keel_program_attr(program, attribute(o, "window_dimensions"));
    double size = 1;
    keel_tensor_view_t view;
    if (window->kind == KEEL_ATTR_TENSOR && window->b < program->blobs.count) {
        keel_status_t status =
            keel_program_tensor(program, window->a, program->blobs.data[window->b], &view);
        for (uint64_t i = 0; !status && i < view.count && view.element_size == 8; ++i) {
            int64_t one = 0;
            memcpy(&one, view.bytes.data + (view.is_splat ? 0 : i * 8), 8);
            if (one > 0) size *= (double)one;
        }
        keel_status_ignore(status);
    }
    keel_list_t dimensions = keel_program_array(
        program, keel_program_dict_find(program, attribute(o, "window"), "dimensions"));
    for (uint32_t i = 0; i < dimensions.count; ++i)
        size *= (double)keel_program_number(
            program, keel_program_dict_find(program, dimensions.items[i], "size"), 1);
    return sum_results(o, elements_of) * size;
}

static double with_log(double count) {
    double log = 1;
    for (double left = count; left > 2; left /= 2)
        ++log;
    return count * log;
}

static double own_work(const op_t *o, needs_work_t kind) {
    keel_ints_t dims;
    switch (kind) {
        case NEEDS_FREE:
            return 0;
        case NEEDS_MADE:
            return sum_results(o, elements_of);
        case NEEDS_TAKEN:
            return sum_operands(o);
        case NEEDS_DOT:
            return dot_work(o);
        case NEEDS_CONVOLUTION:
            return convolution_work(o);
        case NEEDS_WINDOW:
            return window_work(o);
        case NEEDS_SORT:
            return with_log(sum_operands(o));
        case NEEDS_TRANSFORM:
            return with_log(sum_results(o, elements_of));
        default:
            dims = dims_of(o, 0);
            return sum_results(o, elements_of) * (dims.count && dims.items[dims.count - 1] > 0
                                                      ? (double)dims.items[dims.count - 1]
                                                      : 1);
    }
}

// ---- trouble -----------------------------------------------------------------------------------

static keel_status_t keep_text(const op_t *o, keel_str_t text, const char **out) {
    keel_str_t copy;
    if (*out) return NULL;
    KEEL_TRY(keel_arena_str(&o->needs->arena, text, &copy));
    *out = copy.data;
    return NULL;
}

// The target of a custom call, otherwise the operation's name.
static keel_str_t name_of(const op_t *o, const needs_fact_t *fact) {
    const keel_program_t *program = o->needs->program;
    keel_str_t target = needs_target(o->needs, o->op);
    if (fact && fact->trouble == NEEDS_TARGET && target.size) return target;
    return keel_program_str(program, keel_program_op_name(program, o->op)->name);
}

static keel_status_t note_trouble(const op_t *o, const needs_fact_t *fact) {
    keel_need_t *found = &o->needs->found;
    needs_trouble_t trouble = fact ? (needs_trouble_t)fact->trouble : NEEDS_HOST;
    if (trouble == NEEDS_ANYWHERE) return NULL;
    if (trouble == NEEDS_BITS) {
        const keel_attr_t *algorithm =
            keel_program_attr(o->needs->program, attribute(o, "rng_algorithm"));
        found->is_other_random |= algorithm->kind != KEEL_ATTR_ENUM || !algorithm->a;
        return NULL;
    }
    keel_str_t name = name_of(o, fact);
    if (trouble == NEEDS_TARGET) trouble = needs_trouble_of(name);
    if (trouble == NEEDS_HOST) return keep_text(o, name, &found->obstacle);
    return trouble == NEEDS_DEVICES ? keep_text(o, name, &found->across) : NULL;
}

// ---- operations --------------------------------------------------------------------------------

static bool is_named(const needs_fact_t *fact, const char *name) {
    return fact && strcmp(fact->name, name) == 0;
}

static keel_status_t count_block(const op_t *around, keel_op_id_t first, keel_op_id_t end,
                                 needs_figures_t *out);

static keel_status_t count_called(const op_t *o, uint32_t callee, needs_figures_t *out) {
    needs_part_t *called;
    uint32_t copies = o->needs->copies;
    KEEL_TRY(needs_part_called(o->needs, o->part, o->op, callee, &called));
    o->needs->copies = 1; // each calls the same function
    KEEL_TRY(needs_count(o->needs, called));
    o->needs->copies = copies;
    *out = called->figures;
    return NULL;
}

// Of branches one runs, but all are compiled.
static needs_figures_t larger(needs_figures_t a, needs_figures_t b) {
    double inlined = a.inlined + b.inlined;
    if (b.work > a.work || (b.work == a.work && b.bytes > a.bytes)) a = b;
    a.inlined = inlined;
    return a;
}

// What is inside: regions or called functions.
static keel_status_t count_inside(const op_t *o, needs_rule_t rule, needs_figures_t *out) {
    const keel_program_t *program = o->needs->program;
    keel_region_run_t regions = keel_program_regions(program, o->op);
    bool may_call = o->needs->is_hlo || rule == NEEDS_CALL || rule == NEEDS_NAMED;
    uint32_t callees = may_call ? needs_callee_count(o->needs, o->op) : 0;
    *out = (needs_figures_t){0, 0, 0};
    for (uint32_t i = 0; i < regions.count + callees; ++i) {
        needs_figures_t one = {0, 0, 0};
        if (i >= regions.count) {
            if (needs_callee(o->needs, o->op, i - regions.count) == KEEL_NONE) continue;
            KEEL_TRY(count_called(o, i - regions.count, &one));
        } else {
            const keel_region_t *region = &regions.items[i];
            for (uint32_t b = 0; b < region->block_count; ++b) {
                const keel_block_t *block = &program->blocks.data[region->first_block + b];
                KEEL_TRY(count_block(o, block->first_op, block->end_op, &one));
            }
        }
        *out = rule == NEEDS_BRANCHES ? larger(*out, one) : sum(*out, one);
    }
    return NULL;
}

static void count_operations(keel_needs_t *needs, uint32_t count, needs_figures_t *out) {
    uint64_t all = needs->found.operations + (uint64_t)count * needs->copies;
    needs->found.operations = all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
    out->inlined += count;
}

// A copy of the region for each shard.
static keel_status_t count_manual(const op_t *o, needs_figures_t *out) {
    keel_needs_t *needs = o->needs;
    uint32_t copies = needs->copies;
    needs_manual_t manual;
    needs_figures_t inside, one = {0, sum_results(o, bytes_of_type), 0};
    if (!needs_manual_part(needs, o->part, o->op, &manual) || copies * manual.shards > NEEDS_SHARDS)
        return keep_text(o, KEEL_STR("manual_computation"), &needs->found.across);
    count_operations(needs, needs_manual_operations(needs, o->part, o->op, &manual), &one);
    needs->copies = copies * manual.shards;
    KEEL_TRY(count_inside(o, NEEDS_MANUAL, &inside));
    needs->copies = copies;
    inside.work *= manual.shards;
    inside.bytes *= manual.shards;
    inside.inlined *= manual.shards;
    *out = sum(*out, sum(one, inside));
    return NULL;
}

static keel_status_t count_operation(const op_t *o, needs_figures_t *out) {
    const needs_fact_t *fact = needs_fact_of(o->needs, o->op);
    needs_rule_t rule = needs_rule_of(o->needs, o->op);
    needs_figures_t inside, one = {0, sum_results(o, bytes_of_type), 0};
    double trips = 1;
    if (rule == NEEDS_MANUAL) return count_manual(o, out);
    count_operations(o->needs, !is_named(fact, "return") && !is_named(fact, "parameter"), &one);
    KEEL_TRY(note_trouble(o, fact));
    KEEL_TRY(count_inside(o, rule, &inside));
    if (rule == NEEDS_TUPLE || rule == NEEDS_ELEMENT || rule == NEEDS_BARRIER ||
        rule == NEEDS_NOTHING)
        one.bytes = 0; // the same values once more
    if (rule == NEEDS_LOOP && !needs_trips(o->needs, o->op, &trips))
        o->needs->found.is_bounded = false;
    inside.work *= trips;
    // The function of a reduction runs for each element.
    double work = own_work(o, fact ? (needs_work_t)fact->work : NEEDS_TAKEN);
    bool is_repeated = (rule == NEEDS_PLAIN || rule == NEEDS_NAMED) && fact && fact->work;
    one.work = is_repeated ? work * (inside.work > 1 ? inside.work : 1) : work + inside.work;
    if (!is_repeated) one.bytes += inside.bytes;
    one.inlined += inside.inlined;
    *out = sum(*out, one);
    return NULL;
}

static keel_status_t count_block(const op_t *around, keel_op_id_t first, keel_op_id_t end,
                                 needs_figures_t *out) {
    keel_needs_t *needs = around->needs;
    const keel_program_t *program = needs->program;
    keel_op_id_t base = needs_function_of(needs, around->part)->first_op;
    for (keel_op_id_t op = first; op < end; op = keel_program_next(program, op)) {
        op = base + needs_next(around->part->live, op - base, end - base);
        if (op >= end) break;
        op_t o = {.needs = needs,
                  .part = around->part,
                  .op = op,
                  .operation = &program->operations.data[op],
                  .operands = keel_program_operands(program, op)};
        if (needs_rule_of(needs, op) == NEEDS_SAME) continue;
        KEEL_TRY(count_operation(&o, out));
    }
    return NULL;
}

keel_status_t needs_count(keel_needs_t *needs, needs_part_t *part) {
    if (part->is_counted) return NULL;
    const needs_function_t *function = needs_function_of(needs, part);
    op_t around = {.needs = needs, .part = part};
    KEEL_TRY(count_block(&around, function->first_op, function->end_op, &part->figures));
    part->is_counted = true;
    return NULL;
}

double needs_bytes(const keel_needs_t *needs, const needs_part_t *part, keel_value_id_t value) {
    return sum_elements(needs, part, value, bytes_of_type);
}
