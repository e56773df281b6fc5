// lines: which operations of a program come from a line of the user's source.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_LINES_H_
#define KEEL_EXPLAIN_LINES_H_

#include "explain/graph.h"

typedef struct keel_lines_t {
    keel_graph_t *graph;
    keel_map_t first;   // by a line's identity: its first operation
    keel_op_id_t *next; // by operation: the next one on its line; NONE
} keel_lines_t;

void keel_lines_initialize(keel_lines_t *lines);
void keel_lines_deinitialize(keel_lines_t *lines);
// `next` lives in `arena`.
keel_status_t keel_lines_build(keel_lines_t *lines, keel_graph_t *graph,
                               keel_arena_t *arena) KEEL_MUST_CHECK;

// The first operation on that line; NONE.
keel_op_id_t keel_lines_first(const keel_lines_t *lines, const keel_source_line_t *line);
// The client's name of what an operation is part of: JAX's primitive with its stack of names.
keel_str_t keel_lines_primitive(const keel_graph_t *graph, keel_op_id_t op);
// How many operations of that name and primitive it has.
uint32_t keel_lines_count(const keel_lines_t *lines, const keel_source_line_t *line,
                          keel_str_t name, keel_str_t primitive);

#endif // KEEL_EXPLAIN_LINES_H_
