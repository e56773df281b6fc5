// ask: what the journal says of a program that the client asked for, so that `keel` can work out
// why (src/analysis): facts only.
#ifndef KEEL_ENGINE_ASK_H_
#define KEEL_ENGINE_ASK_H_

#include "engine/core.h"
#include "host/host.h"

// A program that the client asked for and has.
typedef struct ask_t {
    keel_ask_kind_t kind;
    PJRT_Client *client;
    keel_arena_t arena; // of all text here, and of the stack; handed over
    keel_key_t key;     // handed over
    const client_t *backend;
    keel_digest_t program;
    const char *name;
    keel_site_t site;
    bool recompile;
    double seconds;               // in the plugin
    double compile_seconds;       // what compiling it takes, now or when it was stored
    const char *miss, *miss_note; // why it was compiled: "absent", and that in a sentence
    keel_stack_t stack;
    double stack_seconds;
    const char *names;        // keel_names_read; NULL: as the program has them
    const char *const *files; // that the program's operations stand in
    uint32_t file_count;
    uint64_t sent; // buffers that the host made since the last execution but one
} ask_t;

// Reads the stack, its text into `arena`. On the client's thread, which holds no lock: Python may
// have to wait for its own.
void ask_capture(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask);
// For a client that compiles whatever was recorded when a result was asked for: reads the stack,
// and makes the line that asked the site. Without a stack the site stays.
void ask_where(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask, keel_site_t *site);
// Reads what the user calls the arguments, where the program does not tell. As ask_capture.
void ask_names(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask, const keel_site_t *site);
// Notes the source files that the program's operations stand in.
void ask_files(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask,
               const keel_program_t *program);
// "the cache has no such entry: ..."
const char *ask_miss(keel_miss_t miss);
// Writes it in the background, once the program itself is kept. Takes the ask over.
void ask_hand_over(keel_engine_t *engine, ask_t *ask);

#endif // KEEL_ENGINE_ASK_H_
