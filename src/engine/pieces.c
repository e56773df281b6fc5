#include "engine/pieces.h"

enum { ROUND = 32 };

struct piece_t {
    const counter_t *program;
    const site_t *site;    // NULL: threads of autograd alone, which run no Python
    uint64_t forced;       // executions
    uint64_t sampled;      // of those: executions whose buffers were followed
    uint64_t shared;       // of these: those that the step went on with
    uint64_t in_step;      // programs of the last step that it was cut from
    const counter_t *rest; // the program that the step went on with
    uint64_t forced_reported, sampled_reported, in_step_reported;
    piece_t *next; // of the same program, older
};

// A program whose line is known.
typedef struct asked_t {
    const site_t *site; // the line that asked for it
    bool has_stack;     // else a thread without lines asked for it, of autograd
    piece_t *pieces;
    uint64_t forced_at; // the program's count when a read last forced it
    struct asked_t *next;
} asked_t;

struct pieces_t {
    keel_arena_t arena;
    asked_t *asked;
    // Forced executions that followed each other directly.
    piece_t *round[ROUND];
    size_t round_count;
    uint64_t round_end; // the number of the last of them
    uint64_t cut_steps, cut_pieces, cut_steps_reported, cut_pieces_reported;
};

keel_status_t pieces_create(pieces_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(pieces_t), &memory));
    *out = memory;
    keel_arena_initialize(&(*out)->arena, 0);
    return NULL;
}

void pieces_destroy(pieces_t *pieces) {
    if (!pieces) return;
    keel_arena_deinitialize(&pieces->arena);
    keel_free(pieces);
}

// ---- lines that ask ----------------------------------------------------------------------------

void pieces_asked(pieces_t *pieces, counter_t *program, const site_t *site, bool has_stack) {
    void *memory;
    if (pieces_is_asked(program)) return;
    keel_status_t status = keel_arena_alloc(&pieces->arena, sizeof(asked_t), &memory);
    keel_status_ignore(status); // then its reads force nothing
    if (status) return;
    asked_t *asked = memory;
    *asked = (asked_t){.site = site, .has_stack = has_stack, .next = pieces->asked};
    pieces->asked = asked;
    counter_set_asked(program, asked);
}

bool pieces_is_asked(const counter_t *program) {
    return counter_asked(program) != NULL;
}

// ---- steps that are cut ------------------------------------------------------------------------

// Gradients are what a step goes on with, though what the host computed of a read has come back as
// another buffer.
static bool is_cut(const piece_t *piece) {
    return !piece->site || (piece->shared && piece->shared * 2 >= piece->sampled);
}

static bool is_repeated(const pieces_t *pieces, size_t index) {
    size_t i = 0;
    while (pieces->round[i] != pieces->round[index])
        ++i;
    return i < index;
}

// In a round that is full, no step ended: a piece that comes again belongs to another step.
void pieces_end(pieces_t *pieces) {
    uint64_t count = 1;
    for (size_t i = 0; i < pieces->round_count; ++i)
        count +=
            is_cut(pieces->round[i]) && (pieces->round_count < ROUND || !is_repeated(pieces, i));
    for (size_t i = 0; i < pieces->round_count; ++i)
        if (is_cut(pieces->round[i])) pieces->round[i]->in_step = count;
    pieces->cut_steps += count > 1;
    pieces->cut_pieces += count > 1 ? count : 0;
    pieces->round_count = 0;
}

static void add_to_round(pieces_t *pieces, piece_t *piece, uint64_t executions) {
    bool goes_on = executions == pieces->round_end + 1 && pieces->round_count < ROUND;
    if (!goes_on) pieces_end(pieces);
    pieces->round_end = executions;
    pieces->round[pieces->round_count++] = piece;
}

// ---- reads -------------------------------------------------------------------------------------

// NULL if there is no memory.
static piece_t *piece_of(pieces_t *pieces, asked_t *asked, const counter_t *program,
                         const site_t *site) {
    piece_t *piece = asked->pieces;
    while (piece && piece->site != site)
        piece = piece->next;
    if (piece) return piece;
    void *memory;
    keel_status_t status = keel_arena_alloc(&pieces->arena, sizeof *piece, &memory);
    keel_status_ignore(status);
    if (status) return NULL;
    piece = memory;
    *piece = (piece_t){.program = program, .site = site, .next = asked->pieces};
    asked->pieces = piece;
    return piece;
}

// The line that reads asked for the program that was executed last; or another line read it at once
// after asking, and this line asks for the same program. Autograd's threads have no line: if a line
// also reads the program, their reads count as that line's. Or such a thread asked for it too.
piece_t *pieces_read(pieces_t *pieces, counter_t *program, const site_t *site,
                     uint64_t executions) {
    asked_t *asked = counter_asked(program);
    bool is_forced =
        asked && (asked->site == site || asked->pieces || (!asked->has_stack && !site));
    if (!is_forced) return NULL;
    uint64_t count = counter_executions(program);
    if (asked->forced_at == count) return NULL; // a second read of the same execution
    if (!site && asked->pieces) site = asked->pieces->site;
    piece_t *piece = piece_of(pieces, asked, program, site);
    if (!piece) return NULL;
    asked->forced_at = count;
    ++piece->forced;
    add_to_round(pieces, piece, executions);
    return piece;
}

void piece_followed(piece_t *piece, const counter_t *rest) {
    ++piece->sampled;
    piece->shared += rest != NULL;
    if (rest) piece->rest = rest;
}

// ---- the report --------------------------------------------------------------------------------

static bool is_new(const piece_t *piece) {
    return piece->forced != piece->forced_reported || piece->sampled != piece->sampled_reported ||
           piece->in_step != piece->in_step_reported;
}

static keel_journal_piece_t report(piece_t *piece) {
    keel_journal_piece_t fresh = {.program = counter_program(piece->program),
                                  .site = engine_site(site_place(piece->site)),
                                  .rest = piece->rest ? counter_program(piece->rest) : NULL,
                                  .forced = piece->forced - piece->forced_reported,
                                  .sampled = piece->sampled,
                                  .shared = piece->shared,
                                  .pieces = piece->in_step};
    piece->forced_reported = piece->forced;
    piece->sampled_reported = piece->sampled;
    piece->in_step_reported = piece->in_step;
    return fresh;
}

// What has no line only counts among the programs of a step. `out` may be NULL: then only counts.
static size_t gather(const pieces_t *pieces, keel_journal_piece_t *out) {
    size_t count = 0;
    for (const asked_t *asked = pieces->asked; asked; asked = asked->next) {
        for (piece_t *piece = asked->pieces; piece; piece = piece->next) {
            if (!piece->site || !is_new(piece)) continue;
            if (out) out[count] = report(piece);
            ++count;
        }
    }
    return count;
}

keel_status_t pieces_report(pieces_t *pieces, pieces_report_t *out) {
    void *memory;
    *out = (pieces_report_t){0};
    KEEL_TRY(keel_calloc(gather(pieces, NULL), sizeof *out->list, &memory));
    out->list = memory;
    out->count = gather(pieces, out->list);
    out->cut_steps = pieces->cut_steps - pieces->cut_steps_reported;
    out->cut_pieces = pieces->cut_pieces - pieces->cut_pieces_reported;
    pieces->cut_steps_reported = pieces->cut_steps;
    pieces->cut_pieces_reported = pieces->cut_pieces;
    return NULL;
}
