// shim: the plugin door. GetPjrtApi loads the real plugin and returns a table of the same size and
// extension chain. These functions are Keel's; all others are the plugin's own, or the bridge's
// (pjrt/bridge.h) while they may need translating. With mode off there are only the bridge,
// contexts.c, devices.c and profiler.c.
//
//   Error_{Destroy,Message,GetCode,ForEachPayload}
//                                           tell Keel's errors from the plugin's
//   Client_{Create,Destroy,Compile}         go through the engine
//   LoadedExecutable_{Execute,GetExecutable,Destroy}, Executable_{Serialize,Destroy}
//   LoadedExecutable_{Delete,IsDeleted}     while others need it (engine/gang.c)
//   Buffer_Destroy                          in the background (engine/release.c)
//   Client_BufferFromHostBuffer, AsyncHostToDeviceTransferManager_TransferData,
//   Buffer_{ToHostBuffer,CopyRawToHost,IncreaseExternalReferenceCount}
//                                           counted (transfers.c)
//   ExecuteContext_Destroy, Executable_DeserializeAndLoad
//                                           contexts live as long as their executions (contexts.c)
//   Executable_OptimizedProgram             answered from the store if the executable came from it
//   Compile, and what takes its executables for topologies without a client (unloaded.c)
//
// Threads: GetPjrtApi may be called from several threads; the work is done once.
#ifndef KEEL_SHIM_SHIM_H_
#define KEEL_SHIM_SHIM_H_

#include "engine/engine.h"

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

// A step ended: what the exported `void keel_step(void)` calls. Any thread; counts nothing before
// there is a table.
void keel_shim_step(void);

// From now on no program may be new: what the exported `void keel_freeze(void)` calls. Any thread;
// does nothing before there is a table.
void keel_shim_freeze(void);

// ---- fixes.c -----------------------------------------------------------------------------------

// Reports that a fault of the client was fixed, or could not be (python/keel/fixes): an event of
// the journal, at once or as soon as there is a client. Any thread, even before GetPjrtApi.
void keel_shim_note_fix(const keel_journal_fix_t *fix);
// Writes the waiting reports; from now on there is a client.
void keel_shim_write_fixes(keel_engine_t *engine);

// ---- rehearsal.c -------------------------------------------------------------------------------

typedef struct keel_shim_rehearsal_t {
    const keel_target_t *target; // NULL: there is none
    keel_rehearse_compiles_t compiles;
    keel_rehearse_fill_t fill;
} keel_shim_rehearsal_t;

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

// ---- contexts.c --------------------------------------------------------------------------------

// Keeps execute contexts until their executions have ended, for clients that destroy them too
// early. Put into `table` last: what it has for compiling and executing is called inside.
void keel_shim_take_contexts(PJRT_Api *table, const PJRT_Api *plugin);

#endif // KEEL_SHIM_SHIM_H_
