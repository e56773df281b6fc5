// clusters: groups of operations without a counterpart: those that flow into each other, those on
// one source line, and those in the same gap between operations that do have a counterpart.
//
// Room-internal. One thread; all memory is the arena's.
#ifndef KEEL_EXPLAIN_CLUSTERS_H_
#define KEEL_EXPLAIN_CLUSTERS_H_

#include "explain/diff.h"
#include "explain/lines.h"
#include "explain/places.h"

typedef struct keel_cluster_t {
    keel_op_id_t first_before, first_after; // NONE
    uint32_t before_count, after_count;
    uint32_t last;      // of its members
    uint32_t taint;     // 1 + a root that an operand follows from
    bool is_pending;    // HLO: it converts a value whose dtype follows from another cluster
    bool is_trivial;    // it only changes shapes and dtypes
    bool is_clients;    // or compares, moves data, or is part of a function of the client's
    bool only_sums;     // or sums up
    bool is_on_common;  // all of it comes from expressions that both programs have
    bool works_before;  // part of it is what an expression that both programs have computes in only
    bool works_after;   // one of them: in `before`, in `after`
    keel_op_id_t marks; // HLO: the first operation that says a sharding, where others only change
                        // shapes and dtypes; NONE
    uint32_t marks_count;
    bool only_unwraps; // it only takes the words out of a typed key
    uint32_t weak;     // the scalar argument that it only converts; NONE
    uint32_t apart;    // 1 + the root behind the complex value that it takes apart
    bool reads_before; // an argument that is gone
    bool reads_after;  // an argument that was added
    bool reads_passed; // an argument in only one program that was passed both times
    bool has_moved;    // part of it is on both sides, but in another place
    bool has_more;     // and part of it is not, and shows what it does
    bool has_computed; // likewise, and does not only reshape
    uint32_t root;     // that reports it (structure.c); NONE
} keel_cluster_t;

// Operations of both sides in one range: those of `after` follow those of `before`.
typedef struct keel_clusters_t {
    keel_diff_t *diff;
    keel_arena_t arena;
    uint32_t *parent; // union-find
    uint8_t *alone;   // has no counterpart, in a function that was compared
    uint8_t *moved;   // of these: the other side of its cluster has it too (moves.c)
    uint32_t split, count;
    keel_cluster_t *items; // by representative, which is the first of a cluster's members
    uint32_t *next;        // by member: the next one of its cluster; NONE
    keel_lines_t lines_before, lines_after;
    keel_places_t places;
    bool is_swap; // operations are gone and others took their place
} keel_clusters_t;

static inline uint32_t keel_clusters_find(keel_clusters_t *clusters, uint32_t at) {
    while (clusters->parent[at] != at) {
        clusters->parent[at] = clusters->parent[clusters->parent[at]];
        at = clusters->parent[at];
    }
    return at;
}

static inline const keel_graph_t *keel_clusters_graph(const keel_clusters_t *clusters, uint32_t at,
                                                      keel_op_id_t *op) {
    bool is_after = at >= clusters->split;
    *op = is_after ? at - clusters->split : at;
    return is_after ? &clusters->diff->after : &clusters->diff->before;
}

// rounds.c: how often the line of a cluster ran in each program. All zero if that says nothing.
typedef struct keel_times_t {
    uint32_t before, after;
} keel_times_t;
keel_status_t keel_clusters_rounds(const keel_clusters_t *clusters, const keel_cluster_t *cluster,
                                   keel_times_t *out) KEEL_MUST_CHECK;

// moves.c: fills `moved`. HLO writes operations as results need them, so those before a branch may
// stand in another order and say nothing about it.
keel_status_t keel_clusters_find_moved(keel_clusters_t *clusters) KEEL_MUST_CHECK;
// It has a line of its own (a gradient's have not), and does more than give another shape.
bool keel_clusters_shows(const keel_graph_t *graph, keel_op_id_t op);
bool keel_clusters_is_telling(const keel_clusters_t *clusters, uint32_t at);

// updated.c, HLO: what an operation of one side updates in place is not a cause of its own. The
// roots of the clusters are known.
void keel_clusters_fold_updates(keel_clusters_t *clusters);

// Fills all of *clusters but its `diff`, and `is_swap`; the arena, the lines and the places are
// initialized.
keel_status_t keel_clusters_gather(keel_clusters_t *clusters) KEEL_MUST_CHECK;

#endif // KEEL_EXPLAIN_CLUSTERS_H_
