// Constants beside a program: what stands in a constant's place becomes the constant.
#include "read/read.h"

typedef struct beside_t {
    keel_program_t *program;
    const keel_beside_t *constants;
    size_t count, placed;
    uint8_t *is_placed;
    keel_string_id_t value; // the attribute's name
    uint32_t name;          // the operation's; KEEL_NONE until one is placed
} beside_t;

static keel_status_t refuse(const char *what, keel_str_t target) {
    return keel_status_make(KEEL_UNSUPPORTED, "a constant beside the program: %s: '%.*s'", what,
                            KEEL_STR_ARGS(target));
}

// "" if the operation stands in no constant's place.
static keel_str_t target_of(const keel_program_t *program, keel_op_id_t op) {
    const keel_op_name_t *name = keel_program_op_name(program, op);
    if (!keel_str_is(keel_program_str(program, name->name), "custom_call")) return KEEL_STR("");
    keel_attr_id_t id = keel_program_dict_find(program, program->operations.data[op].attributes,
                                               "call_target_name");
    const keel_attr_t *attr = keel_program_attr(program, id);
    if (attr->kind != KEEL_ATTR_STRING) return KEEL_STR("");
    keel_str_t target = keel_program_str(program, attr->a);
    return keel_str_starts(target, KEEL_STR(KEEL_BESIDE)) ? target : KEEL_STR("");
}

static keel_status_t number_of(const beside_t *beside, keel_str_t target, size_t *out) {
    size_t number = 0, at = sizeof KEEL_BESIDE - 1;
    if (at == target.size) return refuse("no number", target);
    for (; at < target.size; ++at) {
        if (target.data[at] < '0' || target.data[at] > '9') return refuse("no number", target);
        number = number * 10 + (size_t)(target.data[at] - '0');
        if (number >= beside->count) return refuse("there is none of this number", target);
    }
    if (beside->is_placed[number]) return refuse("a second place", target);
    *out = number;
    return NULL;
}

static keel_status_t name_operation(beside_t *beside, keel_op_id_t op) {
    keel_program_t *program = beside->program;
    if (beside->name == KEEL_NONE) {
        keel_op_name_t name = {.dialect = keel_program_op_name(program, op)->dialect, .version = 1};
        if (program->op_names.count >= KEEL_OP_HAS_REGIONS)
            return refuse("too many kinds of operations", KEEL_STR("constant"));
        KEEL_TRY(keel_program_add_text(program, KEEL_STR("constant"), &name.name));
        KEEL_TRY(keel_program_add_text(program, KEEL_STR("value"), &beside->value));
        KEEL_PUSH(&program->op_names, name);
        beside->name = program->op_names.count - 1;
    }
    program->operations.data[op].name = (uint16_t)beside->name;
    return NULL;
}

static keel_status_t place(beside_t *beside, keel_op_id_t op, keel_str_t target) {
    keel_program_t *program = beside->program;
    const keel_operation_t *operation = &program->operations.data[op];
    size_t number = 0;
    KEEL_TRY(number_of(beside, target, &number));
    bool has_regions = operation->name & KEEL_OP_HAS_REGIONS;
    if (operation->result_count != 1 || has_regions || keel_program_operands(program, op).count)
        return refuse("not in the place of one", target);
    keel_bytes_t bytes = beside->constants[number].bytes;
    keel_type_id_t type = keel_program_value_type(program, operation->first_result);
    keel_tensor_view_t view;
    KEEL_TRY(keel_program_tensor(program, type, bytes, &view));
    if (view.is_splat || view.bytes.size != bytes.size)
        return refuse("its size is not that of its type", target);
    KEEL_TRY(name_operation(beside, op));
    keel_attr_t tensor = {.kind = KEEL_ATTR_TENSOR, .a = type},
                all = {.kind = KEEL_ATTR_DICT, .a = KEEL_NONE};
    uint32_t entry[2] = {beside->value};
    KEEL_TRY(keel_program_add_blob(program, bytes, &tensor.b));
    KEEL_TRY(keel_program_add_attr(program, tensor, &entry[1]));
    KEEL_TRY(keel_program_add_list(program, entry, 2, &all.b));
    KEEL_TRY(keel_program_add_attr(program, all, &program->operations.data[op].attributes));
    beside->is_placed[number] = 1;
    ++beside->placed;
    return NULL;
}

static keel_status_t place_all(beside_t *beside) {
    uint32_t count = keel_program_op_count(beside->program);
    for (keel_op_id_t op = 0; op < count; ++op) {
        keel_str_t target = target_of(beside->program, op);
        if (target.size) KEEL_TRY(place(beside, op, target));
    }
    if (beside->placed < beside->count) return refuse("one has no place", KEEL_STR(KEEL_BESIDE));
    beside->program->beside = beside->constants;
    beside->program->beside_count = beside->count;
    return NULL;
}

keel_status_t keel_read_mlir_beside(keel_bytes_t bytes, const keel_beside_t *constants,
                                    size_t count, keel_program_t *out) {
    KEEL_TRY(keel_read_mlir(bytes, out));
    beside_t beside = {.program = out, .constants = constants, .count = count, .name = KEEL_NONE};
    keel_status_t status = keel_calloc(count, 1, (void **)&beside.is_placed);
    if (!status) status = place_all(&beside);
    keel_free(beside.is_placed);
    if (status) keel_program_deinitialize(out);
    return status;
}
