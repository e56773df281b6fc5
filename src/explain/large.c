#include "explain/large.h"

#include "explain/graph.h"
#include "read/print.h"

enum {
    FRAMES = 64,
    COUNTS = 8,     // how often places occur under one line: so many different numbers are kept
    FEWEST = 4,     // a line that is repeated less often is not worth a loop
    SHARE = 4,      // nor is one that makes less than a fourth of the program
    LARGE = 1 << 16 // bytes of an array
};

// ---- what is repeated --------------------------------------------------------------------------

// Operations of one name from one place: the same frames, up to the script.
typedef struct group_t {
    keel_op_id_t first;
    uint32_t count;
} group_t;

typedef struct count_t {
    uint32_t times;      // of a group
    uint32_t operations; // of all such groups
} count_t;

typedef struct line_t {
    keel_frame_t frame;
    uint32_t operations; // of groups that occur more than once
    uint64_t depth;      // from the script inward, summed over these
    count_t counts[COUNTS];
} line_t;

typedef struct search_t {
    keel_graph_t *graph;
    keel_arena_t *arena;
    keel_map_t known; // place and name -> group
    group_t *groups;
    uint32_t group_count;
    keel_map_t lines_known; // file and line -> line
    line_t *lines;
    size_t line_count, line_capacity;
    uint64_t *place_of; // by location attribute: hash of its frames; 0: not computed yet
} search_t;

static uint32_t frames_of(const search_t *search, keel_op_id_t op, keel_frame_t out[FRAMES]) {
    uint32_t count = keel_program_frames(search->graph->program,
                                         search->graph->program->operations.data[op].location, out,
                                         FRAMES, NULL);
    return count < FRAMES ? count : FRAMES;
}

static uint64_t place_of(search_t *search, keel_op_id_t op) {
    keel_attr_id_t location = search->graph->program->operations.data[op].location;
    if (location == KEEL_NONE) return 0;
    uint64_t *place = &search->place_of[location];
    if (*place) return *place;
    keel_frame_t frames[FRAMES];
    uint32_t count = frames_of(search, op, frames);
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; ++i) {
        hash = keel_graph_mix(hash, keel_quick_hash(keel_str_bytes(frames[i].file)));
        hash = keel_graph_mix(hash, (uint64_t)frames[i].line << 32 | frames[i].column);
    }
    return *place = count ? hash | 1 : 0;
}

static keel_status_t group_operations(search_t *search) {
    const keel_program_t *program = search->graph->program;
    uint32_t count = keel_program_op_count(program);
    void *memory;
    KEEL_TRY(keel_arena_array(search->arena, count ? count : 1, sizeof(group_t), &memory));
    search->groups = memory;
    for (keel_op_id_t op = 0; op < count; ++op) {
        struct {
            uint64_t place, name;
        } key = {place_of(search, op),
                 keel_quick_hash(keel_str_bytes(keel_graph_name(search->graph, op)))};
        if (!key.place) continue;
        uint64_t *known = keel_map_find(&search->known, keel_bytes(&key, sizeof key));
        if (known) {
            ++search->groups[*known].count;
            continue;
        }
        KEEL_TRY(keel_map_put(&search->known, keel_bytes(&key, sizeof key), search->group_count));
        search->groups[search->group_count++] = (group_t){op, 1};
    }
    return NULL;
}

static void count_group(line_t *line, const group_t *group, uint32_t depth) {
    count_t *least = line->counts;
    line->operations += group->count;
    line->depth += (uint64_t)depth * group->count;
    for (count_t *count = line->counts; count < line->counts + COUNTS; ++count) {
        if (count->times == group->count || !count->times) {
            count->times = group->count;
            count->operations += group->count;
            return;
        }
        if (count->operations < least->operations) least = count;
    }
    *least = (count_t){group->count, group->count};
}

static keel_status_t line_at(search_t *search, const keel_frame_t *frame, line_t **out) {
    struct {
        uint64_t file, line;
    } key = {keel_quick_hash(keel_str_bytes(frame->file)), frame->line};
    const uint64_t *known = keel_map_find(&search->lines_known, keel_bytes(&key, sizeof key));
    if (!known) {
        void *grown = search->lines;
        KEEL_TRY(keel_grow_array(search->line_count, sizeof **out, &search->line_capacity, &grown));
        search->lines = grown;
        search->lines[search->line_count] = (line_t){.frame = *frame};
        KEEL_TRY(
            keel_map_put(&search->lines_known, keel_bytes(&key, sizeof key), search->line_count++));
        known = keel_map_find(&search->lines_known, keel_bytes(&key, sizeof key));
    }
    *out = &search->lines[*known];
    return NULL;
}

// A line that calls itself counts once.
static bool is_further_in(const keel_frame_t *frames, uint32_t at) {
    for (uint32_t i = 0; i < at; ++i)
        if (frames[i].line == frames[at].line && keel_str_equal(frames[i].file, frames[at].file))
            return true;
    return false;
}

static keel_status_t count_lines(search_t *search) {
    for (const group_t *group = search->groups; group < search->groups + search->group_count;
         ++group) {
        keel_frame_t frames[FRAMES];
        uint32_t count = group->count > 1 ? frames_of(search, group->first, frames) : 0;
        for (uint32_t i = 0; i < count; ++i) {
            line_t *line;
            if (keel_is_foreign_file(frames[i].file, search->graph->application) ||
                is_further_in(frames, i))
                continue;
            KEEL_TRY(line_at(search, &frames[i], &line));
            count_group(line, group, count - i);
        }
    }
    return NULL;
}

// The largest number of which most of what the line repeats is a multiple: a layer may have a place
// twice.
static uint32_t times_of(const line_t *line) {
    uint32_t best = 0;
    for (const count_t *count = line->counts; count < line->counts + COUNTS; ++count) {
        uint32_t covered = 0;
        for (const count_t *other = line->counts; count->times && other < line->counts + COUNTS;
             ++other)
            if (other->times % count->times == 0) covered += other->operations;
        if (count->times > best && covered > line->operations / 4 * 3) best = count->times;
    }
    return best;
}

// Whoever calls the line repeats as much: of the lines that repeat nearly the most, the innermost.
static const line_t *find_line(const search_t *search) {
    uint32_t most = 0;
    const line_t *best = NULL;
    for (const line_t *line = search->lines; line < search->lines + search->line_count; ++line)
        if (times_of(line) >= FEWEST && line->operations > most) most = line->operations;
    for (const line_t *line = search->lines; line < search->lines + search->line_count; ++line) {
        if (times_of(line) < FEWEST || line->operations < most - most / 5) continue;
        if (!best || line->depth / line->operations > best->depth / best->operations) best = line;
    }
    return best;
}

static keel_status_t find_repeat(search_t *search, keel_large_t *out) {
    KEEL_TRY(group_operations(search));
    KEEL_TRY(count_lines(search));
    const line_t *line = find_line(search);
    if (!line || line->operations < out->operations / SHARE) return NULL;
    out->has_repeat = true;
    out->repeat = (keel_large_repeat_t){line->frame, times_of(line), line->operations};
    return NULL;
}

static keel_status_t search_repeats(keel_graph_t *graph, keel_arena_t *arena, keel_large_t *out) {
    search_t search = {.graph = graph, .arena = arena};
    void *memory;
    uint32_t attrs = graph->program->attrs.count;
    KEEL_TRY(keel_arena_array(arena, attrs ? attrs : 1, sizeof *search.place_of, &memory));
    search.place_of = memory;
    memset(memory, 0, attrs * sizeof *search.place_of);
    keel_map_initialize(&search.known);
    keel_map_initialize(&search.lines_known);
    keel_status_t status = find_repeat(&search, out);
    keel_map_deinitialize(&search.known);
    keel_map_deinitialize(&search.lines_known);
    keel_free(search.lines);
    return status;
}

// ---- arrays ------------------------------------------------------------------------------------

static keel_status_t type_text(const keel_program_t *program, keel_type_id_t type,
                               keel_arena_t *arena, const char **out) {
    keel_buffer_t buffer;
    keel_str_t text = KEEL_STR("");
    keel_buffer_initialize(&buffer, 0);
    keel_print_short_type(program, type, &buffer);
    keel_status_t status = keel_buffer_status(&buffer);
    if (!status) status = keel_arena_str(arena, keel_bytes_str(keel_buffer_bytes(&buffer)), &text);
    keel_buffer_deinitialize(&buffer);
    *out = text.data;
    return status;
}

// JAX gives a constant the place of what was traced; the operation that uses it first has a line.
static const keel_source_line_t *line_of_use(keel_graph_t *graph, keel_op_id_t constant) {
    const keel_program_t *program = graph->program;
    const keel_source_line_t *own = keel_graph_line(graph, constant);
    keel_value_id_t value = program->operations.data[constant].first_result;
    for (keel_op_id_t op = constant + 1; op < keel_program_op_count(program); ++op) {
        keel_list_t operands = keel_program_operands(program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            if (operands.items[i] != value) continue;
            const keel_source_line_t *line = keel_graph_line(graph, op);
            return line->identity && !line->is_foreign ? line : own;
        }
    }
    return own;
}

// The largest first.
static void list_array(keel_op_id_t op, uint64_t bytes, keel_op_id_t ops[KEEL_LARGE_ARRAYS],
                       keel_large_t *out) {
    uint32_t at = out->array_count < KEEL_LARGE_ARRAYS ? out->array_count++ : KEEL_LARGE_ARRAYS;
    for (; at > 0 && out->arrays[at - 1].bytes < bytes; --at) {
        if (at == KEEL_LARGE_ARRAYS) continue;
        out->arrays[at] = out->arrays[at - 1];
        ops[at] = ops[at - 1];
    }
    if (at == KEEL_LARGE_ARRAYS) return;
    out->arrays[at] = (keel_large_array_t){.bytes = bytes};
    ops[at] = op;
}

static keel_status_t find_arrays(keel_graph_t *graph, keel_arena_t *arena, keel_large_t *out) {
    const keel_program_t *program = graph->program;
    keel_op_id_t ops[KEEL_LARGE_ARRAYS];
    keel_type_id_t type;
    keel_tensor_view_t tensor;
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op) {
        if (graph->constant[op] != op || !keel_graph_tensor(graph, op, &type, &tensor) ||
            tensor.is_splat || tensor.bytes.size < LARGE)
            continue;
        ++out->array_total;
        out->array_bytes += tensor.bytes.size;
        list_array(op, tensor.bytes.size, ops, out);
    }
    for (uint32_t i = 0; i < out->array_count; ++i) {
        keel_large_array_t *array = &out->arrays[i];
        const keel_source_line_t *line = line_of_use(graph, ops[i]);
        array->line =
            (keel_frame_t){.file = line->file, .function = line->function, .line = line->line};
        if (keel_graph_tensor(graph, ops[i], &type, &tensor))
            KEEL_TRY(type_text(program, type, arena, &array->type));
    }
    return NULL;
}

// ---- together ----------------------------------------------------------------------------------

keel_status_t keel_explain_large(const keel_program_t *program, const char *application,
                                 keel_arena_t *arena, keel_large_t *out) {
    keel_graph_t graph;
    *out = (keel_large_t){.operations = keel_program_op_count(program)};
    KEEL_TRY(keel_graph_build(&graph, program, application, arena));
    KEEL_TRY(search_repeats(&graph, arena, out));
    return find_arrays(&graph, arena, out);
}
