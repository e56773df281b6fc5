// request: one Compile call of the client.
#ifndef KEEL_ENGINE_REQUEST_H_
#define KEEL_ENGINE_REQUEST_H_

#include "engine/ask.h"

// One Compile call of the client.
typedef struct request_t {
    keel_engine_t *engine;
    PJRT_Client_Compile_Args *args;
    const client_t *client;
    keel_bytes_t code;
    const char *format; // "mlir", "hlo", or the client's own word for another
    keel_arena_t arena; // of what follows
    keel_digest_t program;
    const char *name; // of the module
    uint32_t ops;
    keel_site_t site;
    keel_key_t key;
    keel_cacheable_t cacheable;
    const char *dumps; // the flag that asks XLA for dumps, which only a compile writes; NULL
    bool recompile;
    bool is_eager;         // an operation that ran by itself, outside jit
    uint64_t asked_before; // how often this function for this key
    bool is_retrace;       // by the same replica
    uint64_t started;
    uint64_t in_plugin;        // nanoseconds
    keel_bytes_t sent_options; // the client's, while args has others
    uint64_t replicas;         // that must run it together; 0: any device by itself
    bool is_replica;           // of several that ask for it, each on a thread of its own
    bool is_read, handed_out;
    keel_payload_t answer; // has_memory: what the program needs, of which nothing is written yet
    ask_t ask;             // filled in on the way, handed over at the end
} request_t;

// Reads the program and makes its key. To be ended also on failure.
keel_status_t request_begin(keel_engine_t *engine, PJRT_Client_Compile_Args *args,
                            request_t *request) KEEL_MUST_CHECK;
void request_end(request_t *request);

#endif // KEEL_ENGINE_REQUEST_H_
