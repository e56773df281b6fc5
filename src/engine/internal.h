// What the files of the engine share.
#ifndef KEEL_ENGINE_INTERNAL_H_
#define KEEL_ENGINE_INTERNAL_H_

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "engine/payload.h"
#include "explain/explain.h"
#include "history/history.h"
#include "journal/journal.h"
#include "key/key.h"
#include "store/store.h"

// ---- executables.c -----------------------------------------------------------------------------

struct flow_site_t;
struct flow_piece_t;

// What flow.c knows of a program; under its lock, but for what is atomic.
typedef struct flow_program_t {
    _Atomic(struct flow_site_t *) asked; // the line that asked for it; NULL: unknown
    struct flow_piece_t *pieces;
    uint64_t forced_at; // the program's count when a read last forced it
} flow_program_t;

// Executions of one program (by the digest of its bytes), over all its executables. Never freed.
typedef struct counter_t {
    keel_digest_t program;
    _Atomic uint64_t count;
    uint64_t reported; // under the table's lock
    flow_program_t flow;
    struct counter_t *next;
} counter_t;

enum { EXECUTABLE_SLOTS = 1 << 14, EXECUTABLE_PROBES = 64 };

// Loaded executables by pointer. Looked up without a lock by every execution; changed under one.
// A slot that was emptied holds the pointer 1, so that a search goes on past it.
typedef struct executable_slot_t {
    _Atomic uintptr_t loaded;
    _Atomic(counter_t *) counter;
    _Atomic(keel_gang_t *) gang; // that it is executed in; NULL for nearly all
    keel_gang_t *joined;         // until it is destroyed; under the lock
    keel_stored_t *stored;       // under the lock; NULL where it was compiled here
} executable_slot_t;

// The bytes that an executable was loaded from, shared by the loaded executable, what the client
// took from it, and what it serialized.
struct keel_stored_t {
    uint8_t *data;
    keel_payload_t payload; // within data
    atomic_uint references;
};

typedef struct taken_t {
    const PJRT_Executable *executable;
    keel_stored_t *stored;
    struct taken_t *next;
} taken_t;

typedef struct executables_t {
    pthread_mutex_t lock;
    executable_slot_t *slots;
    counter_t *counters;
    keel_map_t counter_of; // program digest -> counter_t *
    taken_t *taken;
    keel_gang_t *gangs;      // under the lock
    _Atomic uint64_t others; // executions of executables that are in no slot
} executables_t;

keel_status_t executables_initialize(executables_t *table) KEEL_MUST_CHECK;
// While nothing is in it.
void executables_deinitialize(executables_t *table);
// Takes over `data` (from keel_alloc; NULL where it was compiled), also on failure.
keel_status_t executables_add(executables_t *table, const PJRT_LoadedExecutable *loaded,
                              const keel_digest_t *program, uint8_t *data,
                              size_t size) KEEL_MUST_CHECK;
// NULL where the program has no executable.
counter_t *executables_counter(executables_t *table, const keel_digest_t *program);
// Makes an executable that was added one of its key's gang.
struct request_t;
keel_status_t executables_join(executables_t *table, const struct request_t *request,
                               const PJRT_LoadedExecutable *loaded) KEEL_MUST_CHECK;
// Around a fork: a child must not find the lock held by a thread that it does not have.
void executables_lock(executables_t *table);
void executables_unlock(executables_t *table);
// What was executed since the last call; the caller frees out->data with keel_free.
keel_status_t executables_collect(executables_t *table, keel_journal_counts_t *out,
                                  uint64_t *out_total) KEEL_MUST_CHECK;

// ---- gang.c ------------------------------------------------------------------------------------

// Under the table's lock. The gang lives until its last member was destroyed.
keel_status_t gang_join(executables_t *table, const struct request_t *request,
                        keel_gang_t **out) KEEL_MUST_CHECK;
// The client destroys `loaded`; `was_active`: gang_delete() was not called for it, or said no.
// False where the others still need it; *out_leader: what the client has destroyed before and
// nobody needs any more, or NULL.
bool gang_leave(executables_t *table, keel_gang_t *gang, const PJRT_LoadedExecutable *loaded,
                bool was_active, PJRT_LoadedExecutable **out_leader);
// The client deletes it. False where the others still need it. Else it is executed by itself from
// now on, to be refused.
bool gang_delete(executables_t *table, keel_gang_t *gang, PJRT_LoadedExecutable *loaded);
bool gang_is_deleted(const keel_gang_t *gang, const PJRT_LoadedExecutable *loaded);
// Says once that devices wait for others which do not come.
void gang_watch(keel_engine_t *engine);

// ---- release.c ---------------------------------------------------------------------------------

typedef struct release_t release_t;

keel_status_t release_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Before it began. NULL is allowed.
void release_destroy(release_t *release);
// From now on buffers are destroyed behind the client's back.
void release_begin(keel_engine_t *engine);
// Waits until none is left, or the time is up.
void release_drain(keel_engine_t *engine, double seconds);

// ---- transfers.c -------------------------------------------------------------------------------

enum { TRANSFERS_AWAITED = 64 };

typedef struct transfer_counter_t {
    _Atomic uint64_t count, bytes, nanoseconds;
} transfer_counter_t;

struct transfers_t;

// A read whose data are not there yet.
typedef struct awaited_read_t {
    struct transfers_t *transfers;
    keel_engine_t *engine;
    keel_reading_t reading;
} awaited_read_t;

typedef struct transfers_t {
    transfer_counter_t to_device, from_device;
    _Atomic uint64_t steps;
    _Atomic uint64_t free; // a bit for each of `awaited`
    awaited_read_t awaited[TRANSFERS_AWAITED];
} transfers_t;

void transfers_initialize(transfers_t *transfers);

typedef struct transfer_count_t {
    uint64_t count, bytes;
    // To the device: inside the plugin's call. From it: until the data are there, or, where more
    // than TRANSFERS_AWAITED are on their way or nobody tells, inside the call. What overlaps
    // counts each for itself.
    uint64_t nanoseconds;
} transfer_count_t;

// Of this process so far.
typedef struct transfers_totals_t {
    transfer_count_t to_device, from_device;
    uint64_t steps; // that were marked
} transfers_totals_t;
transfer_count_t transfer_counter_load(const transfer_counter_t *counter);
// Any thread, at any time.
void transfers_totals(const keel_engine_t *engine, transfers_totals_t *out);

// ---- flow.c ------------------------------------------------------------------------------------

enum {
    FLOW_ARGUMENTS = 4096, // of one execution; of one that has more nothing is told
    FLOW_PENDING = 8,      // executions that a read forced, in one step, and that are followed
    FLOW_AGE = 64,         // executions behind it, after which nothing goes on with one
    FLOW_MADE = 256,       // buffers made from data of the host; of older ones nothing is known
    FLOW_ROUND = 32,
    FLOW_CONTEXTS = 512,
    FLOW_SAMPLES = 8, // executions of a program whose arguments are followed
};

// A line that reads from the device, or that asked for a program. Never freed.
typedef struct flow_site_t {
    keel_place_t place;
    transfer_counter_t reads;
    transfer_count_t reported; // under the flow's lock
    struct flow_site_t *next;
} flow_site_t;

// A program that is executed because a line of the host reads. Never freed.
typedef struct flow_piece_t {
    counter_t *program;
    flow_site_t *site;
    uint64_t forced;       // executions
    uint64_t sampled;      // of those: whose buffers were followed
    uint64_t shared;       // of these: whose step went on with them
    uint64_t in_step;      // programs of the last step that it was cut out of
    const counter_t *rest; // what the step went on with
    uint64_t forced_reported, sampled_reported;
    struct flow_piece_t *next;
} flow_piece_t;

// The buffers of one execution.
typedef struct flow_sample_t {
    counter_t *program;     // NULL: nothing
    flow_piece_t *piece;    // NULL: it was not forced
    const void **arguments; // sorted
    size_t count;
    const void **telling; // those of them that tell which data it works on; sorted
    size_t telling_count;
    const void *result; // that was read
    uint64_t at;        // flow.executions then
    uint64_t made;      // flow.made_count then
    uint64_t begun;     // that when its step began
    bool is_fresh;      // it works on data that came in its step
    bool lost;          // one of the arguments is gone, and its address another buffer's
} flow_sample_t;

// Reads that were alike so far: the same one behind an execution of the same program.
typedef struct flow_context_t {
    const counter_t *program;
    uint64_t bytes, place;
    flow_site_t *site;
    uint64_t agreed, uses;
} flow_context_t;

typedef struct flow_t {
    _Atomic(counter_t *) last;   // what was executed last
    _Atomic uint64_t executions; // of all programs; less where several threads execute at once
    atomic_bool follows;         // an execution's arguments are of interest
    _Atomic uint64_t made_count; // buffers made from data of the host
    _Atomic uint64_t made_last;  // that at the last execution
    _Atomic uint64_t made_begun; // and at the one before it
    _Atomic uintptr_t made[FLOW_MADE];

    pthread_mutex_t lock; // of what follows; never held while the stack is read
    flow_site_t *sites;
    keel_map_t by_line; // "train.py:8" -> flow_site_t *
    keel_arena_t texts;

    bool stepped;          // a step has ended
    flow_sample_t current; // the last execution, while it is of interest
    flow_sample_t pending[FLOW_PENDING];
    size_t pending_count;
    // Executions that reads forced, one after the other, with no other one in between.
    flow_piece_t *round[FLOW_ROUND];
    size_t round_count;
    uint64_t round_end; // flow.executions at the last of them
    uint64_t cut_steps, pieces, cut_steps_reported, pieces_reported;

    flow_context_t *contexts;
    uint64_t read_behind, reads_behind; // reads since the execution of that number
    uint64_t started, stack_nanoseconds;
    uint64_t steps_reported;
    transfers_totals_t totals_reported;
} flow_t;

keel_status_t flow_initialize(flow_t *flow) KEEL_MUST_CHECK;
// While nobody uses it.
void flow_deinitialize(flow_t *flow);
// The program was asked for at this place, by a client that compiles what it recorded when a result
// is wanted.
void flow_asked(keel_engine_t *engine, const keel_digest_t *program, const keel_place_t *place);
// An execution whose arguments are of interest: one of the first of its program, or flow->follows.
// `begun`: how many buffers were made before the execution before it.
void flow_follow(keel_engine_t *engine, counter_t *program, uint64_t before, uint64_t begun,
                 const PJRT_LoadedExecutable_Execute_Args *args);
// The client made a buffer from data of the host.
void flow_made(keel_engine_t *engine, const PJRT_Buffer *buffer);
// The line that reads so much, now, on the client's thread, which holds no lock. NULL: not known.
flow_site_t *flow_read(keel_engine_t *engine, uint64_t bytes);
// That line (NULL is allowed) reads the buffer.
void flow_note(keel_engine_t *engine, flow_site_t *site, const PJRT_Buffer *buffer);
// A line; NULL where there is no memory, or more lines than anyone would read about.
flow_site_t *flow_site(keel_engine_t *engine, const keel_place_t *place);
// Nothing more will be executed.
void flow_end(keel_engine_t *engine);
// Writes what is new since the last time.
void flow_journal_steps(keel_engine_t *engine);
void flow_journal(keel_engine_t *engine);

// ---- progress.c --------------------------------------------------------------------------------

// A compile that is under way, in the client's own frame.
typedef struct compiling_t {
    const char *name; // of the module
    uint64_t ops, bytes;
    uint64_t started;
    struct compiling_t *next; // older
} compiling_t;

typedef struct progress_t {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    compiling_t *newest;
    bool started; // the thread that shows them
    bool idle;    // it waits for a compile, not for a time
    bool shown;
} progress_t;

keel_status_t progress_initialize(progress_t *progress) KEEL_MUST_CHECK;
void progress_deinitialize(progress_t *progress);
// Around the plugin's Compile. On a terminal a line tells of it once it takes long.
void progress_begin(keel_engine_t *engine, compiling_t *compiling);
void progress_end(keel_engine_t *engine, compiling_t *compiling);

// ---- engine.c ----------------------------------------------------------------------------------

typedef struct client_t {
    PJRT_Client *client;
    keel_key_t backend; // the components that are the same for all programs
    uint32_t process_count;
    bool is_cpu;
    bool gates_replicas; // see portable.c
    struct client_t *next;
} client_t;

struct keel_engine_t {
    keel_settings_t settings;
    const keel_plugin_t *plugin;
    const PJRT_Api *api;
    pid_t pid; // a forked child has no publisher and goes straight to the plugin
    atomic_bool ended;
    atomic_bool bundled; // see bundle.c
    keel_digest_t plugin_build;
    keel_journal_t *journal; // NULL where there is none
    keel_history_t *history; // likewise; NULL: nothing is explained
    keel_tier_t memory, disk;
    bool looks_up, stores;

    pthread_mutex_t lock; // of what follows
    client_t *clients;
    bool had_client;
    keel_map_t names; // functions (module names and where they come from): how many keys each had;
                      // and functions with a key: how often each was asked for

    executables_t executables;
    transfers_t transfers;
    flow_t flow;
    progress_t progress;
    struct publisher_t *publisher;
    struct release_t *release;
    atomic_bool releases;      // see release.c
    struct figures_t *figures; // NULL where there is no journal
    struct memory_t *memory_use;
    struct host_ops_t *host_ops;
    struct prefetch_t *prefetch; // NULL where it is off
    char *script;                // as the history names it; NULL: unknown
};

const char *engine_cache_dir(const keel_engine_t *engine);
// Starts a thread that takes none of the client's signals, and lets go of it. False where it
// cannot.
bool engine_start_thread(void *(*body)(void *), void *context);
// A place as the journal has it.
keel_journal_site_t engine_site(const keel_place_t *place);
// Says it once on stderr and writes it to the journal. Takes the status.
void engine_fell_through(keel_engine_t *engine, const char *what,
                         const keel_journal_subject_t *subject, keel_status_t status);

// ---- explain.c ---------------------------------------------------------------------------------

enum { RETRACES_EXPLAINED = 16 }; // of one function under one key

typedef enum inquiry_kind {
    INQUIRY_NOTE, // it was loaded as a warm start does: only kept in mind
    INQUIRY_COMPILE,
    INQUIRY_LOAD, // that would have been a recompile
    INQUIRY_RETRACE,
} inquiry_kind_t;

// A program that the client asked for and has: what to find out about it.
typedef struct inquiry_t {
    inquiry_kind_t kind;
    PJRT_Client *client;
    keel_arena_t arena; // of all text here, and of the stack; handed over
    keel_key_t key;     // handed over
    keel_digest_t program;
    const char *name;
    keel_site_t site;
    keel_sketch_t sketch;
    bool recompile;
    double seconds;               // in the plugin
    double compile_seconds;       // what compiling it takes, now or when it was stored
    const char *miss, *miss_note; // why it was compiled: "absent", and that in a sentence
    keel_stack_t stack;
    double stack_seconds;
    uint64_t sent; // buffers that the host made since the last execution but one
} inquiry_t;

// Reads the stack into the inquiry, its text into `arena`. On the client's thread, which holds no
// lock: Python may have to wait for its own.
void explain_capture(keel_engine_t *engine, keel_arena_t *arena, inquiry_t *inquiry);
// Puts the line that asked in the place of the program's own, where a decorator stands between.
void explain_settle_site(const keel_stack_t *stack, const char *module, keel_site_t *site);
// For a client that compiles whatever was recorded when a result was asked for: reads the stack,
// and makes the line that asked the site. Without a stack the site stays.
void explain_ask(keel_engine_t *engine, keel_arena_t *arena, inquiry_t *inquiry, keel_site_t *site);
// The frame that asked, and who called it. The stack has one at least.
keel_place_t explain_top(const keel_stack_t *stack);
// "the cache has no such entry: ..."
const char *explain_miss(keel_miss_t miss);
// On the publisher's thread. A failure is written to the journal.
void explain_run(keel_engine_t *engine, inquiry_t *inquiry);
// Says it in the journal. Takes the status.
void explain_failed(keel_engine_t *engine, const inquiry_t *inquiry, keel_status_t status);
void explain_deinitialize(inquiry_t *inquiry);

// ---- request.c ---------------------------------------------------------------------------------

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
    bool recompile;
    uint64_t asked_before; // how often this function for this key
    uint64_t started;
    uint64_t in_plugin;        // nanoseconds
    keel_bytes_t sent_options; // the client's, while args has others
    uint64_t replicas;         // that must run it together; 0: any device by itself
    bool is_read, handed_out;
    keel_payload_t answer; // has_memory: what the program needs, of which nothing is written yet
    inquiry_t inquiry;     // filled in on the way, handed over at the end
} request_t;

// Reads the program and makes its key. To be ended also on failure.
keel_status_t request_begin(keel_engine_t *engine, PJRT_Client_Compile_Args *args,
                            request_t *request) KEEL_MUST_CHECK;
void request_end(request_t *request);

// ---- portable.c --------------------------------------------------------------------------------

// Does this plugin never end the execution, on one device, of a program for several replicas?
bool portable_is_needed(const char *platform, const PJRT_Api *api);
// How many replicas a program is compiled for, where that is all that is to become of it: one
// partition, one process, not portable. Else, or where the options are not understood, 0.
uint64_t portable_replicas(keel_bytes_t options);
// An operation that may do something else on each replica; "" where there is none.
keel_str_t portable_obstacle(const keel_program_t *program);
// Options for which portable_replicas is not 0, for one replica on any device.
keel_status_t portable_options(keel_bytes_t options, keel_buffer_t *out) KEEL_MUST_CHECK;
// Gives the plugin such options in place of the client's, in the request's arena, where that is
// needed and right; takes them out again.
keel_status_t portable_apply(request_t *request, const keel_program_t *program) KEEL_MUST_CHECK;
void portable_restore(request_t *request);

// ---- bundle.c ----------------------------------------------------------------------------------

typedef struct bundling_t bundling_t;

// Tells, once a process, what it hangs on; says it where the versions are none that Keel was tried
// with. On the thread that made the client.
void bundling_begin(keel_engine_t *engine, PJRT_Client *client);
// On the publisher's thread. A failure is written to the journal.
void bundling_run(keel_engine_t *engine, bundling_t *bundling);
void bundling_destroy(bundling_t *bundling);

// ---- publish.c ---------------------------------------------------------------------------------

typedef struct publication_t {
    PJRT_Client *client;
    uint8_t *payload; // serialized; handed over, from keel_alloc
    size_t payload_size;
    const keel_key_t *key;
    const keel_digest_t *program;
    const char *name;
    double compile_seconds;
    keel_claim_t claim; // handed over
} publication_t;

keel_status_t publisher_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Before anything was queued. NULL is allowed.
void publisher_destroy(struct publisher_t *publisher);
// Queues an executable that was just compiled. The claim is let go of in any case.
void publisher_publish(keel_engine_t *engine, const publication_t *publication);
// Says that a program is not stored, and why. Takes the status.
void publisher_failed(keel_engine_t *engine, const char *step, const keel_key_t *key,
                      const char *name, keel_status_t status);
// Queues a program's bytes (copied) for the journal.
void publisher_keep_program(keel_engine_t *engine, const keel_digest_t *program, const char *format,
                            keel_bytes_t bytes);
// Queues a bundle, which is taken over where this is well.
keel_status_t publisher_bundle(keel_engine_t *engine, bundling_t *bundling,
                               PJRT_Client *client) KEEL_MUST_CHECK;
// Queues an inquiry, which is taken over.
void publisher_explain(keel_engine_t *engine, inquiry_t *inquiry);
// Queues what a program needs for the journal.
void publisher_keep_memory(keel_engine_t *engine, const keel_journal_subject_t *subject,
                           const keel_program_memory_t *memory);
// Waits until nothing of the client (NULL: nothing at all) is queued or in work.
void publisher_drain(keel_engine_t *engine, const PJRT_Client *client);

// ---- figures.c ---------------------------------------------------------------------------------

typedef struct figures_t figures_t;

// After the journal was opened.
keel_status_t figures_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// NULL is allowed.
void figures_destroy(figures_t *figures);
// Writes the run's files of figures where these moved. A failure is said once, and ends them.
void figures_update(keel_engine_t *engine);

// ---- memory.c ----------------------------------------------------------------------------------

typedef struct memory_t memory_t;

keel_status_t memory_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// While nothing is watched. NULL is allowed.
void memory_destroy(memory_t *memory);
// Fills in what an execution needs, where the plugin tells.
void memory_ask(keel_engine_t *engine, PJRT_LoadedExecutable *loaded, keel_payload_t *out);
void memory_write(keel_engine_t *engine, const keel_journal_subject_t *subject,
                  const keel_program_memory_t *memory);

// From now on the memory of the client's devices is looked at.
void memory_watch(keel_engine_t *engine, PJRT_Client *client, const char *platform);
// Looks, and writes to the journal what moved.
void memory_sample(keel_engine_t *engine);
// Looks for the last time at the devices of a client that is about to be destroyed (NULL: of all).
void memory_forget(keel_engine_t *engine, PJRT_Client *client);

// ---- load.c ------------------------------------------------------------------------------------

// An executable, and the entry that it was loaded from.
typedef struct loaded_entry_t {
    PJRT_LoadedExecutable *executable;
    keel_entry_t entry;
    keel_payload_t answer; // what the program needs, where the entry tells
    uint64_t nanoseconds;  // in the plugin, also where the load failed
} loaded_entry_t;

// False where there is no executable; what is wrong with the entry is written to the journal, and
// the entry put aside. *out is then empty but for `nanoseconds`.
bool load_entry(keel_engine_t *engine, PJRT_Client *client, const keel_tier_t *tier,
                const keel_digest_t *key, loaded_entry_t *out, keel_miss_t *out_miss);
// The same from the disk for a client that has not asked yet. What the plugin refuses now it may
// take then (a custom call whose target is not registered yet): it is as if there were no entry.
bool load_entry_ahead(keel_engine_t *engine, PJRT_Client *client, const keel_digest_t *key,
                      loaded_entry_t *out, keel_miss_t *out_miss);
// One that nobody has.
void loaded_entry_destroy(keel_engine_t *engine, loaded_entry_t *loaded);

// ---- prefetch.c --------------------------------------------------------------------------------

enum { PREFETCH_PATIENCE = 300 }; // seconds that an executable waits for the client to ask

typedef struct prefetch_t prefetch_t;

keel_status_t prefetch_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Before it began. NULL is allowed.
void prefetch_destroy(prefetch_t *prefetch);
// The process's first client was made: loads what the script asked for last time.
void prefetch_begin(keel_engine_t *engine, const client_t *client);
// Ends that, and waits until nothing of the client (NULL: of any) is in use for it.
void prefetch_stop(keel_engine_t *engine, const PJRT_Client *client);

typedef struct prefetched_t {
    loaded_entry_t loaded;
    uint64_t waited;  // nanoseconds
    keel_miss_t miss; // why a planned program did not load; else KEEL_MISS_ABSENT
} prefetched_t;

// The client asks for this key. False where it is to be loaded, or compiled; *out has no `loaded`
// then.
bool prefetch_take(keel_engine_t *engine, const PJRT_Client *client, const keel_digest_t *key,
                   prefetched_t *out);
// The client has an executable of this key, which may be stored.
void prefetch_asked(keel_engine_t *engine, const keel_key_t *key);
// Writes what was asked for where that is news; `ended`: nothing more will be.
void prefetch_keep_plan(keel_engine_t *engine, bool ended);

// ---- host_ops.c --------------------------------------------------------------------------------

typedef struct host_ops_t host_ops_t;

keel_status_t host_ops_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// NULL is allowed.
void host_ops_destroy(host_ops_t *host_ops);
// Looks at PyTorch/XLA's counters, at most once a second. On the client's thread, which holds no
// lock.
void host_ops_look(keel_engine_t *engine);

#endif // KEEL_ENGINE_INTERNAL_H_
