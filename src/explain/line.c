// Which line of the user's source an operation comes from: by its own stack, or by that of the call
// that led to it.
#include "explain/graph.h"

enum { FRAMES = KEEL_GRAPH_FRAMES };

static uint64_t hash_str(keel_str_t text) {
    return keel_quick_hash(keel_str_bytes(text));
}

static const keel_source_line_t nowhere;

// The innermost frame of user code; if all are a library's, the innermost.
static keel_source_line_t choose_line(const keel_frame_t *frames, uint32_t count,
                                      const char *application) {
    uint32_t chosen = 0;
    while (chosen < count && keel_is_foreign_file(frames[chosen].file, application))
        ++chosen;
    bool is_foreign = chosen == count;
    if (is_foreign) chosen = 0;
    const keel_frame_t *frame = &frames[chosen];
    keel_source_line_t line = {.file = frame->file,
                               .function = frame->function,
                               .line = frame->line,
                               .column = frame->column,
                               .is_foreign = is_foreign};
    if (is_foreign || chosen) {
        line.library_file = frames->file;
        line.library_line = frames->line;
    }
    line.identity = keel_graph_mix(hash_str(frame->file), frame->line) | 1;
    // Leaves out the user's line number, which changes with every edit above it. A library's lines
    // do not change.
    line.token = keel_graph_mix(hash_str(frame->function), frame->column);
    if (chosen)
        line.token =
            keel_graph_mix(line.token, keel_graph_mix(hash_str(frames->file), frames->line));
    for (uint32_t i = 0; i <= chosen; ++i)
        line.stack = keel_graph_mix(keel_graph_mix(line.stack, hash_str(frames[i].file)),
                                    ((uint64_t)frames[i].column << 32) + frames[i].line);
    return line;
}

static uint32_t intern_line(keel_graph_t *graph, const keel_source_line_t *line) {
    if (graph->line_count == graph->line_capacity) {
        uint32_t capacity = graph->line_capacity ? 2 * graph->line_capacity : 64;
        void *memory;
        keel_status_t status = keel_arena_array(graph->arena, capacity, sizeof *line, &memory);
        if (status) {
            keel_status_ignore(status);
            graph->lacks_memory = true;
            return KEEL_NONE;
        }
        if (graph->line_count)
            memcpy(memory, graph->lines, graph->line_count * sizeof *graph->lines);
        graph->lines = memory;
        graph->line_capacity = capacity;
    }
    graph->lines[graph->line_count] = *line;
    return graph->line_count++;
}

// Names that only XLA or JAX gave to a frame say nothing about the line.
const keel_source_line_t *keel_graph_line_at(keel_graph_t *graph, keel_attr_id_t location) {
    if (location == KEEL_NONE) return &nowhere;
    uint32_t *known = &graph->line_of[location];
    if (!*known) {
        keel_frame_t frames[FRAMES];
        uint32_t count = keel_program_frames(graph->program, location, frames, FRAMES, NULL);
        if (count > FRAMES) count = FRAMES;
        keel_source_line_t line = count ? choose_line(frames, count, graph->application) : nowhere;
        uint32_t at = intern_line(graph, &line);
        if (at == KEEL_NONE) return &nowhere;
        *known = at + 1;
    }
    return &graph->lines[*known - 1];
}

keel_op_id_t keel_graph_caller(const keel_graph_t *graph, keel_op_id_t op) {
    uint32_t function = graph->function_of[op];
    return function == KEEL_NONE ? KEEL_NONE : graph->call_site[function];
}

enum { CALLS = 64 }; // a longer chain of calls is a cycle

keel_op_id_t keel_graph_located(keel_graph_t *graph, keel_op_id_t op) {
    for (unsigned tries = 0; tries < CALLS && op != KEEL_NONE; ++tries) {
        keel_op_id_t source =
            graph->lender && graph->lender[op] != KEEL_NONE ? graph->lender[op] : op;
        if (keel_graph_line_at(graph, graph->program->operations.data[source].location)->identity)
            return source;
        op = keel_graph_caller(graph, op);
    }
    return KEEL_NONE;
}

// ---- functions with a jit of their own ---------------------------------------------------------

enum { HERE = 1, ELSEWHERE = 2 };

// How JAX writes a name: "<lambda>" becomes "_lambda_".
static bool is_symbol_of(keel_str_t symbol, keel_str_t name) {
    if (symbol.size != name.size) return false;
    for (size_t i = 0; i < name.size; ++i) {
        char c = name.data[i];
        bool is_kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (symbol.data[i] != (is_kept ? c : '_')) return false;
    }
    return true;
}

// "step" of "Trainer.step"
static keel_str_t last_name(keel_str_t qualified) {
    size_t from = qualified.size;
    while (from && qualified.data[from - 1] != '.')
        --from;
    return (keel_str_t){qualified.data + from, qualified.size - from};
}

static bool is_on(const keel_frame_t *frames, uint32_t count, const keel_frame_t *frame) {
    for (uint32_t i = 0; i < count; ++i)
        if (frames[i].line == frame->line && keel_str_equal(frames[i].file, frame->file))
            return true;
    return false;
}

// True if the stack runs through the function itself, or through the call.
static bool runs_through(const keel_graph_t *graph, uint32_t function, keel_op_id_t op,
                         keel_op_id_t call) {
    const keel_program_t *program = graph->program;
    keel_str_t symbol = keel_program_str(program, program->functions.data[function].name);
    keel_frame_t own[FRAMES], callers[FRAMES];
    const keel_operation_t *operations = program->operations.data;
    uint32_t count = keel_program_frames(program, operations[op].location, own, FRAMES, NULL);
    uint32_t calls = keel_program_frames(program, operations[call].location, callers, FRAMES, NULL);
    if (calls > FRAMES) calls = FRAMES;
    for (uint32_t i = 0; i < count && i < FRAMES; ++i) {
        keel_str_t name = last_name(own[i].function);
        if (is_symbol_of(symbol, name) ||
            is_symbol_of(keel_str_without_number(symbol, '_'), name) ||
            is_on(callers, calls, &own[i]))
            return true;
    }
    return !calls;
}

// JAX traces a function with a jit of its own once, and its operations keep the stack of that first
// use. If the function is a library's, their only line of the user's is that of the first call,
// which may be in another function.
static bool is_traced_elsewhere(keel_graph_t *graph, keel_op_id_t op) {
    const keel_program_t *program = graph->program;
    uint32_t function = graph->function_of[op];
    if (function == KEEL_NONE || program->format != KEEL_FORMAT_MLIR) return false;
    keel_op_id_t call = graph->call_site[function];
    if (call == KEEL_NONE) return false;
    if (graph->traced[function]) return graph->traced[function] == ELSEWHERE;
    keel_op_id_t first, end, located = KEEL_NONE;
    keel_graph_body(graph, function, &first, &end);
    uint64_t identity = 0;
    bool is_one = true;
    for (keel_op_id_t at = first; is_one && at < end; ++at) {
        const keel_source_line_t *line =
            keel_graph_line_at(graph, program->operations.data[at].location);
        if (!line->identity) continue;
        is_one = !line->is_foreign && (!identity || line->identity == identity);
        identity = line->identity;
        located = at;
    }
    bool is_elsewhere =
        is_one && located != KEEL_NONE && !runs_through(graph, function, located, call);
    graph->traced[function] = is_elsewhere ? ELSEWHERE : HERE;
    return is_elsewhere;
}

// For a function with a jit of its own the stack ends at that function, since it may be called from
// elsewhere too. If all frames are a library's, the line is that of the call.
static const keel_source_line_t *line_of_caller(keel_graph_t *graph, keel_op_id_t op,
                                                const keel_source_line_t *own) {
    if (graph->called_line[op]) return &graph->lines[graph->called_line[op] - 1];
    keel_op_id_t call = op;
    for (unsigned tries = 0; tries < CALLS; ++tries) {
        call = keel_graph_caller(graph, call);
        if (call == KEEL_NONE) return own;
        const keel_source_line_t *line =
            keel_graph_line_at(graph, graph->program->operations.data[call].location);
        if (!line->identity || line->is_foreign || is_traced_elsewhere(graph, call)) continue;
        keel_source_line_t joined = *line;
        if (own->library_file.size) {
            joined.library_file = own->library_file;
            joined.library_line = own->library_line;
        }
        uint32_t at = intern_line(graph, &joined);
        if (at == KEEL_NONE) return own;
        graph->called_line[op] = at + 1;
        return &graph->lines[at];
    }
    return own;
}

const keel_source_line_t *keel_graph_line(keel_graph_t *graph, keel_op_id_t op) {
    op = keel_graph_located(graph, op);
    if (op == KEEL_NONE) return &nowhere;
    const keel_source_line_t *line =
        keel_graph_line_at(graph, graph->program->operations.data[op].location);
    return line->is_foreign || is_traced_elsewhere(graph, op) ? line_of_caller(graph, op, line)
                                                              : line;
}
