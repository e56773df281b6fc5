// places: the expressions of the source that operations come from, which programs have them, and
// what they compute there.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_PLACES_H_
#define KEEL_EXPLAIN_PLACES_H_

#include "explain/graph.h"

typedef struct keel_places_t {
    keel_map_t sides; // by expression: 1 for `before`, 2 for `after`, or both
    keel_map_t works; // likewise, by expression and what it computes
} keel_places_t;

void keel_places_initialize(keel_places_t *places);
void keel_places_deinitialize(keel_places_t *places);
keel_status_t keel_places_note(keel_places_t *places, keel_graph_t *graph,
                               bool is_after) KEEL_MUST_CHECK;
// True if both programs have something from the operation's expression.
bool keel_places_are_common(const keel_places_t *places, keel_graph_t *graph, keel_op_id_t op);

// True if both programs have that expression of the user's, and only this one computes there what
// the operation does.
bool keel_places_is_exchanged(const keel_places_t *places, keel_graph_t *graph, keel_op_id_t op);

#endif // KEEL_EXPLAIN_PLACES_H_
