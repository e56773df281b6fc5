// Arguments that may be a bare Python number in one call and an array in the next although the
// program is the same: JAX distinguishes the two, but the program does not if the number is only
// combined with constants, like a step that is counted.
#include "explain/diff.h"

enum { NUMBERS = 32, TYPED = UINT8_MAX }; // arguments that are looked at

typedef struct numbers_t {
    const keel_program_t *program;
    const keel_block_t *body;
    uint8_t *owner; // by value: 0 for constants; 1 + the number that it is computed from; TYPED
    bool is_shown[NUMBERS];
} numbers_t;

// A tensor of no dimensions, of integers or floats. Python's True is an array's.
static bool is_number(const keel_program_t *program, keel_type_id_t id) {
    if (id == KEEL_NONE || keel_program_type(program, id)->kind != KEEL_TYPE_TENSOR) return false;
    if (keel_diff_dims(program, id).count) return false;
    const keel_type_t *element = keel_program_type(program, keel_program_type(program, id)->a);
    return element->kind == KEEL_TYPE_FLOAT ||
           (element->kind == KEEL_TYPE_INTEGER && element->a > 1);
}

static keel_type_id_t element_of(const keel_program_t *program, keel_value_id_t value) {
    keel_type_id_t id = keel_program_value_type(program, value);
    if (id == KEEL_NONE || keel_program_type(program, id)->kind != KEEL_TYPE_TENSOR)
        return KEEL_NONE;
    return keel_program_type(program, id)->a;
}

// The first operand that is a number of the entry's; NONE.
static uint32_t find_number(const numbers_t *numbers, keel_list_t operands, bool *out_is_typed) {
    *out_is_typed = false;
    for (uint32_t i = 0; i < operands.count; ++i) {
        uint8_t owner = numbers->owner[operands.items[i]];
        if (owner && owner != TYPED) return i;
        *out_is_typed |= owner == TYPED;
    }
    return KEEL_NONE;
}

// If a number is combined with another value of its type, JAX converts a bare one, and the program
// shows it.
static bool meets_another(numbers_t *numbers, keel_list_t operands, uint8_t number,
                          keel_type_id_t element) {
    bool meets = false;
    for (uint32_t i = 0; i < operands.count; ++i) {
        uint8_t owner = numbers->owner[operands.items[i]];
        if (!owner || owner == number) continue;
        if (element_of(numbers->program, operands.items[i]) != element) continue;
        if (owner != TYPED) numbers->is_shown[owner - 1] = true;
        numbers->is_shown[number - 1] = meets = true;
    }
    return meets;
}

static uint8_t visit(numbers_t *numbers, keel_op_id_t op) {
    const keel_program_t *program = numbers->program;
    const keel_operation_t *operation = &program->operations.data[op];
    keel_list_t operands = keel_program_operands(program, op);
    keel_str_t name = keel_program_str(program, keel_program_op_name(program, op)->name);
    if (operation->result_count != 1 || operation->name & KEEL_OP_HAS_REGIONS ||
        keel_str_is(name, "call"))
        return TYPED;
    if (!operands.count) return keel_str_is(name, "constant") ? 0 : TYPED;
    bool is_typed;
    uint32_t at = find_number(numbers, operands, &is_typed);
    if (at == KEEL_NONE) return is_typed ? TYPED : 0;
    uint8_t number = numbers->owner[operands.items[at]];
    keel_type_id_t element = element_of(program, operands.items[at]);
    bool meets = meets_another(numbers, operands, number, element);
    bool is_other = element_of(program, operation->first_result) != element;
    return meets || is_other ? TYPED : number;
}

static const char *list_numbers(const numbers_t *numbers, uint32_t count, const uint32_t *arguments,
                                const char *names, keel_arena_t *arena) {
    uint32_t found = 0, first = 0;
    for (uint32_t i = 0; i < count; ++i)
        if (!numbers->is_shown[i] && !found++) first = arguments[i];
    if (!found) return "";
    keel_str_t name =
        keel_names_find(names, keel_program_argument_name(numbers->program, numbers->body, first));
    if (!name.size) return "";
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_str(&text, name);
    if (found > 1) keel_buffer_format(&text, " or %u more", found - 1);
    keel_str_t kept = KEEL_STR("");
    if (!text.failed)
        keel_status_ignore(keel_arena_str(arena, keel_bytes_str(keel_buffer_bytes(&text)), &kept));
    keel_buffer_deinitialize(&text);
    return kept.data;
}

const char *keel_retrace_numbers(const keel_program_t *program, const char *names,
                                 keel_arena_t *arena) {
    const keel_block_t *body = keel_program_body(program, program->entry);
    void *memory;
    if (!body) return "";
    keel_status_t status = keel_calloc(program->value_types.count + 1, 1, &memory);
    keel_status_ignore(status);
    if (status) return "";
    numbers_t numbers = {.program = program, .body = body, .owner = memory};
    uint32_t arguments[NUMBERS], count = 0;
    for (uint32_t i = 0; i < body->argument_count; ++i) {
        keel_value_id_t value = body->first_argument + i;
        bool is_one =
            count < NUMBERS && is_number(program, keel_program_value_type(program, value));
        if (is_one) arguments[count++] = i;
        numbers.owner[value] = is_one ? (uint8_t)count : TYPED;
    }
    for (keel_op_id_t op = body->first_op; op < body->end_op; ++op) {
        const keel_operation_t *operation = &program->operations.data[op];
        memset(numbers.owner + operation->first_result, visit(&numbers, op),
               operation->result_count);
    }
    const char *text = list_numbers(&numbers, count, arguments, names, arena);
    keel_free(memory);
    return text;
}
