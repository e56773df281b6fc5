// own: the client's own compiler as a plugin's table, so that the engine can stand behind a client
// that keeps its compiler to itself, such as JAX's client for CPU.
//
// The table says what the client's devices are, and it compiles, loads and serializes through
// functions that the client's side gives (python/keel/own_client.py). Executables are numbers
// there; here each is an object, so that the engine can tell them apart. There are no buffers and
// no executions: the client executes what it gets, and reports that (shim/own.c).
//
//   table.c        the client and its devices, the errors, the table
//   executables.c  what the client's side does for an executable
//
// Ownership: what the client says about itself is copied. An executable lives until the last of its
// handles is destroyed. Threads: any; the functions of the client's side are called on the thread
// that asks, with no lock held, and they may take the interpreter's lock.
#ifndef KEEL_OWN_OWN_H_
#define KEEL_OWN_OWN_H_

#include "pjrt/pjrt.h"

typedef struct keel_own_device_t {
    const char *kind;
    int32_t id, process;
    bool is_addressable;
} keel_own_device_t;

typedef struct keel_own_facts_t {
    const char *library;  // the file that has the compiler
    const char *platform; // "cpu"
    const char *version;
    const keel_own_device_t *devices;
    size_t device_count;
    int32_t process;
} keel_own_facts_t;

// What an executable needs, in bytes, in the order of keel_own_calls_t's `memory`.
#define KEEL_OWN_FIGURES(X)                                                                        \
    X(generated_code_size_in_bytes)                                                                \
    X(argument_size_in_bytes)                                                                      \
    X(output_size_in_bytes)                                                                        \
    X(alias_size_in_bytes)                                                                         \
    X(temp_size_in_bytes)                                                                          \
    X(host_generated_code_size_in_bytes)                                                           \
    X(host_argument_size_in_bytes)                                                                 \
    X(host_output_size_in_bytes)                                                                   \
    X(host_alias_size_in_bytes)                                                                    \
    X(host_temp_size_in_bytes)

enum {
#define KEEL_OWN_FIGURE(name) +1
    KEEL_OWN_FIGURE_COUNT = 0 KEEL_OWN_FIGURES(KEEL_OWN_FIGURE)
#undef KEEL_OWN_FIGURE
};

// Each returns 0, or a PJRT_Error_Code and, in `out` (keel_own_give), why. `number` is a new
// executable's for `compile` and `load`.
typedef struct keel_own_calls_t {
    int (*compile)(uint64_t number, void *out); // what this thread asks for
    // `options`: compile options instead of those that it was compiled with; empty for those.
    int (*load)(uint64_t number, const uint8_t *bytes, size_t size, const uint8_t *options,
                size_t options_size, void *out);
    int (*serialize)(uint64_t number, void *out); // the bytes in `out`
    int (*memory)(uint64_t number, int64_t figures[KEEL_OWN_FIGURE_COUNT], void *out);
    int (*program)(uint64_t number, void *out); // the optimized one, an HloModuleProto, in `out`
    void (*drop)(uint64_t number);              // no handle is left
    int (*whole)(void *out); // what this thread asks for, with the constants beside it, in `out`
} keel_own_calls_t;

// The table, for the process's life. Once.
keel_status_t keel_own_plugin(const keel_own_facts_t *facts, const keel_own_calls_t *calls,
                              keel_plugin_t *out) KEEL_MUST_CHECK;

// A later client in the place of the former one, which the engine no longer has. What that one said
// of itself stays, because executables outlive their client.
keel_status_t keel_own_client(const keel_own_facts_t *facts) KEEL_MUST_CHECK;

// The client's side hands over bytes or text. Any number of times per call.
void keel_own_give(void *out, const void *data, size_t size);

// The whole program that this thread asks for (keel_engine_beside).
keel_status_t keel_own_whole(keel_buffer_t *out) KEEL_MUST_CHECK;

// The interpreter ends: its functions are not called any more.
void keel_own_end(void);

// The number of an executable of this table.
uint64_t keel_own_number(const PJRT_LoadedExecutable *loaded);

#endif // KEEL_OWN_OWN_H_
