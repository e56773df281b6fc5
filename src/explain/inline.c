#include "explain/inline.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH = 16, FRAMES = 64, GROWTH = 4, LEAST = 4096 };

// ---- what is kept separate ---------------------------------------------------------------------

// JAX numbers functions of one name: "helper_0".
static keel_str_t base_name(const keel_program_t *program, uint32_t function) {
    keel_str_t name = keel_program_str(program, program->functions.data[function].name);
    return keel_str_without_number(name, '_');
}

// By token: the function that contains it, or SEVERAL. The entry is "main", and a function of the
// user's may be too.
enum { SEVERAL = 2, ENTRY = 4 };

static uint64_t name_token(const keel_program_t *program, uint32_t function) {
    if (function == KEEL_NONE) return 0;
    if (function == program->entry) return ENTRY;
    return keel_quick_hash(keel_str_bytes(base_name(program, function))) | 1;
}

// Identifies an operation wherever it is; 0 if there is too little to tell.
static uint64_t token_of(keel_graph_t *graph, keel_op_id_t op) {
    if (graph->constant[op] != KEEL_NONE) return 0;
    const keel_source_line_t *line =
        keel_graph_line_at(graph, graph->program->operations.data[op].location);
    if (!line->identity || keel_str_is(keel_graph_name(graph, op), "return")) return 0;
    return (keel_quick_hash(keel_str_bytes(keel_graph_name(graph, op))) ^ line->token) *
               0x9e3779b97f4a7c15u |
           1;
}

static keel_status_t note_places(keel_graph_t *graph, keel_map_t *out) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        uint64_t token = token_of(graph, op);
        if (!token) continue;
        uint64_t name = name_token(graph->program, graph->function_of[op]);
        keel_bytes_t key = keel_bytes(&token, sizeof token);
        uint64_t *known = keel_map_find(out, key);
        if (!known)
            KEEL_TRY(keel_map_put(out, key, name));
        else if (*known != name)
            *known = SEVERAL;
    }
    return NULL;
}

// True if nearly all of its operations are in the other program, in a different function if
// `is_moved`.
static bool is_in(keel_graph_t *graph, uint32_t function, const keel_map_t *places, bool is_moved) {
    keel_op_id_t first, end;
    uint32_t count = 0, found = 0;
    uint64_t name = name_token(graph->program, function);
    keel_graph_body(graph, function, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        uint64_t token = token_of(graph, op);
        if (!token) continue;
        ++count;
        const uint64_t *place = keel_map_find(places, keel_bytes(&token, sizeof token));
        found += place && (!is_moved || (*place != name && *place != SEVERAL));
    }
    return count && found * 4 >= count * 3;
}

// The function that this one does nothing but call, as jit(jit(f)) does; KEEL_NONE if it does more.
static uint32_t passes_to(const keel_graph_t *graph, uint32_t function) {
    const keel_program_t *program = graph->program;
    const keel_block_t *block = keel_program_body(program, function);
    if (!block || block->first_op == block->end_op) return KEEL_NONE;
    keel_op_id_t call = block->first_op, last = keel_program_next(program, call);
    uint32_t callee = keel_graph_callee(graph, call);
    if (callee == KEEL_NONE || last >= block->end_op) return KEEL_NONE;
    keel_list_t passed = keel_program_operands(program, call);
    keel_list_t results = keel_program_operands(program, last);
    const keel_operation_t *operation = &program->operations.data[call];
    if (keel_program_next(program, last) < block->end_op ||
        !keel_str_is(keel_graph_name(graph, last), "return") ||
        passed.count != block->argument_count || results.count != operation->result_count)
        return KEEL_NONE;
    for (uint32_t i = 0; i < passed.count; ++i)
        if (passed.items[i] != block->first_argument + i) return KEEL_NONE;
    for (uint32_t i = 0; i < results.count; ++i)
        if (results.items[i] != operation->first_result + i) return KEEL_NONE;
    return callee;
}

// The function that computes, behind those that only pass on; *out_depth counts these.
static uint32_t innermost(const keel_graph_t *graph, uint32_t function, uint32_t *out_depth) {
    for (*out_depth = 0; *out_depth < DEPTH; ++*out_depth) {
        uint32_t callee = passes_to(graph, function);
        if (callee == KEEL_NONE) break;
        function = callee;
    }
    return function;
}

static uint64_t pass_token(const keel_program_t *program, uint32_t function, uint32_t depth) {
    return keel_graph_join(name_token(program, function), depth);
}

static keel_status_t note_passes(const keel_graph_t *graph, keel_map_t *out) {
    for (uint32_t i = 0; i < graph->program->functions.count; ++i) {
        uint32_t depth;
        innermost(graph, i, &depth);
        for (; depth; --depth) {
            uint64_t token = pass_token(graph->program, i, depth);
            KEEL_TRY(keel_map_put(out, keel_bytes(&token, sizeof token), 1));
        }
    }
    return NULL;
}

// What the other program has: its operations, and its functions that only pass on.
typedef struct others_t {
    keel_map_t places, passes;
} others_t;

static bool is_apart(keel_graph_t *graph, uint32_t function, const others_t *others) {
    uint32_t depth, inner = innermost(graph, function, &depth);
    if (function == graph->program->entry) return false;
    if (!depth) return is_in(graph, function, &others->places, true);
    uint64_t token = pass_token(graph->program, function, depth);
    return !keel_map_find(&others->passes, keel_bytes(&token, sizeof token)) &&
           is_in(graph, inner, &others->places, false);
}

// ---- copying -----------------------------------------------------------------------------------

typedef struct copy_t {
    const keel_graph_t *graph;
    const keel_program_t *from;
    keel_program_t *to;
    keel_inlined_t *out;
    const uint8_t *apart;   // by function
    keel_value_id_t *value; // by value of `from`

    uint32_t op_limit, value_limit, operand_limit, region_limit, block_limit;
    bool is_full;
} copy_t;

static keel_value_id_t new_values(copy_t *copy, keel_value_id_t first, uint32_t count) {
    keel_program_t *to = copy->to;
    keel_value_id_t at = to->value_types.count;
    if (count > copy->value_limit - at) {
        copy->is_full = true;
        return 0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        to->value_types.data[to->value_types.count++] = copy->from->value_types.data[first + i];
        copy->value[first + i] = at + i;
    }
    return at;
}

static void copy_range(copy_t *copy, keel_op_id_t first, keel_op_id_t end, unsigned depth);

static void copy_region(copy_t *copy, const keel_region_t *region, uint32_t at, unsigned depth) {
    keel_program_t *to = copy->to;
    if (region->block_count > copy->block_limit - to->blocks.count) {
        copy->is_full = true;
        return;
    }
    uint32_t first = to->blocks.count;
    to->blocks.count += region->block_count;
    to->regions.data[at].first_block = first;
    to->regions.data[at].block_count = region->block_count;
    for (uint32_t i = 0; i < region->block_count && !copy->is_full; ++i) {
        const keel_block_t *block = &copy->from->blocks.data[region->first_block + i];
        keel_block_t *made = &to->blocks.data[first + i];
        *made = *block;
        made->first_argument = new_values(copy, block->first_argument, block->argument_count);
        made->first_op = to->operations.count;
        copy_range(copy, block->first_op, block->end_op, depth);
        made->end_op = to->operations.count;
    }
    to->regions.data[at].end = to->operations.count;
}

static bool copy_operands(copy_t *copy, keel_op_id_t op) {
    keel_program_t *to = copy->to;
    keel_list_t operands = keel_program_operands(copy->from, op);
    if (operands.count > copy->operand_limit - to->operands.count) return false;
    for (uint32_t i = 0; i < operands.count; ++i)
        to->operands.data[to->operands.count++] = copy->value[operands.items[i]];
    return true;
}

static void copy_op(copy_t *copy, keel_op_id_t op, unsigned depth) {
    keel_program_t *to = copy->to;
    keel_operation_t made = copy->from->operations.data[op];
    keel_region_run_t regions = keel_program_regions(copy->from, op);
    keel_op_id_t at = to->operations.count;
    made.first_operand = to->operands.count;
    if (at + 1 >= copy->op_limit || regions.count > copy->region_limit - to->regions.count ||
        !copy_operands(copy, op)) {
        copy->is_full = true;
        return;
    }
    made.first_result = new_values(copy, made.first_result, made.result_count);
    copy->out->origin[at] = op;
    to->operations.data[to->operations.count++] = made;
    uint32_t first = to->regions.count;
    to->regions.count += regions.count;
    for (uint32_t i = 0; i < regions.count; ++i)
        to->regions.data[first + i] = (keel_region_t){.parent = at};
    for (uint32_t i = 0; i < regions.count && !copy->is_full; ++i)
        copy_region(copy, &regions.items[i], first + i, depth);
    for (uint32_t i = 0; i < to->functions.count; ++i)
        if (copy->from->functions.data[i].operation == op && regions.count) {
            to->functions.data[i].operation = at;
            to->functions.data[i].region = first;
        }
}

// Puts the body in the place of its call.
static void copy_body(copy_t *copy, keel_op_id_t call, uint32_t function, unsigned depth) {
    const keel_block_t *block = keel_program_body(copy->from, function);
    keel_list_t operands = keel_program_operands(copy->from, call);
    for (uint32_t i = 0; i < operands.count && i < block->argument_count; ++i)
        copy->value[block->first_argument + i] = copy->value[operands.items[i]];
    keel_op_id_t last = KEEL_NONE;
    for (keel_op_id_t op = block->first_op; op < block->end_op;
         op = keel_program_next(copy->from, op))
        last = op;
    if (last == KEEL_NONE) return;
    copy_range(copy, block->first_op, last, depth + 1);
    const keel_operation_t *operation = &copy->from->operations.data[call];
    keel_list_t results = keel_program_operands(copy->from, last);
    for (uint32_t i = 0; i < operation->result_count && i < results.count; ++i)
        copy->value[operation->first_result + i] = copy->value[results.items[i]];
}

static bool is_to_inline(const copy_t *copy, keel_op_id_t op, uint32_t function, unsigned depth) {
    const keel_block_t *block = keel_program_body(copy->from, function);
    if (function == KEEL_NONE || !block || !copy->apart[function] || depth >= DEPTH) return false;
    keel_list_t operands = keel_program_operands(copy->from, op);
    if (operands.count != block->argument_count || block->first_op == block->end_op) return false;
    keel_op_id_t last = block->first_op;
    for (keel_op_id_t at = last; at < block->end_op; at = keel_program_next(copy->from, at))
        last = at;
    return keel_str_is(keel_graph_name(copy->graph, last), "return") &&
           keel_program_operands(copy->from, last).count ==
               copy->from->operations.data[op].result_count;
}

static void copy_range(copy_t *copy, keel_op_id_t first, keel_op_id_t end, unsigned depth) {
    for (keel_op_id_t op = first; op < end && !copy->is_full;
         op = keel_program_next(copy->from, op)) {
        uint32_t callee = keel_graph_callee(copy->graph, op);
        if (is_to_inline(copy, op, callee, depth))
            copy_body(copy, op, callee, depth);
        else
            copy_op(copy, op, depth);
    }
}

static keel_status_t make_room(copy_t *copy, keel_arena_t *arena) {
    const keel_program_t *from = copy->from;
    keel_program_t *to = copy->to;
    *to = *from;
#define ROOM(table, limit)                                                                         \
    copy->limit = GROWTH * from->table.count + LEAST;                                              \
    to->table.count = 0;                                                                           \
    KEEL_TRY(keel_arena_array(arena, copy->limit, sizeof *to->table.data, (void **)&to->table.data))
    ROOM(operations, op_limit);
    ROOM(operands, operand_limit);
    ROOM(value_types, value_limit);
    ROOM(regions, region_limit);
    ROOM(blocks, block_limit);
#undef ROOM
    KEEL_TRY(keel_arena_array(arena, copy->op_limit, sizeof *copy->out->origin,
                              (void **)&copy->out->origin));
    size_t functions = from->functions.count ? from->functions.count : 1;
    KEEL_TRY(keel_arena_array(arena, functions, sizeof *to->functions.data,
                              (void **)&to->functions.data));
    memcpy(to->functions.data, from->functions.data,
           from->functions.count * sizeof *from->functions.data);
    size_t values = from->value_types.count ? from->value_types.count : 1;
    KEEL_TRY(keel_arena_array(arena, values, sizeof *copy->value, (void **)&copy->value));
    memset(copy->value, 0, values * sizeof *copy->value);
    return NULL;
}

static keel_status_t inline_all(const keel_graph_t *graph, const uint8_t *apart,
                                keel_arena_t *arena, keel_inlined_t *out) {
    copy_t copy = {
        .graph = graph, .from = graph->program, .to = &out->program, .out = out, .apart = apart};
    KEEL_TRY(make_room(&copy, arena));
    copy_range(&copy, 0, keel_program_op_count(graph->program), 0);
    keel_operation_t *end = &out->program.operations.data[out->program.operations.count++];
    *end = (keel_operation_t){.first_operand = out->program.operands.count,
                              .first_result = out->program.value_types.count,
                              .location = KEEL_NONE,
                              .attributes = KEEL_NONE};
    out->is_made = !copy.is_full;
    return NULL;
}

// True if JAX makes `name` of the last part of a function's qualified name: "_lambda" of
// "<lambda>".
static bool is_named(keel_str_t qualified, keel_str_t name) {
    size_t i = qualified.size, k = name.size;
    for (;;) {
        while (i && !isalnum((unsigned char)qualified.data[i - 1]) && qualified.data[i - 1] != '.')
            --i;
        while (k && !isalnum((unsigned char)name.data[k - 1]))
            --k;
        if (!i || !k || qualified.data[i - 1] != name.data[k - 1]) break;
        --i;
        --k;
    }
    return !k && (!i || qualified.data[i - 1] == '.');
}

// The name that the source gives it: that of the frame with the function's own name, or else of its
// first operation; the program's own if no line has one.
static keel_str_t name_of(keel_graph_t *graph, uint32_t function) {
    keel_op_id_t first, end;
    uint32_t depth;
    keel_frame_t frames[FRAMES];
    keel_str_t other = KEEL_STR(""), name = base_name(graph->program, function);
    keel_graph_body(graph, innermost(graph, function, &depth), &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        keel_attr_id_t location = graph->program->operations.data[op].location;
        uint32_t count = keel_program_frames(graph->program, location, frames, FRAMES, NULL);
        for (uint32_t i = 0; i < count && i < FRAMES; ++i)
            if (is_named(frames[i].function, name)) return frames[i].function;
        if (!other.size) other = keel_graph_line_at(graph, location)->function;
    }
    return other.size ? other : name;
}

static keel_status_t describe_inlined(keel_graph_t *graph, uint32_t function, keel_inlined_t *out) {
    out->function = name_of(graph, function);
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        if (keel_graph_callee(graph, op) != function) continue;
        const keel_source_line_t *line = keel_graph_line(graph, op);
        keel_str_t file, name;
        KEEL_TRY(keel_arena_str(graph->arena, line->file, &file));
        KEEL_TRY(keel_arena_str(graph->arena, line->function, &name));
        out->place = (keel_place_t){
            .file = file.data, .line = line->line, .function = name.data, .call_file = ""};
        return NULL;
    }
    return NULL;
}

static keel_status_t look_for_inlined(keel_graph_t *graph, keel_graph_t *other, others_t *others,
                                      keel_inlined_t *out) {
    keel_arena_t *arena = graph->arena;
    uint32_t count = graph->program->functions.count;
    uint8_t *apart, *is_passed_to;
    bool any = false;
    KEEL_TRY(note_places(other, &others->places));
    KEEL_TRY(note_passes(other, &others->passes));
    KEEL_TRY(keel_arena_array(arena, count + 1u, 1, (void **)&apart));
    KEEL_TRY(keel_arena_array(arena, count + 1u, 1, (void **)&is_passed_to));
    memset(is_passed_to, 0, count + 1u);
    for (uint32_t i = 0; i < count; ++i) {
        apart[i] = is_apart(graph, i, others);
        uint32_t callee = apart[i] ? passes_to(graph, i) : KEEL_NONE;
        if (callee != KEEL_NONE) is_passed_to[callee] = true;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (!apart[i] || is_passed_to[i]) continue;
        if (!any) KEEL_TRY(describe_inlined(graph, i, out));
        out->more += any;
        any = true;
    }
    return any ? inline_all(graph, apart, arena, out) : NULL;
}

// The entry is never kept separate.
static bool has_separate(const keel_graph_t *graph) {
    return graph->program->functions.count > 1;
}

keel_status_t keel_inline(keel_graph_t *graph, keel_graph_t *other, keel_inlined_t *out) {
    *out = (keel_inlined_t){.place = {.file = "", .function = "", .call_file = ""}};
    if (graph->program->format != KEEL_FORMAT_MLIR || other->program->format != KEEL_FORMAT_MLIR)
        return NULL;
    if (!has_separate(graph)) return NULL;
    others_t others;
    keel_map_initialize(&others.places);
    keel_map_initialize(&others.passes);
    keel_status_t status = look_for_inlined(graph, other, &others, out);
    keel_map_deinitialize(&others.places);
    keel_map_deinitialize(&others.passes);
    return status;
}
