// shim: the plugin door. GetPjrtApi loads the real plugin and hands out a table of the same size
// and extension chain, in which these functions are Keel's and all others the plugin's own, or as
// long as they need a look the bridge's (pjrt/bridge.h). With mode off there is only the bridge.
//
//   Error_{Destroy,Message,GetCode,ForEachPayload}
//                                           errors that Keel made are told from the plugin's
//   Client_{Create,Destroy,Compile}         the way through the engine
//   LoadedExecutable_{Execute,GetExecutable,Destroy}, Executable_{Serialize,Destroy}
//   LoadedExecutable_{Delete,IsDeleted}     as long as others need it (engine/gang.c)
//   Buffer_Destroy                          in the background (engine/release.c)
//   Client_BufferFromHostBuffer, AsyncHostToDeviceTransferManager_TransferData,
//   Buffer_{ToHostBuffer,CopyRawToHost,IncreaseExternalReferenceCount}
//                                           counted (transfers.c)
//   Executable_OptimizedProgram             answered from the store where the executable came from
//
// Threads: GetPjrtApi may be called from several threads; the work is done once.
#ifndef KEEL_SHIM_SHIM_H_
#define KEEL_SHIM_SHIM_H_

#include "engine/engine.h"

// The table that the client gets; never NULL. Where the plugin cannot be loaded, or the settings
// are refused, a table whose every function says why.
const PJRT_Api *keel_shim_api(void);

// A step ended: what the exported `void keel_step(void)` calls. Any thread, also before there is a
// table, which counts nothing.
void keel_shim_step(void);

// ---- fixes.c -----------------------------------------------------------------------------------

// A fault of the client was mended, or could not be (python/keel/fixes): an event of the journal,
// at once or as soon as there is a client. Any thread, whether GetPjrtApi was called or not.
void keel_shim_note_fix(const keel_journal_fix_t *fix);
// Writes what waits; from now on there is a client.
void keel_shim_write_fixes(keel_engine_t *engine);

// ---- off.c -------------------------------------------------------------------------------------

// Puts a look at each compile into the table that a client gets with mode off, a copy of `real`.
void keel_shim_take_off(PJRT_Api *table, const PJRT_Api *real);

// ---- errors.c ----------------------------------------------------------------------------------

// Takes the status. An error that keel_shim_is_own knows.
PJRT_Error *keel_shim_error(keel_status_t status);
bool keel_shim_is_own(const PJRT_Error *error);
// Puts the error functions into `table`; foreign errors go to `plugin`, which may be NULL.
void keel_shim_take_errors(PJRT_Api *table, const PJRT_Api *plugin);

// ---- transfers.c -------------------------------------------------------------------------------

// Puts the functions that move data between host and device into `table`, as far as `plugin` has
// them.
void keel_shim_take_transfers(PJRT_Api *table, const PJRT_Api *plugin, keel_engine_t *engine);

#endif // KEEL_SHIM_SHIM_H_
