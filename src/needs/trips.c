// How often a loop runs, if it counts from one number that is known to another.
#include "needs/internal.h"

typedef struct loop_t {
    const keel_needs_t *needs;
    keel_op_id_t op;
    const keel_block_t *blocks[2]; // condition, body (MLIR)
    uint32_t functions[2];         // the same (HLO)
} loop_t;
enum { CONDITION, BODY };

static bool is_named(const keel_needs_t *needs, keel_op_id_t op, const char *name) {
    const needs_fact_t *fact = needs_fact_of(needs, op);
    return fact && strcmp(fact->name, name) == 0;
}

static keel_op_id_t maker_of(const keel_needs_t *needs, keel_value_id_t value) {
    if (value == KEEL_NONE) return KEEL_NONE;
    return needs->is_hlo ? value : needs->makers[value];
}

// ---- numbers that are known --------------------------------------------------------------------

static bool read_number(const keel_program_t *program, keel_attr_id_t id, int64_t *out) {
    const keel_attr_t *attr = keel_program_attr(program, id);
    keel_tensor_view_t view;
    if (attr->kind != KEEL_ATTR_TENSOR || attr->b >= program->blobs.count) return false;
    const keel_type_t *type = keel_program_type(program, attr->a);
    const keel_type_t *element = keel_program_type(program, type->a);
    keel_status_t status =
        keel_program_tensor(program, attr->a, program->blobs.data[attr->b], &view);
    bool is_integer = !status && element->kind == KEEL_TYPE_INTEGER && view.count == 1 &&
                      !view.is_bool && view.element_size <= 8;
    keel_status_ignore(status);
    if (!is_integer) return false;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < view.element_size; ++i)
        bits |= (uint64_t)view.bytes.data[i] << 8 * i;
    unsigned unused = 64 - 8 * view.element_size;
    bool is_signed = element->aux != KEEL_UNSIGNED;
    *out = is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
    return is_signed || *out >= 0;
}

static bool known_number(const keel_needs_t *needs, keel_value_id_t value, int64_t *out) {
    static const char *const same[] = {"convert", "copy", "reshape", "broadcast",
                                       "broadcast_in_dim"};
    enum { MOST_STEPS = 16 };
    for (unsigned step = 0; step < MOST_STEPS; ++step) {
        keel_op_id_t op = maker_of(needs, value);
        const needs_fact_t *fact = op == KEEL_NONE ? NULL : needs_fact_of(needs, op);
        if (!fact) return false;
        if (strcmp(fact->name, "constant") == 0) {
            const keel_program_t *program = needs->program;
            keel_attr_id_t dict = program->operations.data[op].attributes;
            return read_number(
                program, keel_program_dict_find(program, dict, needs->is_hlo ? "literal" : "value"),
                out);
        }
        keel_list_t operands = keel_program_operands(needs->program, op);
        if (!keel_str_is_among(keel_str(fact->name), same, sizeof same / sizeof *same) ||
            operands.count != 1)
            return false;
        value = operands.items[0];
    }
    return false;
}

// ---- what a loop carries -----------------------------------------------------------------------

static bool is_single(const loop_t *loop) {
    const keel_program_t *program = loop->needs->program;
    return keel_program_type(program, program->value_types.data[loop->op])->kind != KEEL_TYPE_TUPLE;
}

// Which carried value it is in the condition or the body; KEEL_NONE if it is none.
static uint32_t slot_of(const loop_t *loop, int where, keel_value_id_t value) {
    const keel_needs_t *needs = loop->needs;
    if (value == KEEL_NONE) return KEEL_NONE;
    if (!needs->is_hlo) {
        uint32_t slot = value - loop->blocks[where]->first_argument;
        return slot < loop->blocks[where]->argument_count ? slot : KEEL_NONE;
    }
    keel_op_id_t state = needs_parameter(needs, loop->functions[where], 0);
    if (is_single(loop)) return value == state ? 0 : KEEL_NONE;
    if (needs_rule_of(needs, value) != NEEDS_ELEMENT ||
        keel_program_operands(needs->program, value).items[0] != state)
        return KEEL_NONE;
    return (uint32_t)needs_element(needs, value);
}

static keel_value_id_t element_of(const loop_t *loop, keel_value_id_t state, uint32_t slot) {
    if (is_single(loop)) return state;
    if (needs_rule_of(loop->needs, state) != NEEDS_TUPLE) return KEEL_NONE;
    return keel_program_operands(loop->needs->program, state).items[slot];
}

// What the body makes of a carried value.
static keel_value_id_t next_of(const loop_t *loop, uint32_t slot) {
    const keel_needs_t *needs = loop->needs;
    if (needs->is_hlo) return element_of(loop, needs->functions[loop->functions[BODY]].last, slot);
    return needs_returned(needs, loop->blocks[BODY]).items[slot];
}

static keel_value_id_t first_of(const loop_t *loop, uint32_t slot) {
    keel_list_t operands = keel_program_operands(loop->needs->program, loop->op);
    return loop->needs->is_hlo ? element_of(loop, operands.items[0], slot) : operands.items[slot];
}

// A number that is the same in each round.
static bool fixed_number(const loop_t *loop, int where, keel_value_id_t value, int64_t *out) {
    uint32_t slot = slot_of(loop, where, value);
    if (slot == KEEL_NONE) return known_number(loop->needs, value, out);
    return slot_of(loop, BODY, next_of(loop, slot)) == slot &&
           known_number(loop->needs, first_of(loop, slot), out);
}

// ---- counting ----------------------------------------------------------------------------------

static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
enum { EQ, NE, GE, GT, LE, LT, UNKNOWN };

static int direction_of(const keel_needs_t *needs, keel_op_id_t op) {
    const keel_program_t *program = needs->program;
    const keel_attr_t *attr = keel_program_attr(
        program, keel_program_dict_find(program, program->operations.data[op].attributes,
                                        "comparison_direction"));
    if (attr->kind == KEEL_ATTR_ENUM) return attr->a < UNKNOWN ? (int)attr->a : UNKNOWN;
    int direction = 0;
    while (direction < UNKNOWN &&
           (attr->kind != KEEL_ATTR_STRING ||
            !keel_str_is(keel_program_str(program, attr->a), directions[direction])))
        ++direction;
    return direction;
}

static int turned(int direction) {
    static const int other[] = {EQ, NE, LE, LT, GE, GT, UNKNOWN};
    return other[direction];
}

static bool is_held(int direction, int64_t a, int64_t b) {
    switch (direction) {
        case NE:
            return a != b;
        case GE:
            return a >= b;
        case GT:
            return a > b;
        case LE:
            return a <= b;
        default:
            return a < b;
    }
}

static bool count_trips(int direction, int64_t first, int64_t limit, int64_t step, double *out) {
    if (direction == EQ || direction == UNKNOWN) return false;
    if (!is_held(direction, first, limit)) {
        *out = 0;
        return true;
    }
    double way = (double)limit - (double)first, by = (double)step;
    if (direction == GE || direction == LE) way += direction == GE ? -1 : 1;
    if (by == 0 || way / by < 0) return false;
    double trips = way / by, whole = (double)(uint64_t)trips;
    if (trips > 1e18 || (direction == NE && trips != whole)) return false;
    *out = trips > whole ? whole + 1 : whole;
    return true;
}

// The step by which a carried value grows each round.
static bool find_step(const loop_t *loop, uint32_t slot, int64_t *out) {
    const keel_needs_t *needs = loop->needs;
    keel_op_id_t op = maker_of(needs, next_of(loop, slot));
    if (op == KEEL_NONE) return false;
    bool adds = is_named(needs, op, "add"), subtracts = is_named(needs, op, "subtract");
    keel_list_t operands = keel_program_operands(needs->program, op);
    if ((!adds && !subtracts) || operands.count != 2) return false;
    bool is_first = slot_of(loop, BODY, operands.items[0]) == slot;
    if (!is_first && (subtracts || slot_of(loop, BODY, operands.items[1]) != slot)) return false;
    if (!fixed_number(loop, BODY, operands.items[is_first], out)) return false;
    if (subtracts && *out == INT64_MIN) return false;
    if (subtracts) *out = -*out;
    return true;
}

bool needs_trips(const keel_needs_t *needs, keel_op_id_t op, double *out) {
    loop_t loop = {.needs = needs, .op = op};
    keel_value_id_t tested;
    for (uint32_t i = 0; i < 2; ++i) {
        if (needs->is_hlo)
            loop.functions[i == CONDITION ? CONDITION : BODY] =
                needs_callee(needs, op, i == CONDITION);
        else
            loop.blocks[i] = needs_block(needs, op, i);
    }
    tested = needs->is_hlo ? needs->functions[loop.functions[CONDITION]].last
                           : needs_returned(needs, loop.blocks[CONDITION]).items[0];
    keel_op_id_t test = maker_of(needs, tested);
    if (test == KEEL_NONE || !is_named(needs, test, "compare")) return false;
    keel_list_t sides = keel_program_operands(needs->program, test);
    if (sides.count != 2) return false;
    int direction = direction_of(needs, test);
    int64_t first, limit, step;
    for (uint32_t side = 0; side < 2; ++side) {
        uint32_t slot = slot_of(&loop, CONDITION, sides.items[side]);
        if (slot == KEEL_NONE || !known_number(needs, first_of(&loop, slot), &first) ||
            !fixed_number(&loop, CONDITION, sides.items[!side], &limit) ||
            !find_step(&loop, slot, &step))
            continue;
        return count_trips(side ? turned(direction) : direction, first, limit, step, out);
    }
    return false;
}
