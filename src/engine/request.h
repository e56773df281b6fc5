// request: a program that the client asks for.
#ifndef KEEL_ENGINE_REQUEST_H_
#define KEEL_ENGINE_REQUEST_H_

#include "engine/ask.h"
#include "engine/dumps.h"
#include "engine/repeats.h"

// How a client asks for a program.
typedef enum request_kind_t {
    REQUEST_COMPILE,
    REQUEST_LOAD,      // by itself, of bytes that Keel handed out for this program
    REQUEST_ELSEWHERE, // by itself, of other bytes; the program is what the plugin made of it
} request_kind_t;

// One Compile call of the client, or one of its own loads as if it had compiled that program.
typedef struct request_t {
    keel_engine_t *engine;
    PJRT_Client_Compile_Args *args;
    PJRT_Compile_Args
        *unloaded; // the client's call, if it compiles for a topology; `args` repeats it
    request_kind_t kind;
    keel_traced_graph_t traced_graph; // stack NULL: not known
    const char *loader;               // who loads it: "JAX's own cache"; NULL for a compile
    const client_t *client;
    keel_bytes_t code;
    keel_beside_t *beside; // constants that `code` lacks; in the arena
    size_t beside_count;
    keel_status_t (*make_whole)(keel_buffer_t *out);
    keel_buffer_t whole; // `code` once it has been made whole
    size_t size;         // of the program with all its constants, in bytes
    const char *format;  // "mlir", "hlo", or the client's name of another format
    keel_arena_t arena;  // of the texts below
    keel_digest_t program;
    keel_digest_t options;        // of these:
    keel_bytes_t ordered_options; // the client's, with maps in order; in the arena
    const char *name;             // of the module
    uint32_t ops;
    keel_site_t site;
    keel_key_t key;
    keel_cacheable_t cacheable;
    dumps_t dumps;
    keel_bytes_t load_options; // of an entry of this program, see keel_payload_t
    bool recompile;
    bool is_eager;          // an operation that ran on its own, outside jit
    bool has_gradient;      // it computes one
    bool has_key;           // this process asked for this key before
    uint64_t asked_before;  // how often this function asked for this key before
    bool is_again;          // this function asked for another key before
    bool is_retrace;        // by the same replica
    repeat_t repeat;        // what is written of a retrace
    double traced, lowered; // seconds before it, on this thread (keel_preparing_t)
    uint64_t started;
    uint64_t in_plugin;        // nanoseconds
    keel_bytes_t sent_options; // the client's, while args holds others
    uint64_t replicas;         // that must run it together; 0: any device alone
    bool is_replica;           // one of several that ask for it, each on its own thread
    bool is_read, handed_out;
    double slow_seconds;      // what loading it took, if that was more than compiling it; or 0
    const char *rehearsed;    // see keel_journal_compile_t
    bool is_guess;            // likewise
    double partition_seconds; // likewise
    keel_payload_t answer;    // has_memory: the program's needs, not yet in the journal
    ask_t ask;                // filled in on the way, handed over at the end
} request_t;

// Reads the program and makes its key. Call request_end even if it fails.
keel_status_t request_begin(keel_engine_t *engine, PJRT_Client_Compile_Args *args,
                            PJRT_Compile_Args *unloaded, request_kind_t kind,
                            request_t *request) KEEL_MUST_CHECK;
void request_end(request_t *request);
// Makes `code` the program with its constants, for those who keep or send it; nothing to do if none
// is beside it. On failure `code` is what it was.
keel_status_t request_make_whole(request_t *request) KEEL_MUST_CHECK;

#endif // KEEL_ENGINE_REQUEST_H_
