// engine: the way of one program, from the client's Compile to an executable.
//
//   read -> key -> the gate: may the client have it now?
//               -> loaded ahead -> the tiers        hit: deserialize-and-load, done
//                                   miss: one process compiles, the others wait for it
//   compile (the plugin) -> the client has it; in the background: serialize, load it back, store
//   journal: one line of what happened; in the background: what `keel` needs to explain it
//
// Only this room knows all the steps. A step that fails is skipped, reported once and written to
// the journal; the client always gets what the plugin would have given it, unless the gate refuses.
//
// Files, from the top:
//   lifetime.c      begin and end
//   compile.c       the way above
//   request.c       read and key
//   functions.c     who asked for which program, and how often
//   clients.c       the clients
//   portable.c      rewritten options
//   fusions.c       options for a plugin that is older than its client
//   load.c          from an entry to an executable
//   elsewhere.c     executables that the client loads by itself
//   handed.c        which programs the bytes are of that clients serialized
//   tiers.c         the tiers that have entries
//   prefetch.c      the same before the client asks
//   progress.c      the line on a terminal
//   background.c    the background thread
//   publish.c       storing
//   ask.c           the facts about a program that was asked for
//   handlers.c      the functions that programs call by name
//   once.c          what is written only once
//   bundling.c      what the process depends on
//   memory.c        what programs need and devices have in use
//   executables.c   executables by pointer
//   gang.c          one executable for all replica threads
//   release.c       their buffers
//   fork.c          the locks that a forked child needs
//   transfers.c     transfers to and from the device
//   steps.c         steps, and the programs of each
//   sites.c         the lines of the host that read
//   sent.c          the lines that send data to the device
//   flow.c          which reads split a step
//   pieces.c        the pieces of such steps
//   flow_journal.c  both, for the journal
//   host_ops.c      what PyTorch/XLA computed on the host
//   counters.c      executions and marked steps
//   transfer_counter.c  transfers of a kind
//   order.c         the order of executions
//   pace.c          when figures are written
//   core.h          the engine itself
//   payload.c       what is stored
//   rehearsal.c     programs whose device is not there
//   verdict.c       programs that the gate does not let pass
//   members.c       the processes that execute a program together
//   topologies.c    topologies that are compiled for without a client
//
// Files do not depend on each other in a cycle. A part of the engine is one file, which alone knows
// what the part holds and takes its lock; any thread may call it, unless its header says otherwise.
//
// Ownership: the engine borrows the plugin; it owns everything it made. Executables belong to the
// client, as they would without Keel; the engine knows them only by pointer.
// A process may have several engines, each with its own settings, plugin, tiers and journal. They
// share nothing but what is the process's own: standard error, XLA's flags, the interpreter, and
// the numbers of clients. Threads: any function from any thread. One background thread publishes
// and records, one loads ahead; on a terminal a third shows long compiles, and with replica threads
// a fourth releases buffers.
#ifndef KEEL_ENGINE_ENGINE_H_
#define KEEL_ENGINE_ENGINE_H_

#include "engine/payload.h"
#include "host/host.h"
#include "journal/journal.h"
#include "pjrt/pjrt.h"
#include "rehearse/rehearse.h"
#include "settings/settings.h"

typedef struct keel_engine_t keel_engine_t;

// Takes over `settings` (also on failure). The mode must not be off. Without `records`, there is no
// journal.
keel_status_t keel_engine_create(keel_settings_t *settings, const keel_plugin_t *plugin,
                                 bool records, keel_engine_t **out) KEEL_MUST_CHECK;

// What is known about a program that the client asks for, before it is loaded or compiled.
typedef struct keel_engine_ask_t {
    const char *name; // of the module
    const keel_digest_t *program;
    keel_bytes_t code;  // without constants beside it, see keel_engine_ask_code
    const char *format; // "mlir", "hlo"
    const keel_key_t *key;
    const keel_site_t *site; // in the user's code
    bool recompile;          // this function had another program before
    bool is_new;             // no function of the process had this one
    bool is_eager;           // an operation that runs on its own, outside jit
    const char *elsewhere; // who loaded it, if Keel did not hand out its bytes: then `code` is the
                           // optimized program; otherwise NULL
    const char *unkept;    // why its executable is not stored; NULL: it may be
    bool is_read;          // `code` is a program that Keel reads
    uint32_t process;      // which one this is of the processes that the client's devices belong to
    struct request_t *request;
} keel_engine_ask_t;

// The user's names for the program's arguments (keel_names_read); NULL if they are not known. Text
// lives as long as the ask. Takes the GIL.
const char *keel_engine_ask_names(const keel_engine_ask_t *ask);

// `code` with its constants. Lives as long as the ask.
keel_status_t keel_engine_ask_code(const keel_engine_ask_t *ask, keel_bytes_t *out) KEEL_MUST_CHECK;

// The processes whose devices execute it together, ascending; none if the client has no others, or
// if that is not known. Lives as long as the ask.
keel_status_t keel_engine_ask_members(const keel_engine_ask_t *ask, const uint32_t **out,
                                      size_t *out_count) KEEL_MUST_CHECK;

// What happens to a program that the gate does not let pass. word
#define KEEL_VERDICTS(X)                                                                           \
    X(REFUSED, "refused")   /* the client gets an error; nothing is loaded or compiled */          \
    X(STOPPED, "stopped")   /* the same; the status says all that is to be said */                 \
    X(WARNED, "warned")     /* a line on stderr, and the client gets the program */                \
    X(RECORDED, "recorded") /* the same without the line */

typedef enum keel_verdict {
#define KEEL_VERDICT_ENUM(name, word) KEEL_VERDICT_##name,
    KEEL_VERDICTS(KEEL_VERDICT_ENUM)
#undef KEEL_VERDICT_ENUM
} keel_verdict_t;

// Decides whether the client may have a program now. NULL lets it pass; a status says why not, and
// *out, which is KEEL_VERDICT_REFUSED at first, what happens then. All verdicts are written to the
// journal. The error of a refusal is the status and what `keel why` says about the program, if that
// is known within a few seconds. About a program whose key could not be made, `unseen` decides.
// Called on the client's threads, several at once; the engine holds no lock.
typedef struct keel_engine_gate_t {
    keel_status_t (*check)(void *context, const keel_engine_ask_t *ask, keel_verdict_t *out);
    void *context;
    // The same, with why it could not be looked at. NULL: it passes.
    keel_status_t (*unseen)(void *context, const char *why, keel_verdict_t *out);
} keel_engine_gate_t;
// They live as long as the engine.
const keel_settings_t *keel_engine_settings(const keel_engine_t *engine);
// The folder of the process's run, for files that its processes share. "" without a journal. The
// caller frees it.
keel_status_t keel_engine_run_folder(const keel_engine_t *engine, char **out) KEEL_MUST_CHECK;

// Only before the first client.
void keel_engine_set_gate(keel_engine_t *engine, const keel_engine_gate_t *gate);

// The plugin's table is that of a rehearsal (rehearse/rehearse.h). Only before the first client;
// `target` stays.
keel_status_t keel_engine_rehearse(keel_engine_t *engine, const keel_target_t *target,
                                   keel_rehearse_compiles_t compiles, keel_rehearse_fill_t fill,
                                   keel_writes_t writes) KEEL_MUST_CHECK;

// Waits until everything that was compiled is stored, and writes the journal's last line. Call it
// when the process ends. Later compiles go straight to the plugin. The engine is never freed:
// client threads may still hold it. If the plugin or a disk hangs, it stops waiting and says so.
void keel_engine_end(keel_engine_t *engine);

// A client was made with these options: reads what its backend is.
void keel_engine_client_created(keel_engine_t *engine, PJRT_Client *client,
                                const PJRT_NamedValue *options, size_t option_count);
// Call before a client is destroyed: waits until no background work uses it. False if some still
// does, because the plugin or a disk hangs: then the client must not be destroyed.
bool keel_engine_client_closing(keel_engine_t *engine, PJRT_Client *client);

// Notes what torch.compile traced (keel_traced_note), unless no stack is wanted. 0: it is not
// noted.
uint64_t keel_engine_note_traced(keel_engine_t *engine, const keel_traced_t *traced);
// A bug of the client was fixed, or could not be. Writes one event to the journal.
void keel_engine_note_fix(keel_engine_t *engine, const keel_journal_fix_t *fix);
// Writes one event: so many Python modules are compiled at each start. `size`: bytes of source.
void keel_engine_note_bytecode(keel_engine_t *engine, uint64_t modules, uint64_t size,
                               const char *why);

// In a rehearsal: called when a line first reads a value that no device computed, with a number for
// that, on the thread that reads, which holds no lock. NULL: nothing is called. Any thread, even
// without an engine.
typedef void keel_unreal_note_t(uint64_t read);
void keel_engine_when_unreal(keel_unreal_note_t *note);
// A loop ended after such a read. Writes one event to the journal, which says whose read it was; a
// number that was not given is skipped.
void keel_engine_note_left(keel_engine_t *engine, uint64_t read, const keel_journal_left_t *event);

// The number of replicas that the program is compiled for, if this plugin finishes its executions
// only once all replicas have begun one; otherwise 0. Needs no engine.
uint64_t keel_engine_gathered_replicas(const PJRT_Api *api, const PJRT_Client_Compile_Args *args);

// The client's Compile. The error, if any, is the plugin's, or Keel's own (pjrt/error.h) if the
// gate refuses the program.
PJRT_Error *keel_engine_compile(keel_engine_t *engine, PJRT_Client_Compile_Args *args);

// What the client's side spent on this thread to make the program that it asks for next: the client
// waits for that as well, so it counts as Keel's own time.
void keel_engine_spent(uint64_t nanoseconds);

// Constants that the client's side keeps beside the program that this thread compiles next
// (read/read.h), in place of their bytes in it. `whole` gives the program with them, for those who
// keep it. Everything stays valid until that call returns; the caller sets `count` to 0 after it.
typedef struct keel_engine_beside_t {
    const keel_bytes_t *constants;
    size_t count;
    keel_status_t (*whole)(keel_buffer_t *out);
} keel_engine_beside_t;
void keel_engine_beside(const keel_engine_beside_t *beside);

// The client's PJRT_Compile, for a topology without a client. A stored executable is one of the
// rehearsal's (rehearse/rehearse.h): no plugin can load it without devices.
PJRT_Error *keel_engine_compile_unloaded(keel_engine_t *engine, PJRT_Compile_Args *args);

// The client loads an executable by itself (PJRT_Executable_DeserializeAndLoad). The same; see
// elsewhere.c.
PJRT_Error *keel_engine_load(keel_engine_t *engine, PJRT_Executable_DeserializeAndLoad_Args *args);
// The client compiles or loads a program that could not be given to Keel: the journal has that, so
// the run is not wholly recorded. An error if the gate does not let it pass.
PJRT_Error *keel_engine_unseen(keel_engine_t *engine, const char *why);
// Whether Keel stores what the client asks for, so that a cache of the client's own has nothing to
// do, and the settings do not keep that cache.
bool keel_engine_replaces_cache(const keel_engine_t *engine);
// The client has these bytes of the executable (PJRT_Executable_Serialize): loading them is an ask
// for its program, in this process or another.
void keel_engine_serialized(keel_engine_t *engine, const PJRT_Executable *executable,
                            keel_bytes_t bytes);

// Executables whose executions on single devices go to one of them (see gang.c).
typedef struct keel_gang_t keel_gang_t;

// Counts one execution. Takes no lock and allocates nothing, except for the first few of a program.
// If it returns a gang, call the two functions below around the plugin's call.
keel_gang_t *keel_engine_executed(keel_engine_t *engine,
                                  const PJRT_LoadedExecutable_Execute_Args *args);

// The plugin has taken that execution, and what it gives is in the lists.
void keel_engine_gave(keel_engine_t *engine, const PJRT_LoadedExecutable_Execute_Args *args);
// The client is about to destroy the buffer. One relaxed load, if PyTorch/XLA's programs are not
// followed (makers.c).
void keel_engine_destroying(keel_engine_t *engine, const PJRT_Buffer *buffer);

// What the client passed.
typedef struct keel_gang_call_t {
    PJRT_LoadedExecutable *executable;
    PJRT_ExecuteOptions *options;
    _Alignas(max_align_t) unsigned char room[512]; // the plugin's options, while it executes
} keel_gang_call_t;

// keel_gang_begin puts the gang's executable and launch id into the arguments; keel_gang_end
// restores the client's. A failure goes to the client: it executes an executable that it deleted.
keel_status_t keel_gang_begin(keel_gang_t *gang, PJRT_LoadedExecutable_Execute_Args *args,
                              keel_gang_call_t *call) KEEL_MUST_CHECK;
void keel_gang_end(PJRT_LoadedExecutable_Execute_Args *args, const keel_gang_call_t *call);

// Whether buffers that the client destroys are to be handed over here (see release.c). One relaxed
// load.
bool keel_engine_releases(const keel_engine_t *engine);
// Takes the buffer. On false, the caller destroys it.
bool keel_engine_release(keel_engine_t *engine, PJRT_Buffer *buffer);

// The client took the executable of `loaded`; is about to destroy the one or the other. Destroy or
// delete a loaded one only if the answer is true. If keel_engine_executable_taken fails, do not
// hand out `executable`: it could not be serialized.
keel_status_t keel_engine_executable_taken(keel_engine_t *engine,
                                           const PJRT_LoadedExecutable *loaded,
                                           const PJRT_Executable *executable) KEEL_MUST_CHECK;
void keel_engine_executable_closing(keel_engine_t *engine, const PJRT_Executable *executable);
bool keel_engine_loaded_closing(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded);
bool keel_engine_loaded_deleting(keel_engine_t *engine, PJRT_LoadedExecutable *loaded);
// Whether the client deleted it, although the plugin does not know.
bool keel_engine_loaded_is_deleted(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded);

// `bytes` went to the device; the plugin's call took `nanoseconds`.
void keel_engine_sent(keel_engine_t *engine, uint64_t bytes, uint64_t nanoseconds);
// The buffer was made of an array of that type that went to the device. Call it on the client's
// thread: the line that sent it comes from the host's stack, as for a read.
void keel_engine_sent_array(keel_engine_t *engine, const PJRT_Buffer *buffer,
                            PJRT_Buffer_Type element, const int64_t *dims, size_t rank);

// A read from the device; call these around the plugin's call. `event` becomes ready when the data
// arrive; NULL: they are there. The reading line comes from the host's stack, at a cost of at most
// about a hundredth of the time.
typedef struct keel_reading_t {
    uint64_t started;
    struct site_t *site;
    keel_status_t refusal; // the client must not get it, but this; the caller takes it
} keel_reading_t;
keel_reading_t keel_engine_read_begins(keel_engine_t *engine, const PJRT_Buffer *buffer,
                                       uint64_t bytes);
void keel_engine_read_ends(keel_engine_t *engine, const keel_reading_t *reading, PJRT_Event *event);

// A step ended, as the user marks it. Any thread.
void keel_engine_step(keel_engine_t *engine);
// The user's code says that every program has been seen. Any thread.
void keel_engine_frozen(keel_engine_t *engine);

// How often the client executed the program, by the digest of its bytes. Any thread.
uint64_t keel_engine_executions(keel_engine_t *engine, const keel_digest_t *program);

// Steps and programs so far.
typedef struct keel_engine_steps_t {
    uint64_t ended; // as the user marks them; if none are marked, as steps.c counts them
    uint64_t warm;  // executions of a warm-up, which are not among these
    bool marked;
    bool by_operations; // nothing but operations outside jit was executed: maybe no step ended yet
    uint64_t programs;  // distinct ones that the client asked for, including refused ones
    uint64_t fresh;     // of those: new since the last step ended
    uint64_t settled;   // the step in which the last new one came, from 1; 0: none came
    // Distinct programs that were executed in the current step, and in the last one that ended. 0
    // if steps are not marked.
    uint64_t in_step, in_last;
} keel_engine_steps_t;
// Any thread, also in a gate, where the program that is asked for is counted already. Looks at each
// program once.
void keel_engine_steps(keel_engine_t *engine, keel_engine_steps_t *out);

// The stored bytes of an executable that came from the store: what it serializes to itself would
// load and then fail. They live until keel_stored_release, even if the executable is gone. NULL if
// it did not come from the store.
typedef struct keel_stored_t keel_stored_t;
keel_stored_t *keel_engine_stored(keel_engine_t *engine, const PJRT_Executable *executable,
                                  keel_payload_t *out);
void keel_stored_release(keel_stored_t *stored);
// Answers PJRT_Executable_OptimizedProgram, the size or the bytes, with the outline of the program
// (signature/signature.h), which is made for the first question and lives as long as the
// executable. False: it has none, or that failed; *program is as it was. Any thread.
bool keel_engine_outline(keel_engine_t *engine, PJRT_Executable *executable, PJRT_Program *program);

#endif // KEEL_ENGINE_ENGINE_H_
