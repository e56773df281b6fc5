// journal: what happened in a run, one JSON object per line, and each of its programs once.
//
//   run_dir/<run id>/journal.ndjson            one folder a run; several processes append to it
//   run_dir/<run id>/figures.json              what a list of runs shows of it (why/figures.h)
//   run_dir/<run id>/explained.ndjson          what `keel` worked out from it (analysis/analysis.h)
//   run_dir/programs/<digest>.<mlir|hlo>.zst   shared by all runs
//   run_dir/programs/<digest>.options.zst      compile options; likewise
//   run_dir/history/                           the programs of each script (history/history.h)
//
// docs/journal.md describes every event and its fields. Readers skip events and fields that they do
// not know, so both may be added.
//
// Writing is never fatal: an event that cannot be written is lost, which is said once on stderr,
// and the next one that can be written follows a `fallback` with the number of those lost. Each
// event is one write under a lock on the file, so lines of several processes do not mix, and a
// killed process loses at most the event it was writing.
//
// Ownership: events borrow all they point to for the length of the call.
// Threads: any thread may write events to one journal. Reading has no shared state.
#ifndef KEEL_JOURNAL_JOURNAL_H_
#define KEEL_JOURNAL_JOURNAL_H_

#include "base/base.h"
#include "host/host.h"
#include "key/key.h"

// ---- writing -----------------------------------------------------------------------------------

typedef struct keel_journal_t keel_journal_t;

enum { KEEL_RUN_ID_SIZE = 64 };

// "20261121-134502-0a51c3f2": the time (UTC), then a number that grows within the second and a
// random part, so ids sort by time.
void keel_journal_make_id(char out[KEEL_RUN_ID_SIZE]);
// Letters, digits, '.', '_' and '-', not starting with '.', and not "programs", "history",
// "sources" or "latest".
bool keel_journal_is_id(const char *text);

// Makes run_dir/<run id>. If `run_id` is NULL or not an id (KEEL_RUN_ID unset or unusable), makes a
// new one. On failure there is no journal; the functions below accept NULL and do nothing.
keel_status_t keel_journal_open(const char *run_dir, const char *run_id,
                                keel_journal_t **out) KEEL_MUST_CHECK;
void keel_journal_close(keel_journal_t *journal);
const char *keel_journal_id(const keel_journal_t *journal);

// Whether the program is kept already; then it counts as used. If not, keel_journal_program keeps
// it.
bool keel_journal_has_program(keel_journal_t *journal, const keel_digest_t *program,
                              const char *format);
// Keeps the bytes of a program (format "mlir" or "hlo"), or of compile options ("options"), unless
// they are already kept. It compresses and writes, so do not call it while a client waits.
void keel_journal_program(keel_journal_t *journal, const keel_digest_t *program, const char *format,
                          keel_bytes_t bytes);
// The same for a program whose digest is not that of its bytes, because it was asked for with
// constants beside it.
void keel_journal_whole_program(keel_journal_t *journal, const keel_digest_t *program,
                                const char *format, keel_bytes_t bytes);

// Any text or pointer below may be NULL; its field is then left out.

// One line of source.
typedef struct keel_journal_site_t {
    const char *file;
    uint32_t line; // from 1; 0: unknown
    const char *function;
    const char *call_file; // the call site of the outermost frame of user code
    uint32_t call_line;
    const char *library_file; // a library's line between it and the traced code
    uint32_t library_line;
    const char *application; // packages that count as the user's, "levanter,haliax"
    const char *script_file; // the line of the user's own that led to theirs
    uint32_t script_line;
} keel_journal_site_t;

// Executions of one program since the last such event. A program has a number in its process once a
// compile or load says so; a count that names it by that is an eighth as long as one by its digest.
typedef struct keel_journal_count_t {
    keel_digest_t program;
    uint64_t count;
    uint64_t number; // 0: no line has it
} keel_journal_count_t;

typedef struct keel_journal_counts_t {
    const keel_journal_count_t *data;
    size_t size;
} keel_journal_counts_t;

// Where more programs ran than a line has room for: the function whose executions are steps as far
// as the process knows.
typedef struct keel_journal_leading_t {
    const keel_digest_t *program; // one of its programs; NULL: none
    uint64_t executes;            // of all its programs, since the process began
} keel_journal_leading_t;

// The devices of a rehearsal, which are not there.
typedef struct keel_journal_target_t {
    const char *name; // "h200:8"; NULL: no rehearsal
    const char *platform, *kind;
    uint64_t devices, processes;
    uint64_t process;       // the number of this one
    uint64_t memory;        // bytes of a device; 0: unknown
    const char *compiles;   // "all", "new", "none"
    const char *values;     // what values read as that no device computed: "zeros", "ones", "nan"
    const char *assumed[4]; // what only the machine tells: "memory limit"; the rest NULL
} keel_journal_target_t;

// What a process is: written once, when its client is made.
typedef struct keel_journal_start_t {
    struct {
        const char *path, *name, *platform, *version;
        const keel_digest_t *build; // digest of its file
        int api_major, api_minor;
    } plugin;
    const char *mode, *cache_dir;
    const char *python; // "3.12.1", or the interpreter's path
    const char *script; // keel_host_script
    keel_journal_target_t target;
    uint64_t client;       // which client of the process, from 1
    double client_seconds; // that making it took; 0: unknown
    const keel_key_t *key; // the components that all its programs share
} keel_journal_start_t;

// What this process depends on: a bundle (bundle/bundle.h), as JSON without newlines.
typedef struct keel_journal_bundle_t {
    keel_str_t json;
    double seconds;        // what collecting it cost, in the background
    double client_seconds; // the part on the client's own thread
} keel_journal_bundle_t;

// The fields that compile, load, miss and uncacheable events share.
typedef struct keel_journal_subject_t {
    const keel_digest_t *program; // of its raw bytes
    const char *name;             // of the module: "jit_step"
    const keel_digest_t *key;     // NULL if it has none
} keel_journal_subject_t;

typedef struct keel_journal_compile_t {
    keel_journal_subject_t subject;
    double seconds;                         // inside the plugin's Compile
    double overhead_seconds;                // Keel's own, inside Compile
    double traced_seconds, lowered_seconds; // that the client took for it before; 0: unknown
    uint64_t ops;                           // operations of the program; 0: unknown
    uint64_t bytes;                         // of the program
    const char *format;                     // "mlir", "hlo"
    const keel_digest_t *options;           // of the client's compile options, with maps in order
    keel_journal_site_t site;
    uint64_t number;   // of the program, for counts that follow; 0: none
    bool recompile;    // this process compiled or loaded a module of that name under another key
    bool is_eager;     // an operation that ran on its own, outside any jitted function
    bool has_gradient; // it computes a gradient
    bool uncacheable;
    // In a rehearsal: "now", "later" (a `compiled` event follows), or "never". NULL otherwise.
    const char *rehearsed;
    bool is_guess;            // how its results are sharded is not known
    double partition_seconds; // of a compiler that was asked just that; 0: it was not
    uint64_t times;           // 1: a retrace that is not explained itself; otherwise 0
    keel_journal_counts_t executes;
    keel_journal_leading_t leading;
} keel_journal_compile_t;

// What the compiler of a rehearsal made of a program.
typedef struct keel_journal_compiled_t {
    keel_journal_subject_t subject;
    double seconds, cpu_seconds;
    uint64_t peak_memory;   // of the compiling process so far, in bytes
    uint64_t payload_bytes; // of the serialized executable
    bool failed;            // a `compile_error` follows
} keel_journal_compiled_t;

typedef struct keel_journal_load_t {
    keel_journal_subject_t subject;
    const char *tier;        // "memory", "disk"; "client": by itself, of bytes that Keel handed
                             // out; "elsewhere": of other bytes
    const char *by;          // who loaded it, if the client did by itself: "JAX's own cache"
    double seconds;          // that the client waited for the plugin's deserialize-and-load
    double ahead_seconds;    // the part before the client asked; 0 if it was not loaded ahead
    double overhead_seconds; // Keel's own, inside Compile
    double traced_seconds, lowered_seconds; // as above
    uint64_t ops, bytes;
    uint64_t payload_bytes; // of the serialized executable
    double compile_seconds; // what compiling it cost when it was stored
    const char *format;
    const keel_digest_t *options; // as above
    keel_journal_site_t site;
    uint64_t number;   // as above
    bool recompile;    // as above: would have been a recompile without the cache
    bool is_eager;     // as above
    bool has_gradient; // as above
    // Of several loads, if it is not 0: then all seconds are sums, and `step` waited for the last.
    uint64_t times, step;
    keel_journal_counts_t executes;
    keel_journal_leading_t leading;
} keel_journal_load_t;

// What a remote answered when it was asked for a program.
typedef struct keel_journal_remote_t {
    const char *remote; // as the setting names it; the tier of a load
    const keel_digest_t *key;
    const char *got; // "found", or a word of keel_miss_name
    const char *why; // it was not used; NULL: it was, or does not have it
    uint64_t bytes;  // that came
    double seconds;  // until it was there, or was known not to be
} keel_journal_remote_t;

// What was loaded before the client asked for it.
typedef struct keel_journal_prefetch_t {
    uint64_t planned; // programs that the script asked for last time
    uint64_t loaded, used;
    uint64_t bytes; // of the serialized executables that were loaded
    double seconds; // inside the plugin, in the background
} keel_journal_prefetch_t;

typedef struct keel_journal_miss_t {
    keel_journal_subject_t subject;
    const char *reason;    // "absent", "damaged", ... (keel_miss_name)
    const keel_key_t *key; // all components
} keel_journal_miss_t;

typedef struct keel_journal_uncacheable_t {
    keel_journal_subject_t subject;
    const char *reason;
    const char *target; // of the custom call; NULL or "" if the reason is another
} keel_journal_uncacheable_t;

typedef struct keel_journal_publish_t {
    const keel_digest_t *key;
    const char *name;
    uint64_t payload_bytes; // of the serialized executable
    bool is_proved;         // it was loaded back before
    double seconds;         // from the end of the compile until the entry was stored
} keel_journal_publish_t;

// How a program was asked for.
#define KEEL_ASK_KINDS(X)                                                                          \
    X(NOTE, "note")       /* loaded, as a warm start does */                                       \
    X(COMPILE, "compile") /* compiled */                                                           \
    X(LOAD, "load")       /* loaded, and would have been a recompile */                            \
    X(RETRACE, "retrace") /* the function had it before; compiled again if there is a miss */      \
    X(REFUSED, "refused") /* the client did not get it */

typedef enum keel_ask_kind {
#define KEEL_ASK_ENUM(name, word) KEEL_ASK_##name,
    KEEL_ASK_KINDS(KEEL_ASK_ENUM)
#undef KEEL_ASK_ENUM
        KEEL_ASK_COUNT,
} keel_ask_kind_t;
const char *keel_ask_word(keel_ask_kind_t kind);

// A program that the client now has, or was refused, with everything needed to explain why it asked
// for it (src/analysis). Written in the background, once the program is kept.
typedef struct keel_journal_ask_t {
    keel_journal_subject_t subject;
    keel_ask_kind_t kind;
    double seconds;         // inside the plugin
    double compile_seconds; // what compiling it takes, now or when it was stored
    bool recompile;         // as for a compile
    uint64_t step;          // that waits for it, as far as the process could tell, from 1
    uint64_t steady;        // whole steps before it since the last new program of another step
    keel_journal_site_t site;
    const char *origin;           // keel_site_t
    const char *elsewhere;        // who loaded it, if Keel did not hand out its bytes
    const char *miss, *miss_note; // why it was compiled: "absent", and a sentence about that
    uint64_t sent;                // buffers that the host made shortly before
    const keel_made_t *made;      // the lines that sent data since the last such event
    uint32_t made_count;
    uint64_t client;       // number of the process's client
    const keel_key_t *key; // written if it differs from `backend`, the start event's key
    const keel_key_t *backend;
    bool values[KEEL_COMPONENT_COUNT]; // texts to write: not yet written by the process
    const keel_stack_t *stack;
    double stack_seconds;
    const char *names; // keel_names_read
    const char *call;  // keel_call_read
} keel_journal_ask_t;

// What the process read in one of the user's source files (host/source.h).
// Where the process's Python looks for the user's modules: a line for each folder.
void keel_journal_folders(keel_journal_t *journal, const char *folders);
void keel_journal_source(keel_journal_t *journal, const char *file, const keel_digest_t *digest);

// A known fault of the client, and the fix for it (python/keel/fixes).
typedef struct keel_journal_fix_t {
    const char *name;      // "sharding-retrace"
    const char *state;     // "applied", "skipped"
    const char *label;     // "backend defect"
    const char *reference; // "pytorch/xla 9755"
    const char *client;    // "torch_xla 2.9.0"
    const char *why;       // the reason if skipped
} keel_journal_fix_t;

// What a program needs, in bytes on each device: written once per process, when the program was
// compiled or loaded.
typedef struct keel_journal_memory_t {
    keel_journal_subject_t subject;
    uint64_t arguments, outputs, aliased, temporaries, code;
    uint64_t host, peak; // 0: unknown
    uint64_t total;
} keel_journal_memory_t;

typedef struct keel_journal_device_memory_t {
    const char *device, *kind; // "TPU:18", "TPU v6 lite"
    uint64_t in_use;
    uint64_t peak, limit; // 0: unknown
} keel_journal_device_memory_t;

// An operation that PyTorch/XLA computed on the host, and how often since the last such event.
typedef struct keel_journal_host_op_t {
    const char *name; // "aten::nonzero"
    uint64_t times;
} keel_journal_host_op_t;

void keel_journal_memory(keel_journal_t *journal, const keel_journal_memory_t *event);
void keel_journal_device_memory(keel_journal_t *journal, const keel_journal_device_memory_t *event);
// The plugin does not report this: "programs" or "devices".
void keel_journal_memory_unknown(keel_journal_t *journal, const char *what, const char *message);
void keel_journal_host_ops(keel_journal_t *journal, const keel_journal_host_op_t *ops,
                           size_t count);

// In a rehearsal, the host read a value that no device computed.
typedef struct keel_journal_unreal_t {
    const char *maker; // the program that would have computed it: "jit_step"
    const char *into;  // the program that has it as a constant; NULL: the host alone read it
    keel_journal_site_t site;
    uint64_t count, refused; // since the last such event: reads done, and reads refused
} keel_journal_unreal_t;
void keel_journal_unreal(keel_journal_t *journal, const keel_journal_unreal_t *event);
// In a rehearsal, a loop of the client's ended after such a read.
typedef struct keel_journal_left_t {
    const char *maker;        // of what was read
    keel_journal_site_t site; // that read
    keel_journal_site_t loop;
    uint64_t round, rounds; // in which it ended, and how many it would have had; 0: unknown
    bool decides;           // what was read decides whether the loop goes on
    bool raised;            // it is no loop: an error there ended the script
} keel_journal_left_t;
void keel_journal_left(keel_journal_t *journal, const keel_journal_left_t *event);
// In a rehearsal, the client got an error instead of what it asked for.
typedef struct keel_journal_refused_t {
    const char *action; // "execution", "transfer", "client"
    const char *name;   // of the program; NULL: a transfer
    const char *message;
    keel_journal_site_t site;
    uint64_t count; // since the last such event
} keel_journal_refused_t;
void keel_journal_refused(keel_journal_t *journal, const keel_journal_refused_t *event);
// What the command of a rehearsal would have written, below a folder (its path ends with a slash)
// or in a file.
typedef struct keel_journal_written_group_t {
    const char *path;
    uint64_t files, bytes; // new or changed, and their sizes
    uint64_t removed;      // files that were there
} keel_journal_written_group_t;
enum { KEEL_JOURNAL_WRITTEN_GROUPS = 4 };
typedef struct keel_journal_written_t {
    uint64_t files, bytes, removed; // all
    keel_journal_written_group_t groups[KEEL_JOURNAL_WRITTEN_GROUPS];
    size_t group_count;
} keel_journal_written_t;
void keel_journal_written(keel_journal_t *journal, const keel_journal_written_t *event);
// In a rehearsal: the most bytes that were in use on one device when the program began. `adds`:
// what its results need beyond that. `spans`: devices of other processes have partitions of it.
void keel_journal_living(keel_journal_t *journal, const keel_digest_t *program, uint64_t bytes,
                         uint64_t adds, bool spans);

// What moved between host and device since the last such event.
typedef struct keel_journal_transfer_t {
    uint64_t count, bytes;
    double seconds; // to the device: inside the plugin's call; from it: until the data arrive
} keel_journal_transfer_t;

// Reads from the device by one line of the host.
typedef struct keel_journal_read_t {
    keel_journal_site_t site;
    keel_journal_transfer_t transfer;
} keel_journal_read_t;

// A program that was executed because the host read a value that was only recorded.
typedef struct keel_journal_piece_t {
    const keel_digest_t *program;
    keel_journal_site_t site; // the line that reads
    uint64_t forced;          // executions since the last such event
    // Of those: how many had their arguments followed, and in how many the step went on with them.
    uint64_t sampled, shared;
    const keel_digest_t *rest; // the last program that took them; NULL: none
    uint64_t pieces;           // programs of the last step that it was cut from; 0: none
} keel_journal_piece_t;

typedef struct keel_journal_transfers_t {
    keel_journal_transfer_t to_device, from_device; // totals
    const keel_journal_read_t *reads;               // those whose line is known
    size_t read_count;
    const keel_journal_piece_t *pieces;
    size_t piece_count;
    uint64_t cut_steps, cut_pieces; // steps that were split, and their programs
} keel_journal_transfers_t;

void keel_journal_transfers(keel_journal_t *journal, const keel_journal_transfers_t *event);
// `count` steps ended, as the user marks them, since the last such event.
void keel_journal_step(keel_journal_t *journal, uint64_t count);
// The user's code says that every program has been seen.
void keel_journal_freeze(keel_journal_t *journal);

// A function of the client that programs call by name, or a type of its state.
typedef struct keel_journal_place_t {
    const char *library; // path; NULL: nowhere
    uint64_t offset;
    const keel_digest_t *build; // of the library's file
} keel_journal_place_t;

typedef struct keel_journal_handler_t {
    const char *kind, *name, *platform;
    unsigned api_version, traits;
    const keel_journal_place_t *places;
    size_t place_count;
} keel_journal_handler_t;

void keel_journal_start(keel_journal_t *journal, const keel_journal_start_t *event);
void keel_journal_bundle(keel_journal_t *journal, const keel_journal_bundle_t *event);
void keel_journal_compile(keel_journal_t *journal, const keel_journal_compile_t *event);
void keel_journal_compiled(keel_journal_t *journal, const keel_journal_compiled_t *event);
void keel_journal_load(keel_journal_t *journal, const keel_journal_load_t *event);
void keel_journal_prefetch(keel_journal_t *journal, const keel_journal_prefetch_t *event);
void keel_journal_remote(keel_journal_t *journal, const keel_journal_remote_t *event);
void keel_journal_miss(keel_journal_t *journal, const keel_journal_miss_t *event);
void keel_journal_uncacheable(keel_journal_t *journal, const keel_journal_uncacheable_t *event);
void keel_journal_publish(keel_journal_t *journal, const keel_journal_publish_t *event);
void keel_journal_ask(keel_journal_t *journal, const keel_journal_ask_t *event);
void keel_journal_fix(keel_journal_t *journal, const keel_journal_fix_t *event);
void keel_journal_handler(keel_journal_t *journal, const keel_journal_handler_t *event);
// `what` is a word for the operation that failed ("get", "put", "prove"), `key` may be NULL.
void keel_journal_store_error(keel_journal_t *journal, const char *what, const keel_digest_t *key,
                              const char *message);
// A program left the contract, or is new after a freeze: "refused", "warned", "recorded", and why.
void keel_journal_drift(keel_journal_t *journal, const keel_journal_subject_t *subject,
                        const keel_journal_site_t *site, const char *verdict, const char *message);
// The script set something after it was read: "XLA_FLAGS", and its new part.
void keel_journal_late(keel_journal_t *journal, const char *what, const char *value);
// So many modules of Python, with so many bytes of source, are compiled at each start, and why.
void keel_journal_bytecode(keel_journal_t *journal, uint64_t modules, uint64_t size,
                           const char *why);
// Keel fell back to a simpler way: keyed a program by its bytes, compiled without the cache.
// KEEL_JOURNAL_UNSEEN: the client has a program that this journal lacks. KEEL_JOURNAL_LOST: events
// are missing.
#define KEEL_JOURNAL_UNSEEN "compile"
#define KEEL_JOURNAL_LOST "journal"
#define KEEL_JOURNAL_LOST_FOLDER "lost" // keel_journal_lost_path
#define KEEL_JOURNAL_FIGURES "figures.json"
void keel_journal_fallback(keel_journal_t *journal, const char *what,
                           const keel_journal_subject_t *subject, const char *message);
// The plugin or the engine refused a program; the client has the error. `code`:
// "RESOURCE_EXHAUSTED".
void keel_journal_compile_error(keel_journal_t *journal, const keel_journal_subject_t *subject,
                                const keel_journal_site_t *site, const char *code,
                                const char *message);
void keel_journal_executes(keel_journal_t *journal, keel_journal_counts_t counts,
                           keel_journal_leading_t leading);
// The programs of executions that followed each other (NULL: unknown), after `from` others of the
// process.
void keel_journal_order(keel_journal_t *journal, uint64_t from,
                        const keel_digest_t *const *executed, size_t count);
// Arguments of a program, in its first execution, that another one made; `is_again`: that one was
// executed before.
void keel_journal_inputs(keel_journal_t *journal, const keel_digest_t *program,
                         const keel_digest_t *maker, bool is_again, const uint32_t *arguments,
                         size_t count);
// Arguments of a program that came from nowhere that is known when it was first executed and that
// stayed the same; `programs` are new ones that took them too.
void keel_journal_steady(keel_journal_t *journal, const keel_digest_t *program,
                         const uint32_t *arguments, size_t count,
                         const keel_digest_t *const *programs, size_t program_count);
// As many results of a program that nobody took any more until the process ended, though the client
// held them, since `programs` were executed for the first time, in that order.
void keel_journal_abandoned(keel_journal_t *journal, const keel_digest_t *maker, uint64_t results,
                            const keel_digest_t *const *programs, size_t count);
// `total`: all executions of this process; `executes`: those not written yet.
void keel_journal_end(keel_journal_t *journal, uint64_t total, keel_journal_counts_t executes);

// ---- reading -----------------------------------------------------------------------------------

// jansson's json_t; include <jansson.h> to look inside.
struct json_t;

// Fields of an event, or of an object in it: "" and 0 if absent, negative or of another kind.
const char *keel_event_text(const struct json_t *event, const char *name);
double keel_event_number(const struct json_t *event, const char *name);
uint64_t keel_event_count(const struct json_t *event, const char *name);
uint32_t keel_event_line(const struct json_t *event, const char *name);
// How many loads a `load` event stands for.
uint64_t keel_event_times(const struct json_t *event);
bool keel_event_digest(const struct json_t *event, const char *name, keel_digest_t *out);

// Each journal that a process opens has a numbering, a hash of so many bits.
enum { KEEL_NUMBERING_BITS = 24 };
// A program's number in the run: the numbering, then the process's own count from 1. 0: the event
// has no number.
uint64_t keel_event_program_number(const struct json_t *event);

// The executions that an event counts, one program after the other (counts.c):
//   keel_counts_t counts = keel_event_counts(event);
//   while (keel_counts_next(&counts, &counted)) ...
typedef struct keel_counted_t {
    const char *digest; // in hex; NULL: the program has that keel_event_program_number
    uint64_t number;
    uint64_t times;
} keel_counted_t;
typedef struct keel_counts_t {
    struct json_t *by_digest, *by_number;
    void *digest;
    size_t number;
    uint64_t numbering;
} keel_counts_t;
keel_counts_t keel_event_counts(const struct json_t *event);
bool keel_counts_next(keel_counts_t *counts, keel_counted_t *out);
// Of all its programs.
uint64_t keel_event_executions(const struct json_t *event);

// One line as an event, which the caller releases with json_decref; NULL if it is not an event.
struct json_t *keel_journal_event(keel_str_t line);

// What of a journal could not be read. The unfinished last line of a killed process is not damage.
typedef struct keel_journal_damage_t {
    uint64_t lines;      // lines that are not a JSON object with an "event"
    uint64_t first_line; // number of the first of them, from 1
    char why[160];
} keel_journal_damage_t;

// Calls `visit` for each event, in the file's order, and skips lines that it cannot read. `event`
// is borrowed. A status from `visit` ends the reading and is returned.
keel_status_t keel_journal_read(const char *path,
                                keel_status_t (*visit)(void *context, const struct json_t *event),
                                void *context, keel_journal_damage_t *out_damage) KEEL_MUST_CHECK;
// The same from bytes.
keel_status_t keel_journal_parse(keel_bytes_t bytes,
                                 keel_status_t (*visit)(void *context, const struct json_t *event),
                                 void *context, keel_journal_damage_t *out_damage) KEEL_MUST_CHECK;

// What a reader does not use, and so need not be parsed: kinds of events, and lists and objects by
// name in all others. Both arrays end with NULL. In a journal that Keel did not write, they may
// still reach the reader.
typedef struct keel_journal_needless_t {
    const char *const *events, *const *lists;
    size_t longest; // bytes of a string's JSON; longer strings are cut; 0: none is
} keel_journal_needless_t;
keel_status_t
keel_journal_parse_without(keel_bytes_t bytes, const keel_journal_needless_t *needless,
                           keel_status_t (*visit)(void *context, const struct json_t *event),
                           void *context, keel_journal_damage_t *out_damage) KEEL_MUST_CHECK;

// Where events come from: a run's journal followed by what was worked out from it
// (explained.ndjson), as they were when the source was opened; or bytes that the caller keeps. It
// can be read again and again.
typedef struct keel_journal_source_t {
    char *path; // of the journal; NULL: bytes
    keel_input_file_t journal, explained;
    uint64_t answers_from, answers_to; // the part of `explained` that are events
    bool is_open, is_explained;
    keel_bytes_t bytes;
} keel_journal_source_t;

// On failure *out needs no closing.
keel_status_t keel_journal_source_open(const char *run_dir, const char *id,
                                       keel_journal_source_t *out) KEEL_MUST_CHECK;
void keel_journal_source_close(keel_journal_source_t *source);
// As keel_journal_read: a line at a time, of which no more than KEEL_LIMIT_LINE bytes are read.
// `needless` may be NULL.
keel_status_t keel_journal_scan(const keel_journal_source_t *source,
                                const keel_journal_needless_t *needless,
                                keel_status_t (*visit)(void *context, const struct json_t *event),
                                void *context, keel_journal_damage_t *out_damage) KEEL_MUST_CHECK;

// needless.c: whether the line is a whole event of such a kind, before it is parsed; and the line
// without such lists, either the line itself or a copy in `scratch`.
bool keel_journal_is_event(keel_str_t line, const char *const *kinds);
keel_str_t keel_journal_without(keel_str_t line, const char *const *lists, keel_buffer_t *scratch);
// The line with its strings cut to `longest` bytes of JSON and "..."; likewise.
keel_str_t keel_journal_cut(keel_str_t line, size_t longest, keel_buffer_t *scratch);

// Calls `visit` for each run that has a journal, oldest first. A missing run_dir has none.
keel_status_t keel_journal_runs(const char *run_dir,
                                keel_status_t (*visit)(void *context, const char *id),
                                void *context) KEEL_MUST_CHECK;

// Finds a run by its id, by a prefix of it, or the newest one ("latest" or NULL). The caller frees
// *out. KEEL_NOT_FOUND if there is none, KEEL_INVALID if the prefix is ambiguous.
keel_status_t keel_journal_find_run(const char *run_dir, const char *text,
                                    char **out) KEEL_MUST_CHECK;
// run_dir/<id>/journal.ndjson; the caller frees it.
keel_status_t keel_journal_path(const char *run_dir, const char *id, char **out) KEEL_MUST_CHECK;
// run_dir/<id>/explained.ndjson; the caller frees it.
keel_status_t keel_journal_explained_path(const char *run_dir, const char *id,
                                          char **out) KEEL_MUST_CHECK;
// A folder that is there if events of the run were lost.
keel_status_t keel_journal_lost_path(const char *run_dir, const char *id,
                                     char **out) KEEL_MUST_CHECK;

// Finds a kept program by its digest in hex, or by a prefix of that; not compile options. The
// caller frees *out, a path. KEEL_NOT_FOUND if there is none, KEEL_INVALID if the prefix is
// ambiguous.
keel_status_t keel_journal_find_program(const char *run_dir, const char *hex,
                                        char **out) KEEL_MUST_CHECK;
// A program that is packed as a run keeps it. KEEL_CORRUPT if it is damaged, or expands to more
// than a recorded program may (base/limits.h).
keel_status_t keel_journal_unpack_program(keel_bytes_t packed, uint8_t **out,
                                          size_t *out_size) KEEL_MUST_CHECK;
// The bytes of a kept program, or of kept compile options. The caller frees them. KEEL_CORRUPT if
// the file is damaged, or its digest differs from its name.
keel_status_t keel_journal_read_program(const char *path, uint8_t **out,
                                        size_t *out_size) KEEL_MUST_CHECK;

// KEEL_CORRUPT if the file is named by a digest ("<64 hex digits>.mlir") and its content has
// another: then the file is not the one that a run kept.
keel_status_t keel_journal_check_name(const char *path, keel_bytes_t content) KEEL_MUST_CHECK;

#endif // KEEL_JOURNAL_JOURNAL_H_
