#include <stdio.h>

#include "compiler/compiler.h"
#include "compiler/handlers.h"
#include "enforce/enforce.h"
#include "host/host.h"
#include "keel/status.h"
#include "pjrt/kernels.h"
#include "pjrt/outlines.h"
#include "shim/shim.h"

KEEL_API const PJRT_Api *GetPjrtApi(void);
// The Python package names the plugin to wrap before the first GetPjrtApi (keel_shim_wrap).
KEEL_API bool keel_wrap(const char *plugin);
// Or it lets the client load several plugins first, each offered before its GetPjrtApi, and then
// names one of them (keel_shim_offer).
KEEL_API bool keel_offer(const char *plugin);
// A step of the training ended. Any thread, at any time; a few nanoseconds.
KEEL_API void keel_step(void);
// From now on no program may be new; on this thread every program may appear, until a call with
// false for each with true (enforce/enforce.h). Any thread, at any time.
KEEL_API void keel_freeze(void);
KEEL_API void keel_allow(bool allows);
// Holds the process to a contract, with "warn" or "refuse", until keel_release_contract. NULL, or
// why not: text of the thread, until its next call.
KEEL_API const char *keel_hold_contract(const char *path, const char *on_drift);
KEEL_API void keel_release_contract(void);
// The Python package reports each kernel for CPU that the client registers with its own runtime
// (pjrt/kernels.h). A failure is reported once on stderr.
KEEL_API void keel_add_kernel(const char *name, void *function);
// It reports each function that programs call by name, with its stages, and each type of their
// state, for processes that compile elsewhere (compiler/handlers.h). Those that no other process
// can call are left out: a program that calls one does not compile there.
KEEL_API void keel_add_handler(const char *name, const char *platform, int api_version,
                               uint32_t traits, void *const stages[KEEL_HANDLER_PLACES]);
KEEL_API void keel_add_type(const char *name, const char *platform, void *number,
                            void *const functions[KEEL_HANDLER_PLACES - 1]);
// The Python package reports how many devices the client's own setting asks for on CPU; -1: none.
// Before the client is made.
KEEL_API void keel_ask_devices(int64_t count);
// It reports what the client's own CPU devices are called, before their numbers. Before the client
// is made.
KEEL_API void keel_name_devices(const char *prefix);
// It says what the memory that results lie in is called, if the plugin does not (kinds.c).
KEEL_API void keel_name_kind(const char *kind);
// It says how long this thread took to trace (0) or lower (1) what it will ask for.
KEEL_API void keel_note_preparing(int what, double seconds);
// It says what torch.compile traced for a graph that TorchTPU will ask for, and when that is
// compiled (keel_traced_note). 0: nothing is noted.
KEEL_API uint64_t keel_note_traced(const char *id, const char *function, const char *file,
                                   uint32_t line, const char *names);
KEEL_API void keel_note_compiles(uint64_t number, bool begins);
// It says what this thread's client asks executables for, when that begins and when it ends
// (pjrt/outlines.h): a keel_outlines_t.
KEEL_API void keel_mark_outlines(int kind, bool begins);
// Whether Keel's cache does the work of the client's own, so that the package switches that off: 0
// no, 1 yes, 2 a rehearsal, whose executables must not get there. Once a client was made.
KEEL_API int keel_replaces_cache(void);
// The Python package reports each fix here (keel.fixes). Texts may be empty or NULL.
KEEL_API void keel_note_fix(const char *name, const char *state, const char *label,
                            const char *reference, const char *client, const char *why);
// In a rehearsal, the Python package asks to be called when a line first reads a value that no
// device computed, with a number for that line, on its thread (keel.loops). It reports the loops
// that ended after such reads: the line's number, the loop, its round and how many it has (0:
// unknown), and whether what was read decides. When the process ends.
KEEL_API void keel_when_unreal(keel_unreal_note_t *note);
KEEL_API void keel_note_left(uint64_t read, const char *file, uint32_t line, const char *function,
                             uint64_t round, uint64_t rounds, bool decides, bool raised);
// It reports Python modules that are compiled at each start, because their bytecode is not kept:
// the bytes of their source, and why. Once there is a client.
KEEL_API void keel_note_bytecode(uint64_t modules, uint64_t size, const char *why);
// The Python package puts the engine behind JAX's own client (own.c).
KEEL_API const keel_own_door_t *keel_own_door(void);
// A process that only compiles (compiler/compiler.h): a Python that a compiler started.
KEEL_API int keel_compile_worker(void);

const PJRT_Api *GetPjrtApi(void) {
    keel_shim_note_client(__builtin_return_address(0));
    return keel_shim_api();
}

bool keel_wrap(const char *path) {
    return keel_shim_wrap(path);
}

bool keel_offer(const char *path) {
    return keel_shim_offer(path);
}

void keel_step(void) {
    keel_shim_step();
}

void keel_freeze(void) {
    keel_shim_freeze();
}

void keel_allow(bool allows) {
    keel_enforcement_allow(allows);
}

const char *keel_hold_contract(const char *path, const char *on_drift) {
    static _Thread_local char why[1024];
    bool warns = strcmp(on_drift, "warn") == 0;
    keel_status_t status =
        warns || strcmp(on_drift, "refuse") == 0
            ? keel_enforcement_hold(path, warns ? KEEL_ON_DRIFT_WARN : KEEL_ON_DRIFT_REFUSE)
            : keel_status_make(KEEL_INVALID, "on_drift: '%s' is unknown; use warn or refuse",
                               on_drift);
    if (!status) return NULL;
    snprintf(why, sizeof why, "%s", keel_status_message(status));
    keel_status_ignore(status);
    return why;
}

void keel_release_contract(void) {
    keel_enforcement_release();
}

void keel_add_kernel(const char *name, void *function) {
    keel_status_t status = keel_kernel_add(name, function);
    if (status)
        keel_log_once("kernel", "%s; programs that call it do not compile",
                      keel_status_message(status));
    keel_status_ignore(status);
}

void keel_note_preparing(int what, double seconds) {
    keel_preparing_add(what ? KEEL_PREPARING_LOWER : KEEL_PREPARING_TRACE, seconds);
}

uint64_t keel_note_traced(const char *id, const char *function, const char *file, uint32_t line,
                          const char *names) {
    keel_engine_t *engine = keel_shim_engine();
    const keel_traced_t traced = {id, function, file, line, names};
    return engine ? keel_engine_note_traced(engine, &traced) : 0;
}

void keel_note_compiles(uint64_t number, bool begins) {
    if (begins)
        keel_traced_begin(number);
    else
        keel_traced_end(number);
}

void keel_ask_devices(int64_t count) {
    keel_shim_ask_devices(count);
}

void keel_name_devices(const char *prefix) {
    keel_shim_name_devices(prefix);
}

void keel_name_kind(const char *kind) {
    keel_shim_name_kind(kind);
}

void keel_mark_outlines(int kind, bool begins) {
    keel_outlines_mark((keel_outlines_t)kind, begins);
}

void keel_note_fix(const char *name, const char *state, const char *label, const char *reference,
                   const char *client, const char *why) {
    keel_journal_fix_t fix = {name, state, label, reference, client, why};
    keel_shim_note_fix(&fix);
}

void keel_when_unreal(keel_unreal_note_t *note) {
    keel_engine_when_unreal(note);
}

void keel_note_left(uint64_t read, const char *file, uint32_t line, const char *function,
                    uint64_t round, uint64_t rounds, bool decides, bool raised) {
    keel_shim_note_left(read, &(keel_journal_left_t){.loop = {file, line, function},
                                                     .round = round,
                                                     .rounds = rounds,
                                                     .decides = decides,
                                                     .raised = raised});
}

void keel_note_bytecode(uint64_t modules, uint64_t size, const char *why) {
    keel_engine_t *engine = keel_shim_engine();
    if (engine) keel_engine_note_bytecode(engine, modules, size, why);
}

const keel_own_door_t *keel_own_door(void) {
    return keel_shim_own_door();
}

int keel_compile_worker(void) {
    return keel_compiler_work();
}

static void add_handler(keel_handler_t *handler, void *const *addresses, int first, int count) {
    keel_status_t status = NULL;
    for (int i = 0; i < count && !status; ++i)
        status = keel_handler_locate(addresses[i], &handler->places[first + i]);
    if (!status) status = keel_handler_add(handler);
    keel_status_ignore(status);
}

void keel_add_handler(const char *name, const char *platform, int api_version, uint32_t traits,
                      void *const stages[KEEL_HANDLER_PLACES]) {
    keel_handler_t handler = {.name = name,
                              .platform = platform,
                              .kind = KEEL_HANDLER_CALL,
                              .api_version = api_version,
                              .traits = traits};
    add_handler(&handler, stages, 0, KEEL_HANDLER_PLACES);
}

void keel_add_type(const char *name, const char *platform, void *number,
                   void *const functions[KEEL_HANDLER_PLACES - 1]) {
    keel_handler_t handler = {.name = name, .platform = platform, .kind = KEEL_HANDLER_TYPE};
    keel_status_t status = keel_handler_locate(number, &handler.places[0]);
    if (!status) add_handler(&handler, functions, 1, KEEL_HANDLER_PLACES - 1);
    keel_status_ignore(status);
}

int keel_replaces_cache(void) {
    return keel_shim_replaces_cache();
}
