#include "history/history.h"

// Hashes are kept in files, so they depend only on a program's content, never on its tables'
// numbers.
static uint64_t mix_content(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, keel_str_t text) {
    return mix_content(hash, keel_quick_hash(keel_str_bytes(text)));
}

// ---- signature ---------------------------------------------------------------------------------

// Types nest, and a hostile program may share them so that they expand without end: below this
// depth, and beyond this many, only their kind counts.
enum { TYPE_DEPTH = 6, TYPE_VISITS = 1 << 16 };

typedef struct types_t {
    const keel_program_t *program;
    uint64_t hash;
    uint64_t counted; // arguments and results by type hash: 16 counters of four bits
    uint32_t left;
} types_t;

static void add_type(types_t *types, keel_type_id_t id, int depth);

static void add_types(types_t *types, uint32_t offset, int depth) {
    keel_list_t list = keel_program_list(types->program, offset);
    types->hash = mix_content(types->hash, list.count);
    for (uint32_t i = 0; i < list.count && types->left; ++i)
        add_type(types, list.items[i], depth);
}

// Only of the entry's own types, so that a changed one leaves the others unchanged.
static void count_type(types_t *types, keel_type_id_t id) {
    uint64_t before = types->hash;
    types->hash = 1;
    add_type(types, id, TYPE_DEPTH);
    unsigned shift = (unsigned)(types->hash >> 60) * 4;
    if ((types->counted >> shift & 15) != 15) types->counted += (uint64_t)1 << shift;
    types->hash = mix_content(before, types->hash);
}

static void count_types(types_t *types, uint32_t offset) {
    keel_list_t list = keel_program_list(types->program, offset);
    types->hash = mix_content(types->hash, list.count);
    for (uint32_t i = 0; i < list.count && types->left; ++i)
        count_type(types, list.items[i]);
}

static void count_signature(types_t *types, keel_type_id_t id) {
    const keel_type_t *type = keel_program_type(types->program, id);
    if (type->kind != KEEL_TYPE_FUNCTION) return;
    count_types(types, type->b);
    count_types(types, type->c);
}

static void add_dimensions(types_t *types, uint32_t offset) {
    keel_ints_t dimensions = keel_program_ints(types->program, offset);
    types->hash = mix_content(types->hash, dimensions.count);
    for (uint32_t i = 0; i < dimensions.count; ++i)
        types->hash = mix_content(types->hash, (uint64_t)dimensions.items[i]);
}

static void add_type(types_t *types, keel_type_id_t id, int depth) {
    if (!types->left) return;
    --types->left;
    const keel_type_t *type = keel_program_type(types->program, id);
    types->hash = mix_content(types->hash, (uint64_t)type->kind << 8 | type->aux);
    if (!depth) return;
    switch (type->kind) {
        case KEEL_TYPE_INTEGER:
        case KEEL_TYPE_FLOAT:
            types->hash = mix_content(types->hash, type->a);
            return;
        case KEEL_TYPE_TENSOR:
        case KEEL_TYPE_BUFFER:
            add_dimensions(types, type->b);
            add_type(types, type->a, depth - 1);
            return;
        case KEEL_TYPE_COMPLEX:
        case KEEL_TYPE_UNRANKED_TENSOR:
        case KEEL_TYPE_QUANTIZED:
            add_type(types, type->a, depth - 1);
            return;
        case KEEL_TYPE_TUPLE:
        case KEEL_TYPE_FUTURE:
            add_types(types, type->b, depth - 1);
            return;
        case KEEL_TYPE_FUNCTION:
            add_types(types, type->b, depth - 1);
            add_types(types, type->c, depth - 1);
            return;
        default:
            return;
    }
}

// HLO has no function types: its parameters are operations, and the root is the result.
static uint32_t add_parameters(types_t *types, const keel_function_t *entry,
                               const keel_block_t *block) {
    const keel_program_t *program = types->program;
    uint32_t count = 0;
    for (keel_op_id_t op = block->first_op; op < block->end_op; ++op) {
        const keel_operation_t *operation = &program->operations.data[op];
        bool is_root = op == entry->root;
        keel_str_t name = keel_program_str(program, keel_program_op_name(program, op)->name);
        bool is_parameter = keel_str_is(name, "parameter");
        count += is_parameter;
        if (!operation->result_count || (!is_parameter && !is_root)) continue;
        types->hash = mix_content(types->hash, is_root);
        count_type(types, program->value_types.data[operation->first_result]);
    }
    return count;
}

// ---- names -------------------------------------------------------------------------------------

static uint64_t hash_names(const keel_program_t *program, const keel_block_t *block) {
    uint64_t hash = mix_content(1, block->argument_count);
    if (block->argument_locations == KEEL_NONE) return hash;
    for (uint32_t i = 0; i < block->argument_count; ++i)
        hash = mix_text(hash, keel_program_argument_name(program, block, i));
    return hash;
}

// ---- operations --------------------------------------------------------------------------------

static void count_operations(const keel_program_t *program, keel_sketch_t *out) {
    for (keel_op_id_t op = 0; op < out->operations; ++op) {
        keel_str_t name = keel_program_str(program, keel_program_op_name(program, op)->name);
        if (keel_str_is(name, "constant")) continue;
        uint16_t *count = &out->counts[keel_quick_hash(keel_str_bytes(name)) % KEEL_SKETCH_BUCKETS];
        if (*count != UINT16_MAX) ++*count;
    }
}

void keel_sketch_of(const keel_program_t *program, keel_sketch_t *out) {
    *out = (keel_sketch_t){.operations = keel_program_op_count(program), .signature = 1};
    count_operations(program, out);
    if (program->entry == KEEL_NONE) return;
    const keel_function_t *entry = &program->functions.data[program->entry];
    const keel_block_t *block = keel_program_body(program, program->entry);
    types_t types = {.program = program, .hash = 1, .left = TYPE_VISITS};
    count_signature(&types, entry->type);
    if (block) {
        out->arguments = block->argument_count;
        out->names = hash_names(program, block);
        if (entry->type == KEEL_NONE) out->arguments = add_parameters(&types, entry, block);
    }
    out->signature = types.hash;
    out->types = types.counted;
}

static double share_of_types(uint64_t a, uint64_t b) {
    uint64_t common = 0, larger = 0;
    for (unsigned shift = 0; shift < 64; shift += 4) {
        uint64_t x = a >> shift & 15, y = b >> shift & 15;
        common += x < y ? x : y;
        larger += x < y ? y : x;
    }
    return larger ? (double)common / (double)larger : 0;
}

// Operations decide; names and types of the arguments distinguish programs with the same
// operations.
double keel_sketch_alike(const keel_sketch_t *a, const keel_sketch_t *b) {
    uint32_t common = 0, larger = 0;
    for (size_t i = 0; i < KEEL_SKETCH_BUCKETS; ++i) {
        uint16_t x = a->counts[i], y = b->counts[i];
        common += x < y ? x : y;
        larger += x < y ? y : x;
    }
    double share = larger ? (double)common / (double)larger : 1;
    bool same = a->signature == b->signature;
    double types = same ? 0.05 : 0.04 * share_of_types(a->types, b->types);
    return 0.9 * share + 0.05 * (a->names == b->names) + types;
}
