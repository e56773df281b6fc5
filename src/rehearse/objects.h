// objects: what stands behind the pointers that a client of the rehearsal has.
//
// Device descriptions and the topology are the plugin's own objects, and their functions are the
// plugin's.
// Room-internal.
#ifndef KEEL_REHEARSE_OBJECTS_H_
#define KEEL_REHEARSE_OBJECTS_H_

#include <pthread.h>
#include <stdatomic.h>

#include "pjrt/error.h"
#include "rehearse/rehearse.h"
#include "signature/signature.h"

typedef struct layout_t layout_t; // PJRT_Layouts_MemoryLayout: its text

// The process's rehearsal.
typedef struct rehearsal_t {
    const keel_target_t *target;
    const PJRT_Api *plugin; // the target's
    const char *plugin_path;
    const char *interpreter; // NULL: the current one
    const char *calculator;  // path of a plugin for the processor; "": nothing is computed
    keel_rehearse_compiles_t compiles;
    keel_rehearse_fill_t fill;
    bool client_is_old;
    _Atomic uint64_t memory_limit;      // of a device, as the client asked for it; 0: unknown
    PJRT_TopologyDescription *topology; // of the target; NULL: the processor's
    PJRT_Client *backing;               // the processor's real client; NULL for other targets
    pid_t process;                      // that began it
} rehearsal_t;
extern rehearsal_t rehearsal;

// Whether this is a forked child, which has neither the compiler nor the processor's threads: its
// programs are not compiled, and nothing is computed.
bool is_forked(void);

// A text that lives as long as the process: equal texts are one.
keel_status_t keep_text(keel_str_t text, const char **out) KEEL_MUST_CHECK;
// Whether it is one of those.
bool is_kept_text(const void *text);

// ---- client.c ----------------------------------------------------------------------------------

enum { MEMORY_KINDS = 4 };

struct PJRT_Memory {
    PJRT_Device *device;
    int id, kind_id;
    const char *kind;
    char text[96];
    _Atomic uint64_t in_use, peak;
};

struct PJRT_Device {
    PJRT_Client *client;
    PJRT_DeviceDescription *description; // the plugin's
    int id, process, local_id;           // local_id: -1 if it is another process's
    struct PJRT_Memory memories[MEMORY_KINDS];
    PJRT_Memory *memory_list[MEMORY_KINDS];
    size_t memory_count;
    PJRT_Memory *standard;
};

struct PJRT_Client {
    int process;
    struct PJRT_Device *devices;
    PJRT_Device **all, **own; // own: addressable ones
    size_t count, own_count;
    PJRT_Memory **memories; // of its own devices
    size_t memory_count;
    keel_str_t platform_name, platform_version;
    PJRT_TopologyDescription *topology;
};

void client_fill(PJRT_Api *table);
// Makes what the target has: its topology, or the processor's client. Once, when the first client
// is made: by then the plugin is initialized.
keel_status_t rehearsal_open(void) KEEL_MUST_CHECK;
// The device of that number; NULL if there is none.
PJRT_Device *client_device(const PJRT_Client *client, int64_t id);

// ---- process.c ---------------------------------------------------------------------------------

// Which of the target's processes makes a client with these options. KEEL_INVALID if there are not
// as many as the target has.
keel_status_t process_number(const PJRT_NamedValue *options, size_t count,
                             int *out) KEEL_MUST_CHECK;

// ---- memories.c --------------------------------------------------------------------------------

void memories_fill(PJRT_Api *table);
// `backing`: the processor's device of the same number, or NULL.
keel_status_t memories_make(PJRT_Device *device, PJRT_Device *backing) KEEL_MUST_CHECK;
// The device's memory of that kind; the standard one if `kind` is empty or unknown.
PJRT_Memory *device_memory(PJRT_Device *device, keel_str_t kind);
void memory_take(PJRT_Memory *memory, uint64_t bytes);
void memory_give(PJRT_Memory *memory, uint64_t bytes);

// ---- event.c -----------------------------------------------------------------------------------

void event_fill(PJRT_Api *table);
// All events are ready, and one. A client destroys it as often as it likes.
PJRT_Event *event_ready(void);

// ---- buffer.c, transfer.c ----------------------------------------------------------------------

// The contents of an array: dense, row by row, elements smaller than a byte in one byte each. Never
// changes.
typedef struct contents_t {
    atomic_size_t references;
    size_t size;
    uint8_t data[];
} contents_t;

contents_t *contents_retain(contents_t *contents); // NULL is allowed
void contents_release(contents_t *contents);       // likewise
// Room for `size` bytes, which the caller fills. NULL if the contents are too large to keep, or
// there is no memory: then they count as unknown.
contents_t *contents_create(size_t size);

// An execution for which processes exchange values.
typedef struct meeting_t meeting_t;
// An execution whose results are computed once they are asked for.
typedef struct later_t later_t;

struct PJRT_Buffer {
    PJRT_Memory *memory;
    PJRT_Buffer_Type type;
    size_t rank;
    uint64_t bytes; // on the device
    pthread_mutex_t lock;
    contents_t *contents; // NULL: unknown. Under the lock, like is_deleted
    const char *maker;    // the name of the program that made it; NULL: the host. Never freed
    bool is_deleted;
    bool is_guess;           // its dimensions: how it is sharded is not known
    bool is_share;           // of a sum over devices: the contents are the sum
    meeting_t *meeting;      // that gives the contents; NULL: none, or they are there
    later_t *later;          // likewise; one of both at most
    uint32_t result, device; // which of it
    const char *layout;      // never freed
    int64_t *minor_to_major;
    int64_t dims[];
};

void buffer_fill(PJRT_Api *table);
void transfer_fill(PJRT_Api *table);
// What a buffer is made of. `layout`: NULL: as usual; `maker`: the name of a program, NULL: the
// host. Both are never freed.
typedef struct making_t {
    PJRT_Memory *memory;
    PJRT_Buffer_Type type;
    const int64_t *dims;
    size_t rank;
    contents_t *contents;
    const char *layout, *maker;
    bool is_guess, is_share; // as in the buffer
} making_t;
// Takes over the contents.
keel_status_t buffer_create(const making_t *making, PJRT_Buffer **out) KEEL_MUST_CHECK;
void buffer_destroy(PJRT_Buffer *buffer);
void buffer_delete(PJRT_Buffer *buffer); // again, too
// Deletes it in two steps, for a donation. First its memory goes to an execution, while its
// contents stay: false if it was deleted before. Then they go, too, or the buffer is as it was.
bool buffer_hand_over(PJRT_Buffer *buffer);
void buffer_forget(PJRT_Buffer *buffer);
void buffer_take_back(PJRT_Buffer *buffer);
keel_status_t buffer_gone(void) KEEL_MUST_CHECK; // the error for using a deleted one
// Takes over the contents.
void buffer_set_contents(PJRT_Buffer *buffer, contents_t *contents);
// The buffer's contents will be a result of the meeting, which is retained.
void buffer_await(PJRT_Buffer *buffer, meeting_t *meeting, uint32_t result, uint32_t device);
// The buffer's contents will be a result of that execution, which is retained.
void buffer_compute_later(PJRT_Buffer *buffer, later_t *later, uint32_t result);
// What will compute the contents, retained, and which result of it they are; NULL if nothing will.
later_t *buffer_later(PJRT_Buffer *buffer, uint32_t *out_result);
// The contents, retained; NULL if they are unknown. `of_sum`: of the sum that the device has a
// share of; else what the device has. *out_deleted: they are no client's any more. May wait for
// other processes, or compute.
contents_t *buffer_contents(PJRT_Buffer *buffer, bool of_sum, bool *out_deleted);

PJRT_Buffer_Type buffer_type_of(keel_primitive_t primitive);

// ---- sizes.c -----------------------------------------------------------------------------------

// Bytes of one element on the host; 0 for what has none.
size_t element_bytes(PJRT_Buffer_Type type);
// Bytes of an array on the host without any padding; elements smaller than a byte are packed. As
// much as fits.
uint64_t bytes_of_elements(PJRT_Buffer_Type type, const int64_t *dims, size_t rank);
// Bytes of an array on the host, as clients have it: none of them packed. KEEL_INVALID if a
// dimension is negative or there are more than any memory has.
keel_status_t host_bytes(PJRT_Buffer_Type type, const int64_t *dims, size_t rank,
                         size_t *out) KEEL_MUST_CHECK;
// Fills an array on the host with what unknown values read as.
void fill_unknown(PJRT_Buffer_Type type, void *data, size_t size);
// Bytes of an array on a device that is laid out so, with padding.
uint64_t bytes_on_device(PJRT_Buffer_Type type, const int64_t *dims, size_t rank,
                         const char *layout);

// ---- extensions.c ------------------------------------------------------------------------------

void extensions_fill(PJRT_Api *table);
// The table's extension of a type, if it has at least so many bytes; NULL otherwise.
const PJRT_Extension_Base *extension_of(const PJRT_Api *api, int type, size_t least);

// ---- layouts.c ---------------------------------------------------------------------------------

// If this copy of a plugin's extension is that for layouts, lets it take executables without
// devices; false if it is another one.
bool layouts_take(PJRT_Extension_Base *extension);
// Puts the extension in front of `next`, if the plugin has one.
PJRT_Extension_Base *layouts_offer(const PJRT_Api *plugin, PJRT_Extension_Base *next);
// How the target lays out an array if nobody asks for another way: "{1,0:T(8,128)}".
keel_status_t layout_usual(PJRT_Buffer_Type type, const int64_t *dims, size_t rank,
                           const char **out) KEEL_MUST_CHECK;
// Its dimensions, the minor one first; returns how many.
size_t layout_order(const char *layout, int64_t *out, size_t most);

// ---- compiling.c -------------------------------------------------------------------------------

// A program on its way through the compiler. Shared by its executable and the compiler's thread.
typedef struct compiling_t compiling_t;

// Sends the program to the compiler. `is_partition`: see keel_job_t.
keel_status_t compiling_begin(const PJRT_Client_Compile_Args *args, bool is_partition,
                              compiling_t **out) KEEL_MUST_CHECK;
// Waits for it. What it gives lives as long as `compiling`.
const keel_compiled_t *compiling_wait(compiling_t *compiling);
// The compiler's own error, for the client.
PJRT_Error *compiling_refusal(const keel_compiled_t *compiled);
// The same if it is done; NULL otherwise.
const keel_compiled_t *compiling_look(compiling_t *compiling);
keel_status_t compiling_when_done(compiling_t *compiling, keel_rehearse_done_t *done,
                                  void *context) KEEL_MUST_CHECK;
void compiling_release(compiling_t *compiling); // NULL is allowed

// ---- calculator.c ------------------------------------------------------------------------------

// A small program that the processor runs.
typedef struct calculation_t calculation_t;

// Compiles it for so many devices of the processor. Each computes all of it with arrays of its own,
// which collectives bring together.
keel_status_t calculation_create(const keel_program_t *program, uint32_t devices,
                                 calculation_t **out) KEEL_MUST_CHECK;
// An array for it, or of it. The contents are those of each device, one after the other.
typedef struct operand_t {
    const keel_array_shape_t *shape;
    contents_t *contents;
} operand_t;
// Runs it. `results` have their shapes; it fills in their contents, which the caller releases, or
// NULL if they are too large to keep.
keel_status_t calculation_run(calculation_t *calculation, const operand_t *arguments,
                              uint32_t argument_count, operand_t *results,
                              uint32_t result_count) KEEL_MUST_CHECK;
void calculation_destroy(calculation_t *calculation); // NULL is allowed

// ---- values.c ----------------------------------------------------------------------------------

// Which results of a program can be computed here; shared by its executions.
typedef struct worth_t worth_t;

// Keeps a copy of the program's bytes until it is known that nothing of it can be computed.
keel_status_t worth_create(keel_bytes_t code, worth_t **out) KEEL_MUST_CHECK;
void worth_destroy(worth_t *worth); // NULL is allowed
// Computes what is cheap and whose arguments are known, for an execution whose results are made and
// whose arguments are not donated yet.
void values_compute(const PJRT_LoadedExecutable_Execute_Args *args);
// Which results are cheap, and which arguments each of these needs: the first number says how many.
// Both live as long as `worth`. False if none is.
bool worth_look(worth_t *worth, const keel_signature_t *signature, const bool **out_cheap,
                uint32_t *const **out_arguments);
// Of the program without its names: ranks of TorchTPU give one to what they do together. Only after
// worth_look.
keel_digest_t worth_digest(const worth_t *worth);
// Where the contents of whole arguments come from: retained; NULL if they are unknown.
typedef struct argument_source_t {
    contents_t *(*find)(void *context, uint32_t argument);
    void *context;
} argument_source_t;
// Computes those of the wanted results that are cheap and whose arguments are known. `wanted` and
// `out` have a place for each result; the caller releases what is there. Of results that depend on
// devices that compute apart, arguments and results are those of each partition, one after the
// other; they are not wanted together with others.
keel_status_t worth_compute(worth_t *worth, const keel_signature_t *signature, const bool *wanted,
                            const argument_source_t *source, contents_t **out) KEEL_MUST_CHECK;

// ---- refusal.c ---------------------------------------------------------------------------------

void note_refusal(keel_rehearse_action_t action, const char *name, const char *message);
// An error for the client, which it may swallow, so Keel notes it too. NULL if there is
// none. Takes the status.
PJRT_Error *refuse(keel_rehearse_action_t action, const char *name, keel_status_t status);

// ---- shards.c ----------------------------------------------------------------------------------

// Devices of one execution that together have one copy of each array, or this process's part of it.
typedef struct replica_t {
    const PJRT_LoadedExecutable_Execute_Args *args;
    const keel_signature_t *signature;
    size_t first;               // in the lists of the call
    uint32_t devices;           // how many
    const uint32_t *partitions; // of each; NULL: all partitions, in order
} replica_t;

// Whether each device certainly has all of it.
bool is_whole(const keel_array_t *array);
size_t shape_bytes(const keel_array_shape_t *shape); // on the host; SIZE_MAX: more than memory has
// Which part each partition has, `rank` indices for each. The caller frees them.
keel_status_t places_of(const keel_array_t *array, uint32_t partitions,
                        int64_t **out) KEEL_MUST_CHECK;
void shards_put(const keel_array_t *array, const int64_t *places, uint32_t partition,
                contents_t *whole, const uint8_t *shard);
// A partition's part of the whole; `places` may be NULL if that is all of it. NULL if it is too
// large to keep.
contents_t *shards_cut(const keel_array_t *array, const int64_t *places, uint32_t partition,
                       contents_t *whole);
// What the device has of an argument. The caller releases it. NULL if it is unknown, or not of the
// shape that the program takes.
contents_t *shards_at(const replica_t *replica, uint32_t device, uint32_t argument);
// All of an argument, likewise.
contents_t *shards_gather(const replica_t *replica, uint32_t argument);
void shards_scatter(const replica_t *replica, uint32_t result, contents_t *whole);
// The partitions of this process's devices, as uint32_t, of an executable of one replica. The
// caller frees them.
keel_status_t own_partitions(const PJRT_LoadedExecutable *loaded, void **out) KEEL_MUST_CHECK;

// ---- meeting.c ---------------------------------------------------------------------------------

// Gives the other processes what they need of this one's arguments for the wanted results. The
// result's buffers get their contents when a host asks for them.
keel_status_t meeting_begin(const replica_t *replica, const bool *wanted,
                            uint32_t *const *arguments) KEEL_MUST_CHECK;
// After an execution that may have had no meeting although other processes have it: from then on
// there is none.
void meeting_give_up(keel_status_t why);
// A result's contents on the device of that place among this process's: waits for the other
// processes. The caller releases them. NULL if they are unknown.
contents_t *meeting_contents(meeting_t *meeting, uint32_t result, uint32_t device);
void meeting_retain(meeting_t *meeting);
void meeting_release(meeting_t *meeting); // NULL is allowed

// ---- later.c -----------------------------------------------------------------------------------

// Keeps what the cheap results of an execution on one device need, until one is asked for. False if
// that is too much: then they are to be computed at once.
keel_status_t later_begin(const replica_t *replica, const bool *cheap, uint32_t *const *arguments,
                          bool *out_begun) KEEL_MUST_CHECK;
// A result's contents, computed. The caller releases them. NULL if they are unknown.
contents_t *later_contents(later_t *later, uint32_t result);
void later_retain(later_t *later);
void later_release(later_t *later); // NULL is allowed

// ---- facts.c -----------------------------------------------------------------------------------

// What is known about an executable; shared by its PJRT_Executable and PJRT_LoadedExecutable.
typedef struct facts_t {
    atomic_size_t references;
    keel_signature_t signature;
    bool combines;            // it does more than move or map elements
    bool is_alone;            // its devices compute apart, and none depends on another
    uint64_t result_bytes;    // on one device
    uint64_t donated_bytes;   // of parameters, likewise
    const char *name;         // never freed
    compiling_t *compiling;   // NULL: it is not compiled here
    bool is_partitioned;      // the compiler chose shardings, which the module says, and no more
    double partition_seconds; // what that took
    worth_t *worth;
    keel_buffer_t module;  // optimized, or in place of that
    keel_buffer_t outline; // of the optimized one
    bool has_outline;
    const char *format; // of the module
    keel_buffer_t serialized;
    bool has_memory; // known without the compiler
    keel_program_memory_t memory;
    // As PJRT tells its results.
    PJRT_Buffer_Type *types;
    int64_t *dims;
    size_t *ranks;
    const char **kinds;
    size_t *kind_sizes;
    const char **layouts, **parameter_layouts; // of its results, and of its parameters
    keel_arena_t arena;
} facts_t;

struct PJRT_Executable {
    facts_t *facts;
    PJRT_Executable *next; // of those that have no device
};

struct PJRT_LoadedExecutable {
    PJRT_Client *client;
    facts_t *facts;
    PJRT_Device **devices; // addressable ones, in the order of its device assignment
    size_t device_count;
    int64_t *ids; // of all, replica by replica
    atomic_bool is_deleted;
};

// Reads the program. The caller releases the facts.
keel_status_t facts_begin(const PJRT_Client_Compile_Args *args, facts_t **out) KEEL_MUST_CHECK;
// Takes the shardings and layouts that the compiler chose from the optimized module.
keel_status_t facts_take_shardings(facts_t *facts, keel_bytes_t module,
                                   keel_str_t format) KEEL_MUST_CHECK;
// The same, and the module.
keel_status_t facts_take_module(facts_t *facts, keel_bytes_t module,
                                keel_str_t format) KEEL_MUST_CHECK;
// Whether it is only a guess how some array is sharded.
bool facts_are_guessed(const facts_t *facts);
// Completes what a client may ask. `device`: one of its devices; NULL if it has none.
keel_status_t facts_finish(facts_t *facts, PJRT_Device *device) KEEL_MUST_CHECK;
void facts_release(facts_t *facts); // NULL is allowed

// ---- unloaded.c --------------------------------------------------------------------------------

void unloaded_fill(PJRT_Api *table);
void unloaded_forget(const PJRT_Executable *executable);

// ---- executable.c, execute.c -------------------------------------------------------------------

void executable_fill(PJRT_Api *table);
void execute_fill(PJRT_Api *table);

#endif // KEEL_REHEARSE_OBJECTS_H_
