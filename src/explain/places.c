// Which expressions of the source (line and columns) both programs have.
#include "explain/places.h"

#include "explain/diff.h"
#include "explain/lines.h"

void keel_places_initialize(keel_places_t *places) {
    keel_map_initialize(&places->sides);
    keel_map_initialize(&places->works);
}

void keel_places_deinitialize(keel_places_t *places) {
    keel_map_deinitialize(&places->sides);
    keel_map_deinitialize(&places->works);
}

// The expression nearest to an operation, and the user's line on its stack; 0 if the source has no
// columns.
static uint64_t expression_place(keel_graph_t *graph, keel_op_id_t op) {
    keel_frame_t frame;
    keel_op_id_t located = keel_graph_located(graph, op);
    if (located == KEEL_NONE ||
        !keel_program_frames(graph->program, graph->program->operations.data[located].location,
                             &frame, 1, NULL) ||
        !frame.column)
        return 0;
    const keel_source_line_t *line = keel_graph_line(graph, op);
    uint64_t place = keel_graph_join(line->identity, line->token);
    place = keel_graph_join(place, (uint64_t)frame.line << 32 | frame.end_line);
    return keel_graph_join(place, (uint64_t)frame.column << 32 | frame.end_column) | 1;
}

static bool computes_nothing(keel_str_t name) {
    static const char *const moves[] = {"slice",   "dynamic_slice", "dynamic_update_slice",
                                        "return",  "tuple",         "concatenate",
                                        "pad",     "gather",        "iota",
                                        "reverse", "while",         "case",
                                        "if",      "compare"};
    return keel_graph_only_reshapes(name) ||
           keel_str_is_among(name, moves, sizeof moves / sizeof *moves);
}

static bool is_index(const keel_graph_t *graph, keel_op_id_t op) {
    const keel_program_t *program = graph->program;
    const keel_operation_t *operation = &program->operations.data[op];
    if (operation->result_count != 1) return false;
    const keel_type_t *type =
        keel_program_type(program, keel_graph_type(graph, operation->first_result));
    return type->kind == KEEL_TYPE_TENSOR &&
           keel_program_type(program, type->a)->kind == KEEL_TYPE_INTEGER &&
           !keel_diff_dims(program, keel_graph_type(graph, operation->first_result)).count;
}

// "jvp()/tanh" is tanh, and "jit(relu)" is that function.
static keel_str_t last_part(keel_str_t primitive) {
    size_t at = primitive.size;
    while (at > 0 && primitive.data[at - 1] != '/')
        --at;
    return (keel_str_t){primitive.data + at, primitive.size - at};
}

// What the operation does on an expression of the user's, by the client's name for it; 0 if that is
// not the user's choice: it is part of a function of the client's or a library's, or only moves
// data.
static uint64_t work_of(keel_graph_t *graph, keel_op_id_t op, uint64_t place) {
    keel_frame_t frame;
    const keel_source_line_t *line = keel_graph_line(graph, op);
    if (!place || line->is_foreign || line->library_file.size ||
        computes_nothing(keel_graph_name(graph, op)) || is_index(graph, op) ||
        !keel_program_frames(graph->program, graph->program->operations.data[op].location, &frame,
                             1, NULL))
        return 0;
    keel_str_t name = last_part(keel_lines_primitive(graph, op));
    if (!name.size) name = keel_graph_name(graph, op);
    return keel_graph_join(place, keel_quick_hash(keel_str_bytes(name))) | 1;
}

static keel_status_t note(keel_map_t *sides, uint64_t what, bool is_after) {
    if (!what) return NULL;
    keel_bytes_t key = keel_bytes(&what, sizeof what);
    uint64_t *known = keel_map_find(sides, key);
    if (!known) return keel_map_put(sides, key, 1u << is_after);
    *known |= 1u << is_after;
    return NULL;
}

static bool have_both(const keel_map_t *sides, uint64_t what) {
    const uint64_t *known = what ? keel_map_find(sides, keel_bytes(&what, sizeof what)) : NULL;
    return known && *known == 3;
}

keel_status_t keel_places_note(keel_places_t *places, keel_graph_t *graph, bool is_after) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        uint64_t place = graph->constant[op] == KEEL_NONE ? expression_place(graph, op) : 0;
        KEEL_TRY(note(&places->sides, place, is_after));
        KEEL_TRY(note(&places->works, work_of(graph, op, place), is_after));
    }
    return NULL;
}

bool keel_places_are_common(const keel_places_t *places, keel_graph_t *graph, keel_op_id_t op) {
    return have_both(&places->sides, expression_place(graph, op));
}

bool keel_places_is_exchanged(const keel_places_t *places, keel_graph_t *graph, keel_op_id_t op) {
    uint64_t place = expression_place(graph, op), work = work_of(graph, op, place);
    return work && have_both(&places->sides, place) && !have_both(&places->works, work);
}
