// rehearse: a PJRT client for devices that are not there.
//
// The table that this room makes takes the place of a plugin's. Its devices are those of a target
// (target/target.h), programs go to the target's real compiler in child processes
// (compiler/compiler.h), and executions only make buffers of the right shapes: no device computes
// anything. What a host sent is known, and so is what small programs compute from it (values.h);
// everything else has a shape and no contents.
//
//   table.c       the table
//   client.c      the client and its devices; memories.c: their memories; process.c: which of
//                 several processes this is
//   buffer.c      buffers; transfer.c: what moves between them and the host
//   executable.c  executables; facts.c: what is known about them; unloaded.c: without devices
//   execute.c     executions
//   compiling.c   programs on their way through the real compiler
//   sizes.c       bytes of arrays on a device
//   values.c      what small programs compute; calculator.c: on the processor; shards.c: parts of
//                 arrays; meeting.c: of those, what several processes exchange; later.c: what is
//                 computed once a host asks for it
//   refusal.c     errors of executions and transfers, which a client may swallow
//   event.c       events, all of which are ready
//   extensions.c  the plugin's extensions that need no device; layouts.c: how arrays lie there
//   objects.h     what stands behind PJRT's pointers
//
// PJRT's functions carry no context, so a process has one rehearsal. It stays until the process
// ends. Threads: any function of the table from any thread.
#ifndef KEEL_REHEARSE_REHEARSE_H_
#define KEEL_REHEARSE_REHEARSE_H_

#include "compiler/compiler.h"
#include "pjrt/pjrt.h"
#include "target/target.h"

// word, sentence
#define KEEL_REHEARSE_COMPILES(X)                                                                  \
    X(NEW, "new", "compile the programs that are not in the cache")                                \
    X(ALL, "all", "compile every program, also those that are in the cache")                       \
    X(NONE, "none",                                                                                \
      "compile nothing; the compiler only picks the shardings that programs leave open")

typedef enum keel_rehearse_compiles_t {
#define KEEL_REHEARSE_COMPILES_ENUM(name, word, sentence) KEEL_REHEARSE_##name,
    KEEL_REHEARSE_COMPILES(KEEL_REHEARSE_COMPILES_ENUM)
#undef KEEL_REHEARSE_COMPILES_ENUM
} keel_rehearse_compiles_t;

// word, sentence
#define KEEL_REHEARSE_FILLS(X)                                                                     \
    X(ZEROS, "zeros", "0")                                                                         \
    X(ONES, "ones", "1")                                                                           \
    X(NAN, "nan", "not a number, or 0 in types without it")

// What values read as that no device computed.
typedef enum keel_rehearse_fill_t {
#define KEEL_REHEARSE_FILLS_ENUM(name, word, sentence) KEEL_REHEARSE_FILL_##name,
    KEEL_REHEARSE_FILLS(KEEL_REHEARSE_FILLS_ENUM)
#undef KEEL_REHEARSE_FILLS_ENUM
} keel_rehearse_fill_t;

typedef struct keel_rehearse_settings_t {
    const keel_target_t *target; // stays
    const keel_plugin_t *plugin; // the target's, loaded; stays
    keel_rehearse_compiles_t compiles;
    keel_rehearse_fill_t fill;
    // PyTorch/XLA 2.9 has an older XLA than most plugins. It does not know what is new in optimized
    // modules (mulhi, shardings that name axes), and reads the text of a layout after it has freed
    // it. It gets modules of Keel's own, and arrays lie row by row for it.
    bool client_is_old;
    const char *interpreter; // the Python that has the client's functions; NULL: the current one
    const char *calculator;  // path of a plugin for the processor, which computes small programs;
                             // stays. "": all values are unknown that the host did not send
} keel_rehearse_settings_t;

// The table of the process's rehearsal. Call it once. Its version is the plugin's, because keys
// contain it, but its functions are those of this header: do not offer a client newer ones.
keel_status_t keel_rehearse_begin(const keel_rehearse_settings_t *settings,
                                  const PJRT_Api **out) KEEL_MUST_CHECK;

// ---- executables -------------------------------------------------------------------------------

// What the compiler made of a program, or why it made nothing.
typedef void keel_rehearse_done_t(void *context, const keel_compiled_t *compiled);
// Calls `done` once the compiler is done with the executable that PJRT_Client_Compile returned: on
// a thread of this room, or at once. If it is not compiled, *out_called is false, and `done` is
// never called.
keel_status_t keel_rehearse_when_compiled(PJRT_LoadedExecutable *loaded, keel_rehearse_done_t *done,
                                          void *context, bool *out_called) KEEL_MUST_CHECK;

typedef enum keel_rehearse_state_t {
    KEEL_REHEARSE_NOT_COMPILED,
    KEEL_REHEARSE_COMPILING,
    KEEL_REHEARSE_COMPILED,
} keel_rehearse_state_t;
keel_rehearse_state_t keel_rehearse_state(PJRT_LoadedExecutable *loaded);
// Whether it is only guessed how its results are sharded: whole on each device.
bool keel_rehearse_is_guess(const PJRT_LoadedExecutable *loaded);

// Whether the compiler was asked how it shards and lays out parameters and results, and nothing
// else. Then *out_module says so, in place of an optimized one (keel_rehearse_load takes it), and
// asking took *out_seconds. Both texts live as long as the executable.
bool keel_rehearse_is_partitioned(const PJRT_LoadedExecutable *loaded, keel_bytes_t *out_module,
                                  const char **out_format, double *out_seconds);

// The executable of a program that is compiled already; `serialized` and `module` (in
// `module_format`) are copied. `memory` may be NULL.
keel_status_t keel_rehearse_load(const PJRT_Client_Compile_Args *args, keel_bytes_t serialized,
                                 keel_bytes_t module, keel_str_t module_format,
                                 const keel_program_memory_t *memory,
                                 PJRT_LoadedExecutable **out) KEEL_MUST_CHECK;

// An executable that no device has, from what was stored of it: `memory` may be NULL. The functions
// of the table below take it, also without a rehearsal.
keel_status_t keel_rehearse_unloaded(const PJRT_Client_Compile_Args *args, keel_bytes_t serialized,
                                     keel_bytes_t module, keel_str_t module_format,
                                     const keel_program_memory_t *memory,
                                     PJRT_Executable **out) KEEL_MUST_CHECK;
// The plugin's chain of extensions, in which those for layouts and shardings take these executables
// too: a copy that stays, or the plugin's own if it has neither.
keel_status_t keel_rehearse_extensions(PJRT_Extension_Base *plugins,
                                       PJRT_Extension_Base **out) KEEL_MUST_CHECK;
// Whether it is one of this room's.
bool keel_rehearse_owns(const PJRT_Executable *executable);
// The functions that take executables, and the rest empty.
const PJRT_Api *keel_rehearse_executables(void);

// ---- values and memory -------------------------------------------------------------------------

// Whether the buffer's contents are what the device would have. If not, *out_maker is the program
// that made it; it stays.
bool keel_rehearse_is_real(PJRT_Buffer *buffer, const char **out_maker);
// The dimensions of a buffer; they live as long as it does.
void keel_rehearse_dims(const PJRT_Buffer *buffer, const int64_t **out, size_t *out_rank);
// Bytes in use on the fullest device of the executable.
uint64_t keel_rehearse_in_use(const PJRT_LoadedExecutable *loaded);
// Bytes of its results on each device, beyond what its donated arguments can give them.
uint64_t keel_rehearse_adds(const PJRT_LoadedExecutable *loaded);
// Bytes that an execution computes on each device: 0 if the program only moves elements or maps
// each of them.
uint64_t keel_rehearse_computes(const PJRT_LoadedExecutable *loaded);
// Whether devices of other processes have partitions of it, so that all must execute it. Replicas
// may differ: PyTorch/XLA compiles every program for all of them.
bool keel_rehearse_spans(const PJRT_LoadedExecutable *loaded);
// Which of the target's processes has the client; 0 for none.
int keel_rehearse_process(const PJRT_Client *client);

// ---- refusals ----------------------------------------------------------------------------------

// name, word
#define KEEL_REHEARSE_ACTIONS(X)                                                                   \
    X(EXECUTION, "execution")                                                                      \
    X(TRANSFER, "transfer")                                                                        \
    X(CLIENT, "client")

typedef enum keel_rehearse_action_t {
#define KEEL_REHEARSE_ACTIONS_ENUM(name, word) KEEL_REHEARSE_##name,
    KEEL_REHEARSE_ACTIONS(KEEL_REHEARSE_ACTIONS_ENUM)
#undef KEEL_REHEARSE_ACTIONS_ENUM
} keel_rehearse_action_t;

// The client gets an error instead of what it asked for, or instead of itself: `name` is the
// program's, NULL if it is not about one. Called on the client's thread, which holds no lock of
// this room.
typedef void keel_rehearse_refused_t(void *context, keel_rehearse_action_t action, const char *name,
                                     keel_str_t message);
// NULL: nothing is called. Only while no function of the table runs.
void keel_rehearse_when_refused(keel_rehearse_refused_t *refused, void *context);

// ---- the compiler ------------------------------------------------------------------------------

// How many programs are still with the compiler.
uint64_t keel_rehearse_pending(void);
// Waits until the compiler has no program left. `each` is called now and then; NULL is allowed.
void keel_rehearse_wait(void (*each)(void *context, uint64_t pending), void *context);

#endif // KEEL_REHEARSE_REHEARSE_H_
