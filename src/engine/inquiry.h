// inquiry: why a program was asked for.
#ifndef KEEL_ENGINE_INQUIRY_H_
#define KEEL_ENGINE_INQUIRY_H_

#include "engine/core.h"
#include "explain/explain.h"

typedef enum inquiry_kind {
    INQUIRY_NOTE, // it was loaded as a warm start does: only kept in mind
    INQUIRY_COMPILE,
    INQUIRY_LOAD, // that would have been a recompile
    INQUIRY_RETRACE,
} inquiry_kind_t;

// A program that the client asked for and has: what to find out about it.
typedef struct inquiry_t {
    inquiry_kind_t kind;
    PJRT_Client *client;
    keel_arena_t arena; // of all text here, and of the stack; handed over
    keel_key_t key;     // handed over
    keel_digest_t program;
    const char *name;
    keel_site_t site;
    keel_sketch_t sketch;
    bool recompile;
    double seconds;               // in the plugin
    double compile_seconds;       // what compiling it takes, now or when it was stored
    const char *miss, *miss_note; // why it was compiled: "absent", and that in a sentence
    keel_stack_t stack;
    double stack_seconds;
    uint64_t sent; // buffers that the host made since the last execution but one
} inquiry_t;

// Reads the stack into the inquiry, its text into `arena`. On the client's thread, which holds no
// lock: Python may have to wait for its own.
void inquiry_capture(keel_engine_t *engine, keel_arena_t *arena, inquiry_t *inquiry);
// For a client that compiles whatever was recorded when a result was asked for: reads the stack,
// and makes the line that asked the site. Without a stack the site stays.
void inquiry_ask(keel_engine_t *engine, keel_arena_t *arena, inquiry_t *inquiry, keel_site_t *site);
// "the cache has no such entry: ..."
const char *inquiry_miss(keel_miss_t miss);
// Finds it out behind the client's back. Takes the inquiry over; a failure is written to the
// journal.
void inquiry_hand_over(keel_engine_t *engine, inquiry_t *inquiry);

#endif // KEEL_ENGINE_INQUIRY_H_
