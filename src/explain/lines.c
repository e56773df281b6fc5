#include "explain/lines.h"

void keel_lines_initialize(keel_lines_t *lines) {
    *lines = (keel_lines_t){.graph = NULL};
    keel_map_initialize(&lines->first);
}

void keel_lines_deinitialize(keel_lines_t *lines) {
    keel_map_deinitialize(&lines->first);
}

static keel_bytes_t key_of(const keel_source_line_t *line) {
    return keel_bytes(&line->identity, sizeof line->identity);
}

keel_status_t keel_lines_build(keel_lines_t *lines, keel_graph_t *graph, keel_arena_t *arena) {
    lines->graph = graph;
    uint32_t count = keel_program_op_count(graph->program);
    void *memory;
    KEEL_TRY(keel_arena_array(arena, count ? count : 1, sizeof *lines->next, &memory));
    lines->next = memory;
    // Backward, so that each line's list is in program order.
    for (keel_op_id_t op = count; op-- > 0;) {
        lines->next[op] = KEEL_NONE;
        const keel_source_line_t *line = keel_graph_line(graph, op);
        if (!line->identity || graph->is_spare[op]) continue;
        uint64_t *first = keel_map_find(&lines->first, key_of(line));
        if (!first) {
            KEEL_TRY(keel_map_put(&lines->first, key_of(line), op));
            continue;
        }
        lines->next[op] = (keel_op_id_t)*first;
        *first = op;
    }
    return NULL;
}

keel_op_id_t keel_lines_first(const keel_lines_t *lines, const keel_source_line_t *line) {
    const uint64_t *first = keel_map_find(&lines->first, key_of(line));
    return first ? (keel_op_id_t)*first : KEEL_NONE;
}

keel_str_t keel_lines_primitive(const keel_graph_t *graph, keel_op_id_t op) {
    keel_str_t name = KEEL_STR("");
    keel_program_frames(graph->program, graph->program->operations.data[op].location, NULL, 0,
                        &name);
    return name;
}

uint32_t keel_lines_count(const keel_lines_t *lines, const keel_source_line_t *line,
                          keel_str_t name, keel_str_t primitive) {
    uint32_t count = 0;
    for (keel_op_id_t op = keel_lines_first(lines, line); op != KEEL_NONE; op = lines->next[op])
        count += keel_str_equal(keel_graph_name(lines->graph, op), name) &&
                 keel_str_equal(keel_lines_primitive(lines->graph, op), primitive);
    return count;
}
