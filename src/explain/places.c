// Which expressions of the source (line and columns) both programs have.
#include "explain/places.h"

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

keel_status_t keel_places_note(keel_places_t *places, keel_graph_t *graph, bool is_after) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        uint64_t place = graph->constant[op] == KEEL_NONE ? expression_place(graph, op) : 0;
        if (!place) continue;
        keel_bytes_t key = keel_bytes(&place, sizeof place);
        uint64_t *known = keel_map_find(&places->sides, key);
        if (known)
            *known |= 1u << is_after;
        else
            KEEL_TRY(keel_map_put(&places->sides, key, 1u << is_after));
    }
    return NULL;
}

bool keel_places_are_common(const keel_places_t *places, keel_graph_t *graph, keel_op_id_t op) {
    uint64_t place = expression_place(graph, op);
    const uint64_t *known =
        place ? keel_map_find(&places->sides, keel_bytes(&place, sizeof place)) : NULL;
    return known && *known == 3;
}
