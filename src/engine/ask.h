// ask: what the journal records about a program that the client asked for, so that `keel` can work
// out why (src/analysis): facts only.
#ifndef KEEL_ENGINE_ASK_H_
#define KEEL_ENGINE_ASK_H_

#include "engine/clients.h"
#include "engine/steps.h"
#include "host/host.h"

// A program that the client asked for and got.
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
    steps_when_t when;
    double seconds;               // inside the plugin
    double compile_seconds;       // what compiling it takes, now or when it was stored
    const char *elsewhere;        // who loaded it, if Keel did not hand out its bytes; or NULL
    const char *miss, *miss_note; // why it was compiled: "absent", and a sentence about that
    keel_stack_t stack;
    double stack_seconds;
    const char *folders;      // keel_python_path_read, once per process; else NULL
    const char *names;        // keel_names_read; NULL: use the program's names
    const char *call;         // keel_call_read; NULL: not asked for
    const char *const *files; // the source files of the program's operations
    uint32_t file_count;
    uint64_t sent;           // arrays that the host sent since the last execution but one
    const keel_made_t *made; // the lines that sent them and earlier ones
    uint32_t made_count;
} ask_t;

// Reads the stack, with its text in `arena`. Call it on the client's thread without holding a lock:
// Python may have to wait for its own.
void ask_capture(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask);
// For a client that compiles recorded operations when a result is wanted: reads the stack, and
// makes the line that wanted the result the site. Without a stack the site is unchanged.
void ask_where(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask, keel_site_t *site);
// Reads the user's names for the arguments, if the program does not have them. Otherwise as
// ask_capture.
void ask_names(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask, const keel_site_t *site);
// Reads what JAX compares of the call, besides the program. If a library calls the function for the
// user, the arguments are the library's. Otherwise as ask_capture.
void ask_call(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask, const keel_site_t *site);
// Notes the source files of the program's operations.
void ask_files(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask,
               const keel_program_t *program);
// "the cache has no such entry: ..."
const char *ask_miss(keel_miss_t miss);
// Takes the ask, and writes it on the background thread once the program itself is kept.
void ask_hand_over(keel_engine_t *engine, ask_t *ask);

#endif // KEEL_ENGINE_ASK_H_
