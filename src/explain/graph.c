#include "explain/graph.h"

enum { DEPTH = 160 };

static uint64_t hash_str(keel_str_t text) {
    return keel_quick_hash(keel_str_bytes(text));
}

// ---- tables ------------------------------------------------------------------------------------

static keel_status_t table(keel_arena_t *arena, size_t count, size_t size, int fill, void **out) {
    KEEL_TRY(keel_arena_array(arena, count ? count : 1, size, out));
    memset(*out, fill, (count ? count : 1) * size);
    return NULL;
}

static void fill_producers(keel_graph_t *graph, uint32_t op_count) {
    const keel_program_t *program = graph->program;
    for (keel_op_id_t op = 0; op < op_count; ++op) {
        const keel_operation_t *operation = &program->operations.data[op];
        for (uint32_t i = 0; i < operation->result_count; ++i)
            graph->producer[operation->first_result + i] = op;
    }
}

void keel_graph_body(const keel_graph_t *graph, uint32_t function, keel_op_id_t *first,
                     keel_op_id_t *end) {
    const keel_program_t *program = graph->program;
    const keel_region_t *region = &program->regions.data[program->functions.data[function].region];
    *first = region->block_count ? program->blocks.data[region->first_block].first_op : region->end;
    *end = region->end;
}

static void fill_functions(keel_graph_t *graph) {
    for (uint32_t function = 0; function < graph->program->functions.count; ++function) {
        keel_op_id_t first, end;
        keel_graph_body(graph, function, &first, &end);
        for (keel_op_id_t op = first; op < end; ++op)
            graph->function_of[op] = function;
    }
}

bool keel_graph_only_reshapes(keel_str_t name) {
    static const char *const names[] = {
        "broadcast_in_dim",          "broadcast", "reshape", "convert", "transpose", "bitcast",
        "unrealized_conversion_cast"};
    return keel_str_is_among(name, names, sizeof names / sizeof *names);
}

keel_value_id_t keel_graph_unshaped(const keel_graph_t *graph, keel_value_id_t value) {
    enum { LOOKED_THROUGH = 8 };
    for (unsigned i = 0; i < LOOKED_THROUGH && graph->producer[value] != KEEL_NONE; ++i) {
        keel_op_id_t op = graph->producer[value];
        keel_list_t operands = keel_program_operands(graph->program, op);
        if (operands.count != 1 || !keel_graph_only_reshapes(keel_graph_name(graph, op))) break;
        value = operands.items[0];
    }
    return value;
}

keel_list_t keel_graph_results(const keel_graph_t *graph) {
    keel_op_id_t root = graph->program->functions.data[graph->program->entry].root;
    bool is_list = root != KEEL_NONE && keel_str_is(keel_graph_name(graph, root), "tuple");
    return is_list ? keel_program_operands(graph->program, root) : (keel_list_t){NULL, 0};
}

bool keel_graph_is_idle(const keel_graph_t *graph) {
    keel_op_id_t first, end;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op)
        if (graph->constant[op] == KEEL_NONE && !keel_str_is(keel_graph_name(graph, op), "return"))
            return false;
    return true;
}

bool keel_graph_is_parameter(const keel_graph_t *graph, keel_op_id_t op) {
    return graph->program->format == KEEL_FORMAT_HLO &&
           graph->function_of[op] == graph->program->entry &&
           keel_str_is(keel_graph_name(graph, op), "parameter");
}

// Parameters of HLO are operations. They are compared like arguments in other formats, which no
// operation defines.
static void take_out_parameters(keel_graph_t *graph, uint32_t op_count) {
    for (keel_op_id_t op = 0; op < op_count; ++op) {
        if (!keel_graph_is_parameter(graph, op)) continue;
        graph->producer[graph->program->operations.data[op].first_result] = KEEL_NONE;
        graph->constant[op] = op;
    }
}

static void fill_constants(keel_graph_t *graph, uint32_t op_count) {
    const keel_program_t *program = graph->program;
    for (keel_op_id_t op = 0; op < op_count; ++op) {
        keel_str_t name = keel_graph_name(graph, op);
        keel_list_t operands = keel_program_operands(program, op);
        if (keel_str_is(name, "constant")) graph->constant[op] = op;
        if (operands.count != 1 || !keel_graph_only_reshapes(name)) continue;
        keel_op_id_t source = graph->producer[operands.items[0]];
        if (source != KEEL_NONE && source < op) graph->constant[op] = graph->constant[source];
    }
}

// ---- calls -------------------------------------------------------------------------------------

// In HLO the body that an operation applies to its elements is a function too.
static bool is_call(const keel_graph_t *graph, keel_op_id_t op) {
    if (graph->program->format == KEEL_FORMAT_HLO) return true;
    keel_str_t name = keel_graph_name(graph, op);
    return keel_str_is(name, "call") || keel_str_is(name, "composite");
}

// The name of the function that a call names; "" if it names none.
static keel_str_t callee_name(const keel_program_t *program, keel_op_id_t op) {
    static const char *const places[] = {"callee", "decomposition", "called_computations",
                                         "to_apply"};
    keel_attr_id_t dict = program->operations.data[op].attributes;
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        keel_attr_id_t found = keel_program_dict_find(program, dict, places[i]);
        if (found == KEEL_NONE) continue;
        const keel_attr_t *attr = keel_program_attr(program, found);
        if (attr->kind == KEEL_ATTR_ARRAY) {
            keel_list_t items = keel_program_list(program, attr->b);
            if (!items.count) continue;
            attr = keel_program_attr(program, items.items[0]);
        }
        if (attr->kind == KEEL_ATTR_SYMBOL || attr->kind == KEEL_ATTR_STRING)
            return keel_program_str(program, attr->a);
    }
    return KEEL_STR("");
}

// Functions are looked up by name once: there may be as many calls as functions.
static keel_status_t fill_callees(keel_graph_t *graph, uint32_t op_count) {
    const keel_program_t *program = graph->program;
    keel_map_t functions;
    keel_map_initialize(&functions);
    keel_status_t status = NULL;
    for (uint32_t i = program->functions.count; !status && i-- > 0;)
        status = keel_map_put(
            &functions, keel_str_bytes(keel_program_str(program, program->functions.data[i].name)),
            i);
    for (keel_op_id_t op = 0; !status && op < op_count; ++op) {
        if (!is_call(graph, op)) continue;
        keel_str_t name = callee_name(program, op);
        const uint64_t *function =
            name.size ? keel_map_find(&functions, keel_str_bytes(name)) : NULL;
        if (function) graph->callee[op] = (uint32_t)*function;
    }
    keel_map_deinitialize(&functions);
    return status;
}

// ---- lines from operands -----------------------------------------------------------------------

static bool is_users(keel_graph_t *graph, keel_op_id_t op) {
    const keel_source_line_t *line =
        keel_graph_line_at(graph, graph->program->operations.data[op].location);
    return line->identity && !line->is_foreign;
}

// The last operand that has a line, which is nearest to what is differentiated.
static keel_op_id_t lender_of(keel_graph_t *graph, keel_op_id_t op) {
    keel_list_t operands = keel_program_operands(graph->program, op);
    keel_op_id_t own = KEEL_NONE, lent = KEEL_NONE;
    for (uint32_t i = 0; i < operands.count; ++i) {
        keel_op_id_t producer = graph->producer[operands.items[i]];
        if (producer == KEEL_NONE || producer >= op || graph->lender[producer] == KEEL_NONE)
            continue;
        bool is_own = graph->lender[producer] == producer;
        keel_op_id_t *best = is_own ? &own : &lent;
        if (*best == KEEL_NONE || graph->lender[producer] > *best) *best = graph->lender[producer];
    }
    return own == KEEL_NONE ? lent : own;
}

// PyTorch's engine has no stack of the user's, but code in Python has one of PyTorch's own. A
// program that comes from a library alone keeps such lines.
static keel_status_t fill_lenders(keel_graph_t *graph, uint32_t op_count) {
    KEEL_TRY(table(graph->arena, op_count, sizeof *graph->lender, 0xff, (void **)&graph->lender));
    bool has_users = false;
    for (keel_op_id_t op = 0; op < op_count && !has_users; ++op)
        has_users = is_users(graph, op);
    for (keel_op_id_t op = 0; op < op_count; ++op) {
        keel_attr_id_t location = graph->program->operations.data[op].location;
        bool has_line = keel_graph_line_at(graph, location)->identity;
        if (has_line && (!has_users || is_users(graph, op)))
            graph->lender[op] = op;
        else
            graph->lender[op] = lender_of(graph, op);
        if (has_line && graph->lender[op] == KEEL_NONE) graph->lender[op] = op;
    }
    return NULL;
}

keel_status_t keel_graph_build(keel_graph_t *graph, const keel_program_t *program,
                               const char *application, keel_arena_t *arena) {
    *graph = (keel_graph_t){.program = program, .arena = arena, .application = application};
    uint32_t op_count = keel_program_op_count(program);
    KEEL_TRY(table(arena, program->value_types.count, sizeof *graph->producer, 0xff,
                   (void **)&graph->producer));
    KEEL_TRY(table(arena, op_count, sizeof *graph->constant, 0xff, (void **)&graph->constant));
    KEEL_TRY(table(arena, op_count, sizeof *graph->callee, 0xff, (void **)&graph->callee));
    KEEL_TRY(
        table(arena, op_count, sizeof *graph->function_of, 0xff, (void **)&graph->function_of));
    KEEL_TRY(table(arena, program->attrs.count, sizeof *graph->attr_hashes, 0,
                   (void **)&graph->attr_hashes));
    KEEL_TRY(table(arena, program->types.count, sizeof *graph->type_hashes, 0,
                   (void **)&graph->type_hashes));
    KEEL_TRY(
        table(arena, program->attrs.count, sizeof *graph->line_of, 0, (void **)&graph->line_of));
    KEEL_TRY(table(arena, op_count, sizeof *graph->called_line, 0, (void **)&graph->called_line));
    KEEL_TRY(table(arena, op_count, 1, 0, (void **)&graph->is_spare));
    KEEL_TRY(table(arena, program->functions.count, 1, 0, (void **)&graph->traced));
    KEEL_TRY(table(arena, program->functions.count, sizeof *graph->call_site, 0xff,
                   (void **)&graph->call_site));
    fill_producers(graph, op_count);
    fill_functions(graph);
    fill_constants(graph, op_count);
    take_out_parameters(graph, op_count);
    KEEL_TRY(fill_callees(graph, op_count));
    if (program->format != KEEL_FORMAT_HLO) return NULL;
    KEEL_TRY(keel_graph_merge_twins(graph));
    return fill_lenders(graph, op_count);
}

// ---- contents ----------------------------------------------------------------------------------

static uint64_t hash_attr(keel_graph_t *graph, keel_attr_id_t attr, unsigned depth);

static uint64_t hash_ints(const keel_program_t *program, uint32_t list, uint64_t hash) {
    keel_ints_t ints = keel_program_ints(program, list);
    return keel_graph_mix(hash,
                          keel_quick_hash(keel_bytes(ints.items, ints.count * sizeof *ints.items)));
}

static uint64_t hash_type(keel_graph_t *graph, keel_type_id_t id, unsigned depth) {
    if (id == KEEL_NONE || depth > DEPTH) return 1;
    if (graph->type_hashes[id]) return graph->type_hashes[id];
    const keel_program_t *program = graph->program;
    const keel_type_t *type = keel_program_type(program, id);
    uint64_t hash = keel_graph_mix(type->kind, type->aux);
    switch (type->kind) {
        case KEEL_TYPE_INTEGER:
        case KEEL_TYPE_FLOAT:
            hash = keel_graph_mix(hash, type->a);
            break;
        case KEEL_TYPE_COMPLEX:
        case KEEL_TYPE_UNRANKED_TENSOR:
            hash = keel_graph_mix(hash, hash_type(graph, type->a, depth + 1));
            break;
        case KEEL_TYPE_TENSOR:
        case KEEL_TYPE_BUFFER:
            hash = hash_ints(program, type->b,
                             keel_graph_mix(hash, hash_type(graph, type->a, depth + 1)));
            hash = keel_graph_mix(hash, hash_attr(graph, type->c, depth + 1));
            break;
        case KEEL_TYPE_TUPLE:
        case KEEL_TYPE_FUTURE:
        case KEEL_TYPE_FUNCTION: {
            keel_list_t items = keel_program_list(program, type->b);
            for (uint32_t i = 0; i < items.count; ++i)
                hash = keel_graph_mix(hash, hash_type(graph, items.items[i], depth + 1));
            items = (keel_list_t){NULL, 0};
            if (type->kind == KEEL_TYPE_FUNCTION) items = keel_program_list(program, type->c);
            for (uint32_t i = 0; i < items.count; ++i)
                hash = keel_graph_mix(hash, hash_type(graph, items.items[i], depth + 1));
            break;
        }
        case KEEL_TYPE_QUANTIZED:
            hash = keel_graph_mix(hash, hash_type(graph, type->a, depth + 1));
            hash = keel_graph_mix(hash, hash_type(graph, type->b, depth + 1));
            hash = keel_graph_mix(hash, hash_attr(graph, type->c, depth + 1));
            break;
        default:
            break;
    }
    return graph->type_hashes[id] = hash | 1;
}

// The order in a dictionary does not matter, so the hashes of its entries are added.
static uint64_t hash_dict(keel_graph_t *graph, const keel_attr_t *attr, unsigned depth) {
    keel_list_t entries = keel_program_list(graph->program, attr->b);
    uint64_t sum = attr->klass;
    for (uint32_t i = 0; i + 1 < entries.count; i += 2) {
        uint64_t name = hash_str(keel_program_str(graph->program, entries.items[i]));
        sum += keel_graph_mix(name, hash_attr(graph, entries.items[i + 1], depth + 1));
    }
    return sum;
}

static uint64_t hash_list(keel_graph_t *graph, uint32_t list, unsigned depth) {
    keel_list_t items = keel_program_list(graph->program, list);
    uint64_t hash = items.count;
    for (uint32_t i = 0; i < items.count; ++i)
        hash = keel_graph_mix(hash, hash_attr(graph, items.items[i], depth + 1));
    return hash;
}

static uint64_t hash_contents(keel_graph_t *graph, const keel_attr_t *attr, unsigned depth) {
    const keel_program_t *program = graph->program;
    uint64_t hash = attr->aux;
    switch (attr->kind) {
        case KEEL_ATTR_BOOL:
            return keel_graph_mix(hash, attr->a);
        case KEEL_ATTR_INT:
        case KEEL_ATTR_FLOAT:
            hash = keel_graph_mix(hash, hash_type(graph, attr->a, depth + 1));
            return keel_graph_mix(hash, (uint64_t)program->ints.data[attr->b]);
        case KEEL_ATTR_WIDE_INT:
            return hash_ints(program, attr->b, hash_type(graph, attr->a, depth + 1));
        case KEEL_ATTR_STRING:
            return keel_graph_mix(hash, hash_str(keel_program_str(program, attr->a)));
        case KEEL_ATTR_TYPE:
            return keel_graph_mix(hash, hash_type(graph, attr->a, depth + 1));
        case KEEL_ATTR_ENUM:
            return keel_graph_mix(attr->klass, attr->a);
        case KEEL_ATTR_ARRAY:
            return hash_list(graph, attr->b, depth);
        case KEEL_ATTR_DICT:
            return hash_dict(graph, attr, depth);
        case KEEL_ATTR_INTS:
            return hash_ints(program, attr->b, attr->klass);
        case KEEL_ATTR_SYMBOL:
            return keel_graph_mix(hash, hash_str(keel_program_str(program, attr->a)));
        case KEEL_ATTR_TENSOR:
        case KEEL_ATTR_DENSE_ARRAY:
            hash = keel_graph_mix(hash, hash_type(graph, attr->a, depth + 1));
            return keel_graph_mix(hash, keel_quick_hash(program->blobs.data[attr->b]));
        case KEEL_ATTR_STRINGS: {
            keel_list_t items = keel_program_list(program, attr->b);
            for (uint32_t i = 0; i < items.count; ++i)
                hash = keel_graph_mix(hash, hash_str(keel_program_str(program, items.items[i])));
            return hash;
        }
        case KEEL_ATTR_SPARSE:
            return hash_list(graph, attr->b, depth);
        case KEEL_ATTR_DISTINCT:
            return hash_attr(graph, attr->a, depth + 1);
        case KEEL_ATTR_BYTES:
            return keel_graph_mix(hash, keel_quick_hash(program->blobs.data[attr->b]));
        default:
            return 0; // absent, unit, and all locations
    }
}

static uint64_t hash_attr(keel_graph_t *graph, keel_attr_id_t attr, unsigned depth) {
    if (attr == KEEL_NONE || depth > DEPTH) return 1;
    if (graph->attr_hashes[attr]) return graph->attr_hashes[attr];
    const keel_attr_t *contents = keel_program_attr(graph->program, attr);
    uint64_t kind = keel_attr_is_location(contents->kind) ? KEEL_ATTR_LOC_UNKNOWN : contents->kind;
    uint64_t hash = keel_graph_mix(kind + 1, hash_contents(graph, contents, depth)) | 1;
    return graph->attr_hashes[attr] = hash;
}

uint64_t keel_graph_attr_hash(keel_graph_t *graph, keel_attr_id_t attr) {
    return hash_attr(graph, attr, 0);
}

uint64_t keel_graph_type_hash(keel_graph_t *graph, keel_type_id_t type) {
    return hash_type(graph, type, 0);
}

keel_str_t keel_graph_name(const keel_graph_t *graph, keel_op_id_t op) {
    return keel_program_str(graph->program, keel_program_op_name(graph->program, op)->name);
}

bool keel_graph_tensor(const keel_graph_t *graph, keel_op_id_t constant, keel_type_id_t *out_type,
                       keel_tensor_view_t *out) {
    const keel_program_t *program = graph->program;
    const keel_attr_id_t dict = program->operations.data[constant].attributes;
    keel_attr_id_t value = keel_program_dict_find(program, dict, "value");
    if (value == KEEL_NONE) value = keel_program_dict_find(program, dict, "literal");
    if (keel_program_attr(program, value)->kind != KEEL_ATTR_TENSOR) return false;
    const keel_attr_t *attr = keel_program_attr(program, value);
    *out_type = attr->a;
    keel_status_t status = keel_program_tensor(program, attr->a, program->blobs.data[attr->b], out);
    bool is_good = !status;
    keel_status_ignore(status);
    return is_good;
}
