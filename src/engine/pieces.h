// pieces: programs that are executed because a line of the host reads, and the steps that such
// reads cut. flow.c explains how that is known.
//
// Threads: under the lock of whoever made it (flow.c), except for pieces_is_asked.
#ifndef KEEL_ENGINE_PIECES_H_
#define KEEL_ENGINE_PIECES_H_

#include "engine/counters.h"
#include "engine/sites.h"

typedef struct pieces_t pieces_t;
// A program that one line forces. Lives as long as the pieces.
typedef struct piece_t piece_t;

keel_status_t pieces_create(pieces_t **out) KEEL_MUST_CHECK;
// NULL is allowed.
void pieces_destroy(pieces_t *pieces);

// The line asked for the program; without a stack, a thread did that runs no Python, and the line
// is the program's own. Only the first such line counts.
void pieces_asked(pieces_t *pieces, counter_t *program, const site_t *site, bool has_stack);
// Whether the line that asked for the program is known. Takes no lock.
bool pieces_is_asked(const counter_t *program);

// The line (NULL: unknown) reads what the program made, which was executed last, as execution
// number `executions`. Returns the piece, if this read forced that execution.
piece_t *pieces_read(pieces_t *pieces, counter_t *program, const site_t *site, uint64_t executions);
// The buffers of one of its executions were followed: the step went on with them in the program
// `rest`, or not at all (NULL).
void piece_followed(piece_t *piece, const counter_t *rest);
// No more reads follow.
void pieces_end(pieces_t *pieces);

// What is new since the last call. `list` is the caller's, to be freed with keel_free; what it
// names lives on.
typedef struct pieces_report_t {
    keel_journal_piece_t *list;
    size_t count;
    uint64_t cut_steps, cut_pieces; // steps that were cut, and their programs
} pieces_report_t;
// On failure the next report has what this one lacks.
keel_status_t pieces_report(pieces_t *pieces, pieces_report_t *out) KEEL_MUST_CHECK;

#endif // KEEL_ENGINE_PIECES_H_
