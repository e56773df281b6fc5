// asked: one `ask` event of a journal, read (journal/ask.c writes it).
#ifndef KEEL_ANALYSIS_ASKED_H_
#define KEEL_ANALYSIS_ASKED_H_

#include "host/host.h"
#include "journal/journal.h"

// Text belongs to the event, or to the process (key values); the stack's frames are in the arena.
typedef struct asked_t {
    keel_ask_kind_t kind;
    double t;
    int64_t pid;
    keel_digest_t program;
    keel_key_t key; // values borrowed: do not deinitialize
    const char *name;
    keel_site_t site;
    bool recompile;
    uint64_t step, steady; // keel_journal_ask_t; 0: unknown
    double seconds, compile_seconds;
    const char *miss, *miss_note;
    uint64_t sent;
    const keel_made_t *made; // in the arena
    uint32_t made_count;
    keel_stack_t stack;
    const char *names; // keel_names_read; ""
    const char *call;  // keel_call_read; ""
} asked_t;

// Fills in everything except the key's components, which process.c knows. False if the event lacks
// something necessary, or has it in a form that this Keel does not know.
bool asked_read(const struct json_t *event, keel_arena_t *arena, asked_t *out);

#endif // KEEL_ANALYSIS_ASKED_H_
