// shim: the plugin door. GetPjrtApi loads the real plugin and returns a table of the same size and
// extension chain. These functions are Keel's; all others are the plugin's own, or the bridge's
// (pjrt/bridge.h) while they may need translating. With mode off there are only the bridge,
// contexts.c, devices.c and profiler.c.
//
//   Error_{Destroy,Message,GetCode,ForEachPayload}
//                                           tell Keel's errors from the plugin's
//   Client_{Create,Destroy,Compile}, Executable_DeserializeAndLoad
//                                           go through the engine
//   LoadedExecutable_{Execute,GetExecutable,Destroy}, Executable_{Serialize,Destroy}
//   LoadedExecutable_{Delete,IsDeleted}     while others need it (engine/gang.c)
//   Buffer_Destroy                          in the background (engine/release.c)
//   Client_BufferFromHostBuffer, AsyncHostToDeviceTransferManager_TransferData,
//   Buffer_{ToHostBuffer,CopyRawToHost,IncreaseExternalReferenceCount}
//                                           counted (transfers.c)
//   ExecuteContext_Destroy                  contexts live as long as their executions (contexts.c)
//   Executable_OptimizedProgram             answered from the store if the executable came from it;
//                                           only its outline if that suffices (outlines.h)
//   Compile, and what takes its executables for topologies without a client (unloaded.c)
//
// Threads: GetPjrtApi may be called from several threads; the work is done once.
#ifndef KEEL_SHIM_SHIM_H_
#define KEEL_SHIM_SHIM_H_

#include "engine/engine.h"
#include "own/own.h"

// The table that the client gets; never NULL. If the plugin cannot be loaded, or the settings are
// refused, every function of the table returns the reason.
const PJRT_Api *keel_shim_api(void);

// The plugin to wrap, instead of that of the settings. False, and without effect, if there is a
// table already, another plugin was named before, or this one cannot be loaded (reported once). The
// table of a plugin that was offered becomes Keel's at once. Any thread, before a client is made.
bool keel_shim_wrap(const char *path);

// ---- offers.c ----------------------------------------------------------------------------------

// This thread's next keel_shim_api returns a table of this plugin: its own until keel_shim_wrap
// names it. False if it cannot be loaded (reported once). Any thread.
bool keel_shim_offer(const char *path);

// The plugin's table, with room for Keel's functions; NULL if it was not offered.
PJRT_Api *keel_shim_offered(const char *path);
// What this thread was just offered, once; NULL if nothing.
PJRT_Api *keel_shim_take_offer(void);
// A table of one's own, as long as the longer of this one and the header's.
keel_status_t keel_shim_copy_table(const PJRT_Api *real, PJRT_Api **out) KEEL_MUST_CHECK;

// The client's own compiler is wrapped, instead of a plugin (own.c): the table stays Keel's own.
// False if there is a table or a named plugin. `of_client` stays. Any thread.
bool keel_shim_wrap_own(const keel_plugin_t *of_client);
// NULL before there is a table, with mode off, and if Keel had to stand aside.
keel_engine_t *keel_shim_engine(void);
// The process ends: what is to be stored and recorded is. May be called again.
void keel_shim_end(void);

// A step ended: what the exported `void keel_step(void)` calls. Any thread; counts nothing before
// there is a table.
void keel_shim_step(void);

// From now on no program may be new: what the exported `void keel_freeze(void)` calls. Any thread;
// does nothing before there is a table.
void keel_shim_freeze(void);

// What the exported `int keel_replaces_cache(void)` answers.
int keel_shim_replaces_cache(void);

// ---- fixes.c -----------------------------------------------------------------------------------

// Reports that a fault of the client was fixed, or could not be (python/keel/fixes): an event of
// the journal, at once or as soon as there is a client. Any thread, even before GetPjrtApi.
void keel_shim_note_fix(const keel_journal_fix_t *fix);
// A loop of the client's ended (keel_engine_note_left); skipped if there is no client.
void keel_shim_note_left(uint64_t read, const keel_journal_left_t *left);
// Writes the waiting reports; from now on there is a client.
void keel_shim_write_fixes(keel_engine_t *engine);

// ---- own.c -------------------------------------------------------------------------------------

// What the Python package needs to put the engine behind JAX's own client, as
// python/keel/own_client.py declares it. Functions that only a thread with the interpreter's lock
// may call say so.
typedef struct keel_own_door_t {
    // First, so that Python files of another build see that they are not for this library.
    size_t size, calls_size; // of this, and of keel_own_calls_t
    const char *version;     // Keel's
    // Makes the engine and the client. 0: mode is off, or the process has another plugin behind
    // Keel; 1: done; -1: refused, and `out` (keel_own_give) says why.
    int (*begin)(const keel_own_facts_t *facts, const keel_own_calls_t *calls, void *out);
    void (*give)(void *out, const void *data, size_t size);
    // What it took to make the code that this thread gives next, in nanoseconds.
    void (*spent)(uint64_t nanoseconds);
    void (*copy)(void *to, const void *from, size_t size); // keel_memory_copy_large
    // What the client compiles on this thread, with the constants beside the code
    // (keel_engine_beside), which are read during this call only. 0, or a PJRT_Error_Code and why.
    // *out_handle is the executable's, *out_number its number in the calls.
    int (*compile)(keel_str_t code, keel_str_t options, const keel_bytes_t *constants, size_t count,
                   uint64_t *out_handle, uint64_t *out_number, void *out);
    // What the client loads by itself on this thread: the same. Without options, the executable's.
    int (*load)(keel_str_t bytes, keel_str_t options, uint64_t *out_handle, uint64_t *out_number,
                void *out);
    // The client has these bytes of the executable: loading them is an ask for its program.
    void (*serialized)(uint64_t handle, keel_str_t bytes);
    // The bytes that the executable was loaded from; false: it was compiled here.
    bool (*stored)(uint64_t handle, void *out);
    void (*destroy)(uint64_t handle); // the client has it no more
    // The client goes on with a program without Keel, and why. 0: it may, or as above.
    int (*unseen)(keel_str_t why, void *out);
    // Waits until all is stored and recorded; then the interpreter may end.
    void (*end)(void);
    void *(*make_buffer)(void);
    const void *(*read_buffer)(void *buffer, size_t *out_size); // lives until it is freed
    void (*free_buffer)(void *buffer);
    // With the interpreter's lock: executions (jitted.h).
    void (*executed)(uint64_t handle);
    void *(*make_group)(void);
    void (*free_group)(void *group);
    bool (*add_program)(void *group, uint64_t handle);
    void *(*namer)(void);
    void *(*around)(void *parts);
    bool (*watch)(void *function, size_t offset, void *group);
    void (*forget)(void *function);
    void (*missed)(void);
} keel_own_door_t;

const keel_own_door_t *keel_shim_own_door(void);

// ---- rehearsal.c -------------------------------------------------------------------------------

typedef struct keel_shim_rehearsal_t {
    const keel_target_t *target; // NULL: there is none
    keel_rehearse_compiles_t compiles;
    keel_rehearse_fill_t fill;
    keel_writes_t writes;
} keel_shim_rehearsal_t;

// Code of the client, which gets the first table: a rehearsal differs by client.
void keel_shim_note_client(const void *caller);
// If the environment asks for a rehearsal (`keel rehearse` sets it), puts its table in the place of
// the plugin's.
keel_status_t keel_shim_rehearse(keel_plugin_t *plugin, keel_shim_rehearsal_t *out) KEEL_MUST_CHECK;

// ---- devices.c ---------------------------------------------------------------------------------

// The plugin that makes the clients, and how many devices one of XLA's CPU plugins has if the
// program asks for no number; 0 for any other plugin, which keeps its own number.
void keel_shim_take_devices(const keel_plugin_t *plugin, uint32_t count);

// The client's own setting asks for so many devices on CPU; -1: it does not. Any thread, before the
// client is made.
void keel_shim_ask_devices(int64_t count);

// Makes a client, with that option among the client's own. Calls `created` with all of them.
typedef void keel_shim_created_t(const PJRT_Client_Create_Args *args);
PJRT_Error *keel_shim_create(PJRT_Client_Create_Args *args, keel_shim_created_t *created);

// ---- names.c -----------------------------------------------------------------------------------

// The client's own CPU devices are called so, before their numbers. Before the client is made.
void keel_shim_name_devices(const char *prefix);

// Gives a table such names, once there are any; without, the plugin's own.
void keel_shim_take_names(PJRT_Api *table, const PJRT_Api *plugin);

// ---- kinds.c -----------------------------------------------------------------------------------

// What the memory that results lie in is called, for a client that must know, if the plugin does
// not say. Before there is a table.
void keel_shim_name_kind(const char *kind);

// Has this plugin answer so, if there is a name.
void keel_shim_take_kinds(keel_plugin_t *plugin);

// ---- profiler.c --------------------------------------------------------------------------------

// Gives a table without a profiler one that records nothing. Once.
void keel_shim_take_profiler(PJRT_Api *table);

// ---- off.c -------------------------------------------------------------------------------------

// Wraps the functions that make a client and compile in the table that a client gets with mode off,
// a copy of `real`.
void keel_shim_take_off(PJRT_Api *table, const PJRT_Api *real);

// ---- errors.c ----------------------------------------------------------------------------------

// Puts the error functions into `table`; foreign errors go to `plugin`, which may be NULL.
void keel_shim_take_errors(PJRT_Api *table, const PJRT_Api *plugin);

// ---- transfers.c -------------------------------------------------------------------------------

// Puts the functions that move data between host and device into `table`, those that `plugin` has.
void keel_shim_take_transfers(PJRT_Api *table, const PJRT_Api *plugin, keel_engine_t *engine);

// ---- unloaded.c --------------------------------------------------------------------------------

// Lets PJRT_Compile go through the engine. Put into `table` after the functions of executables.
void keel_shim_take_unloaded(PJRT_Api *table, const PJRT_Api *plugin, keel_engine_t *engine);
// In a rehearsal: PJRT_Compile alone.
void keel_shim_take_compile(PJRT_Api *table, const PJRT_Api *plugin, keel_engine_t *engine);

// ---- serialized.c ------------------------------------------------------------------------------

// Shows the engine what the client serializes. Put into `table` after all other functions of
// executables.
void keel_shim_take_serialized(PJRT_Api *table, keel_engine_t *engine);

// ---- contexts.c --------------------------------------------------------------------------------

// Keeps execute contexts until their executions have ended, for clients that destroy them too
// early. Put into `table` last: what it has for compiling and executing is called inside.
void keel_shim_take_contexts(PJRT_Api *table, const PJRT_Api *plugin);

#endif // KEEL_SHIM_SHIM_H_
