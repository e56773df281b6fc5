// engine: the way of one program, from the client's Compile to an executable.
//
//   read -> key -> loaded ahead -> memory -> disk   hit: deserialize-and-load, done
//                                   miss: one process compiles, the others wait for it
//   compile (the plugin) -> the client has it; behind its back: serialize, load it back, store
//   journal: one line of what happened; in the background: why, against what was known
//
// Only this room knows all the steps. A step that fails is skipped, said once and written to the
// journal; the client always gets what the plugin would have given it.
//
// Files, from the top: lifetime.c begins and ends, and knows the clients; compile.c is the way
// above. Of its steps: request.c read and key, portable.c options that are rewritten; load.c an
// entry made an executable again, prefetch.c before the client asks for it; progress.c the line on
// a terminal. Behind the client's back: background.c the thread, publish.c what is stored,
// ask.c the facts about a program that was asked for, bundling.c what the process depends on,
// memory.c what programs need and devices have in use. Of what is executed and moved: executables.c
// executables by pointer, gang.c one for all replica threads, release.c their buffers; transfers.c
// what goes to the device and comes from it; sites.c where the host reads, flow.c which reads cut a
// step, flow_journal.c that for the journal; host_ops.c what PyTorch/XLA computed on the host;
// counters.c what is counted of all that. At the
// bottom: core.h the engine itself, payload.c what is stored. No file needs one that needs it.
//
// Ownership: the engine borrows the plugin; it owns everything it made. Executables belong to the
// client, as they would without Keel; the engine knows them by pointer only.
// Threads: any function from any thread. One background thread publishes and explains, one loads
// ahead; on a terminal a third one shows long compiles, for replica threads a fourth one lets go of
// buffers.
#ifndef KEEL_ENGINE_ENGINE_H_
#define KEEL_ENGINE_ENGINE_H_

#include "engine/payload.h"
#include "journal/journal.h"
#include "pjrt/pjrt.h"
#include "settings/settings.h"

typedef struct keel_engine_t keel_engine_t;

// Takes over `settings` (also on failure). The mode must not be off.
keel_status_t keel_engine_create(keel_settings_t *settings, const keel_plugin_t *plugin,
                                 keel_engine_t **out) KEEL_MUST_CHECK;

// Waits until all that was compiled is stored, and writes the journal's last line. To be called
// when the process ends. Later compiles go straight to the plugin. The engine is never freed:
// client threads may still hold it.
void keel_engine_end(keel_engine_t *engine);

// A client was made with these options: reads what its backend is.
void keel_engine_client_created(keel_engine_t *engine, PJRT_Client *client,
                                const PJRT_NamedValue *options, size_t option_count);
// Before a client is destroyed: waits until nothing of it is in use behind its back.
void keel_engine_client_closing(keel_engine_t *engine, PJRT_Client *client);

// A fault of the client was mended, or could not be: one event of the journal.
void keel_engine_note_fix(keel_engine_t *engine, const keel_journal_fix_t *fix);

// How many replicas a program is compiled for whose executions this plugin ends only once all of
// them have begun; 0 where that does not matter. Needs no engine.
uint64_t keel_engine_gathered_replicas(const PJRT_Api *api, const PJRT_Client_Compile_Args *args);

// The client's Compile. The error, if any, is the plugin's.
PJRT_Error *keel_engine_compile(keel_engine_t *engine, PJRT_Client_Compile_Args *args);

// Executables whose executions on single devices are to go to one of them (see gang.c).
typedef struct keel_gang_t keel_gang_t;

// One execution. Takes no lock and allocates nothing, but for the first few of a program. Not NULL
// where the plugin's call is to stand between the two functions below.
keel_gang_t *keel_engine_executed(keel_engine_t *engine,
                                  const PJRT_LoadedExecutable_Execute_Args *args);

// What the client sent.
typedef struct keel_gang_call_t {
    PJRT_LoadedExecutable *executable;
    PJRT_ExecuteOptions *options;
    _Alignas(max_align_t) unsigned char room[512]; // the plugin's options, while it executes
} keel_gang_call_t;

// Puts the gang's executable and launch id into the arguments; takes them out again. A failure is
// the client's: it executes what it has deleted.
keel_status_t keel_gang_begin(keel_gang_t *gang, PJRT_LoadedExecutable_Execute_Args *args,
                              keel_gang_call_t *call) KEEL_MUST_CHECK;
void keel_gang_end(PJRT_LoadedExecutable_Execute_Args *args, const keel_gang_call_t *call);

// Is a buffer that the client destroys to be handed over here (see release.c)? One relaxed load.
bool keel_engine_releases(const keel_engine_t *engine);
// Takes the buffer. False where it cannot: the caller destroys it.
bool keel_engine_release(keel_engine_t *engine, PJRT_Buffer *buffer);

// The client took the executable of `loaded`; is about to destroy the one or the other. A loaded
// one is only to be destroyed, or deleted, where the answer is true. Where this cannot be noted
// `executable` must not be handed out: it could not be serialized.
keel_status_t keel_engine_executable_taken(keel_engine_t *engine,
                                           const PJRT_LoadedExecutable *loaded,
                                           const PJRT_Executable *executable) KEEL_MUST_CHECK;
void keel_engine_executable_closing(keel_engine_t *engine, const PJRT_Executable *executable);
bool keel_engine_loaded_closing(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded);
bool keel_engine_loaded_deleting(keel_engine_t *engine, PJRT_LoadedExecutable *loaded);
// Did the client delete it, though the plugin does not know?
bool keel_engine_loaded_is_deleted(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded);

// `bytes` went to the device, into a buffer that was made of them (or NULL), which took the
// plugin's call so long.
void keel_engine_sent(keel_engine_t *engine, const PJRT_Buffer *buffer, uint64_t bytes,
                      uint64_t nanoseconds);

// A read from the device: around the plugin's call. `event` tells when the data are there; NULL:
// they are. The line that reads is taken from the host's stack, for at most about a hundredth of
// the time.
typedef struct keel_reading_t {
    uint64_t started;
    struct site_t *site;
} keel_reading_t;
keel_reading_t keel_engine_read_begins(keel_engine_t *engine, const PJRT_Buffer *buffer,
                                       uint64_t bytes);
void keel_engine_read_ends(keel_engine_t *engine, const keel_reading_t *reading, PJRT_Event *event);

// A step ended, as the user marks it. Any thread.
void keel_engine_step(keel_engine_t *engine);

// What is stored of an executable that came out of the store: what it serializes itself would load
// and then fail. It lives until keel_stored_release, whatever becomes of the executable. NULL where
// it did not come from there.
typedef struct keel_stored_t keel_stored_t;
keel_stored_t *keel_engine_stored(keel_engine_t *engine, const PJRT_Executable *executable,
                                  keel_payload_t *out);
void keel_stored_release(keel_stored_t *stored);

#endif // KEEL_ENGINE_ENGINE_H_
