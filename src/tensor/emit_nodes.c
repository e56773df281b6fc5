// Each kind of node as instructions of HLO.
#include <float.h>
#include <math.h>

#include "tensor/emit.h"

// ---- what nodes share
// -------------------------------------------------------------------------------------

static const char *const reducers[] = {
#define NAME(name, text, hlo) hlo,
    KEEL_REDUCE_OPS(NAME)
#undef NAME
};

void emit_reducer_name(int op, keel_dtype_t dtype, char out[64]) {
    snprintf(out, 64, "%s_%s", reducers[op], keel_dtype_text(dtype));
}

const char *emit_reducer(int op) {
    return reducers[op];
}

static keel_status_t add_callee(emitter_t *e, fields_t *fields, int op, keel_dtype_t dtype) {
    char name[64];
    keel_string_id_t id;
    keel_attr_id_t symbol, array;
    emit_reducer_name(op, dtype, name);
    KEEL_TRY(emit_text(e, name, &id));
    KEEL_TRY(keel_program_add_attr(
        e->program, (keel_attr_t){.kind = KEEL_ATTR_SYMBOL, .a = id, .b = KEEL_NONE}, &symbol));
    KEEL_TRY(emit_array(e, &symbol, 1, &array));
    return emit_field(e, fields, "called_computations", array);
}

typedef struct item_t {
    const node_t *node;
    const keel_shape_t *shape;
    const int64_t *words;
    const keel_value_id_t *operands;
    const keel_shape_t *from; // of operand 0
} item_t;

static keel_status_t emit_plain(emitter_t *e, const item_t *item, const char *name,
                                const fields_t *fields, keel_value_id_t *out) {
    return emit_instruction(e, name, (keel_dtype_t)item->node->dtype, item->shape, item->operands,
                            item->node->operand_count, fields, out);
}

// The element of the numbers of a dtype.
static keel_status_t emit_number(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    keel_dtype_t dtype = (keel_dtype_t)item->node->dtype;
    const keel_shape_t one = KEEL_SHAPE(1), scalar = {0};
    fields_t fields = {0}, range = {0};
    keel_attr_id_t message, array;
    KEEL_TRY(emit_int(e, &range, "start", item->words[0]));
    KEEL_TRY(emit_int(e, &range, "limit", item->words[0] + 1));
    KEEL_TRY(emit_int(e, &range, "stride", 1));
    KEEL_TRY(emit_close(e, &range, KEEL_RECORD_HLO_MESSAGE, &message));
    KEEL_TRY(emit_array(e, &message, 1, &array));
    KEEL_TRY(emit_field(e, &fields, "slice_dimensions", array));
    KEEL_TRY(emit_instruction(e, "slice", dtype, &one, &e->numbers[dtype], 1, &fields, out));
    return emit_instruction(e, "reshape", dtype, &scalar, out, 1, NULL, out);
}

static keel_status_t emit_compare(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    static const char *const directions[] = {
#define NAME(name, text, hlo) hlo,
        KEEL_COMPARE_OPS(NAME)
#undef NAME
    };
    fields_t fields = {0};
    KEEL_TRY(emit_string(e, &fields, "comparison_direction", directions[item->node->op]));
    return emit_plain(e, item, "compare", &fields, out);
}

static keel_status_t emit_slice(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0};
    keel_attr_id_t ranges[KEEL_MAX_RANK], array;
    for (int32_t i = 0; i < item->from->rank; ++i) {
        bool is_cut = i == item->words[0];
        fields_t range = {0};
        KEEL_TRY(emit_int(e, &range, "start", is_cut ? item->words[1] : 0));
        KEEL_TRY(emit_int(e, &range, "limit", is_cut ? item->words[2] : item->from->dims[i]));
        KEEL_TRY(emit_int(e, &range, "stride", 1));
        KEEL_TRY(emit_close(e, &range, KEEL_RECORD_HLO_MESSAGE, &ranges[i]));
    }
    KEEL_TRY(emit_array(e, ranges, (uint32_t)item->from->rank, &array));
    KEEL_TRY(emit_field(e, &fields, "slice_dimensions", array));
    return emit_plain(e, item, "slice", &fields, out);
}

static keel_status_t emit_pad(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    keel_dtype_t dtype = (keel_dtype_t)item->node->dtype;
    fields_t fields = {0}, config = {0};
    keel_attr_id_t sides[KEEL_MAX_RANK], array;
    keel_value_id_t operands[2] = {item->operands[0]};
    KEEL_TRY(emit_constant(e, dtype, 0, &operands[1]));
    for (int32_t i = 0; i < item->from->rank; ++i) {
        bool is_padded = i == item->words[0];
        fields_t side = {0};
        KEEL_TRY(emit_int(e, &side, "edge_padding_low", is_padded ? item->words[1] : 0));
        KEEL_TRY(emit_int(e, &side, "edge_padding_high", is_padded ? item->words[2] : 0));
        KEEL_TRY(emit_close(e, &side, KEEL_RECORD_HLO_MESSAGE, &sides[i]));
    }
    KEEL_TRY(emit_array(e, sides, (uint32_t)item->from->rank, &array));
    KEEL_TRY(emit_field(e, &config, "dimensions", array));
    KEEL_TRY(emit_message(e, &fields, "padding_config", &config));
    return emit_instruction(e, "pad", dtype, item->shape, operands, 2, &fields, out);
}

// What a reduction begins with: nothing is smaller (or larger) than it.
static double reduce_start(int op, keel_dtype_t dtype) {
    bool is_max = op == KEEL_OP_MAX;
    if (op == KEEL_OP_SUM) return 0;
    if (dtype == KEEL_F8E4M3FN) return is_max ? -448 : 448; // it has no infinity
    if (dtype_is_float(dtype)) return is_max ? -INFINITY : INFINITY;
    return is_max ? -DBL_MAX : DBL_MAX; // the least and the largest of that dtype
}

static keel_status_t emit_reduce(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    keel_dtype_t dtype = (keel_dtype_t)item->node->dtype;
    fields_t fields = {0};
    keel_value_id_t operands[2] = {item->operands[0]};
    KEEL_TRY(emit_constant(e, dtype, reduce_start(item->node->op, dtype), &operands[1]));
    KEEL_TRY(emit_ints(e, &fields, "dimensions", item->words, item->node->word_count));
    KEEL_TRY(add_callee(e, &fields, item->node->op, dtype));
    return emit_instruction(e, "reduce", dtype, item->shape, operands, 2, &fields, out);
}

static keel_status_t emit_dot(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0}, numbers = {0};
    const int64_t *batches = item->words + 1;
    uint32_t batch_count = (uint32_t)item->words[0];
    const int64_t *sums = batches + 2 * (size_t)batch_count + 1;
    uint32_t sum_count = (uint32_t)sums[-1];
    KEEL_TRY(emit_ints(e, &numbers, "lhs_contracting_dimensions", sums, sum_count));
    KEEL_TRY(emit_ints(e, &numbers, "rhs_contracting_dimensions", sums + sum_count, sum_count));
    KEEL_TRY(emit_ints(e, &numbers, "lhs_batch_dimensions", batches, batch_count));
    KEEL_TRY(emit_ints(e, &numbers, "rhs_batch_dimensions", batches + batch_count, batch_count));
    KEEL_TRY(emit_message(e, &fields, "dot_dimension_numbers", &numbers));
    return emit_plain(e, item, "dot", &fields, out);
}

static void count_up(int64_t *out, int64_t from, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        out[i] = from + i;
}

// XLA clamps the rows of a gather; a scatter drops those out of range. Both take an index vector of
// size 1: index_vector_dim is the rank of the rows.
static keel_status_t emit_take(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0}, numbers = {0};
    int64_t offsets[KEEL_MAX_RANK], sizes[KEEL_MAX_RANK];
    const int64_t zero[] = {0};
    uint32_t inner = (uint32_t)item->from->rank - 1, outer = (uint32_t)item->shape->rank - inner;
    count_up(offsets, outer, inner);
    memcpy(sizes, item->from->dims, sizeof sizes);
    sizes[0] = 1;
    KEEL_TRY(emit_ints(e, &numbers, "offset_dims", offsets, inner));
    KEEL_TRY(emit_ints(e, &numbers, "collapsed_slice_dims", zero, 1));
    KEEL_TRY(emit_ints(e, &numbers, "start_index_map", zero, 1));
    KEEL_TRY(emit_int(e, &numbers, "index_vector_dim", outer));
    KEEL_TRY(emit_message(e, &fields, "gather_dimension_numbers", &numbers));
    KEEL_TRY(emit_ints(e, &fields, "gather_slice_sizes", sizes, inner + 1));
    return emit_plain(e, item, "gather", &fields, out);
}

// Rows as keel_take reads them: clamped.
static keel_status_t clamp_rows(emitter_t *e, uint32_t rows, int64_t count, keel_value_id_t *out) {
    keel_dtype_t dtype = (keel_dtype_t)trace_node(e->context, rows)->dtype;
    keel_value_id_t operands[3];
    KEEL_TRY(emit_constant(e, dtype, 0, &operands[0]));
    operands[1] = e->values[rows];
    KEEL_TRY(emit_constant(e, dtype, (double)(count - 1), &operands[2]));
    return emit_instruction(e, "clamp", dtype, trace_node_shape(e->context, rows), operands, 3,
                            NULL, out);
}

static keel_status_t emit_put(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0}, numbers = {0};
    const uint32_t rows = trace_operand(e->context, item->node, 1);
    int64_t windows[KEEL_MAX_RANK];
    const int64_t zero[] = {0};
    uint32_t inner = (uint32_t)item->from->rank - 1;
    uint32_t outer = (uint32_t)trace_node_shape(e->context, rows)->rank;
    keel_value_id_t operands[3] = {item->operands[0], 0, item->operands[2]};
    KEEL_TRY(clamp_rows(e, rows, item->from->dims[0], &operands[1]));
    count_up(windows, outer, inner);
    KEEL_TRY(add_callee(e, &fields, KEEL_OP_SUM, (keel_dtype_t)item->node->dtype));
    KEEL_TRY(emit_ints(e, &numbers, "update_window_dims", windows, inner));
    KEEL_TRY(emit_ints(e, &numbers, "inserted_window_dims", zero, 1));
    KEEL_TRY(emit_ints(e, &numbers, "scatter_dims_to_operand_dims", zero, 1));
    KEEL_TRY(emit_int(e, &numbers, "index_vector_dim", outer));
    KEEL_TRY(emit_message(e, &fields, "scatter_dimension_numbers", &numbers));
    return emit_instruction(e, "scatter", (keel_dtype_t)item->node->dtype, item->shape, operands, 3,
                            &fields, out);
}

// With a list of numbers under one name.
static keel_status_t emit_listed(emitter_t *e, const item_t *item, const char *name,
                                 keel_value_id_t *out) {
    fields_t fields = {0};
    KEEL_TRY(emit_ints(e, &fields, "dimensions", item->words, item->node->word_count));
    return emit_plain(e, item, name, &fields, out);
}

static keel_status_t emit_barrier(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    keel_type_id_t type;
    KEEL_TRY(emit_tuple(e, item->operands, item->node->operand_count, out));
    KEEL_TRY(emit_results_type(e, item->node, &type));
    return emit_typed(e, "opt-barrier", type, out, 1, NULL, out);
}

static keel_status_t emit_item(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    double value;
    switch ((node_kind_t)item->node->kind) {
        case NODE_VARIABLE:
        case NODE_INPUT:
            return NULL; // a parameter already
        case NODE_NUMBER:
            return emit_number(e, item, out);
        case NODE_CONSTANT:
            memcpy(&value, item->words, sizeof value);
            return emit_constant(e, (keel_dtype_t)item->node->dtype, value, out);
        case NODE_IOTA:
            return emit_listed(e, item, "iota", out);
        case NODE_UNARY:
            return emit_plain(e, item, ops_unary_name(item->node->op), NULL, out);
        case NODE_BINARY:
            return emit_plain(e, item, ops_binary_name(item->node->op), NULL, out);
        case NODE_COMPARE:
            return emit_compare(e, item, out);
        case NODE_SELECT:
            return emit_plain(e, item, "select", NULL, out);
        case NODE_CONVERT:
            return emit_plain(e, item, "convert", NULL, out);
        case NODE_BROADCAST:
            return emit_listed(e, item, "broadcast", out);
        case NODE_RESHAPE:
            return emit_plain(e, item, "reshape", NULL, out);
        case NODE_TRANSPOSE:
            return emit_listed(e, item, "transpose", out);
        case NODE_REDUCE:
            return emit_reduce(e, item, out);
        case NODE_DOT:
            return emit_dot(e, item, out);
        case NODE_SLICE:
            return emit_slice(e, item, out);
        case NODE_PAD:
            return emit_pad(e, item, out);
        case NODE_JOIN:
            return emit_listed(e, item, "concatenate", out);
        case NODE_TAKE:
            return emit_take(e, item, out);
        case NODE_PUT:
            return emit_put(e, item, out);
        case NODE_STOP:
            *out = item->operands[0];
            return NULL;
        case NODE_BARRIER:
            return emit_barrier(e, item, out);
        case NODE_PART:
            return emit_part(e, item->operands[0], (uint32_t)item->words[0],
                             (keel_dtype_t)item->node->dtype, item->shape, out);
        case NODE_BEGIN:
        case NODE_PARAMETER:
        case NODE_END:
        case NODE_WHILE:
        case NODE_SCAN:
        case NODE_SWITCH:
        case NODE_CHECKPOINT:
        case NODE_CUSTOM:
        case NODE_SAVED:
            break; // emit_control.c
    }
    return keel_status_make(KEEL_INTERNAL, "a node of kind %d", item->node->kind);
}

keel_status_t emit_node(emitter_t *e, uint32_t i) {
    const trace_t *trace = &e->context->trace;
    const node_t *node = &trace->nodes.data[i];
    item_t item = {.node = node,
                   .shape = &e->context->shapes.data[node->shape],
                   .words = trace_words(trace, node)};
    const uint32_t *operands = trace_operands(trace, node);
    e->operands.count = 0;
    for (uint32_t k = 0; k < node->operand_count; ++k)
        KEEL_PUSH(&e->operands, e->values[operands[k]]);
    item.operands = e->operands.data;
    if (node->operand_count) item.from = trace_node_shape(e->context, operands[0]);
    return emit_item(e, &item, &e->values[i]);
}
