// handlers: functions of the client that a program calls by name, as children need them.
//
// A client registers its handlers with the plugin's table, in its own process: jaxlib has those of
// cuSOLVER, Triton and others, and a user's module may have more. A compiler asks a handler about
// itself, and compiles no program that calls an unknown one. So children register them too. A
// function is known there by its place: the library that it is in, and where. Children open
// that library, in an interpreter of the client's kind, because it may be a Python module.
//
// A call has functions for its stages; most have one for execution only. What a handler keeps from
// one stage to the next is of a type, which is registered too: the plugin gives it a number, which
// is written into the library.
//
// Structs: xla/pjrt/c/pjrt_c_api_ffi_extension.h and pjrt_c_api_gpu_extension.h.
// Ownership: handlers are the process's, are copied, and stay; all compilers know them.
// Threads: any; a forked child may call everything.
#ifndef KEEL_COMPILER_HANDLERS_H_
#define KEEL_COMPILER_HANDLERS_H_

#include "base/base.h"

// A place in a library.
typedef struct keel_handler_place_t {
    const char *library; // path; NULL: nowhere
    uint64_t offset;     // from where it is loaded
} keel_handler_place_t;

typedef enum keel_handler_kind_t {
    KEEL_HANDLER_CALL, // places: instantiate, prepare, initialize, execute
    KEEL_HANDLER_TYPE, // of a state; places: its number, deleter, serialize, deserialize
    KEEL_HANDLER_KINDS,
} keel_handler_kind_t;

extern const char *const keel_handler_kinds[KEEL_HANDLER_KINDS]; // "call", "type"

enum { KEEL_HANDLER_PLACES = 4, KEEL_HANDLER_EXECUTE = 3 };

typedef struct keel_handler_t {
    keel_handler_kind_t kind;
    const char *name, *platform; // "Host", "CUDA"
    int api_version;             // 0: untyped, 1: typed
    uint32_t traits;
    keel_handler_place_t places[KEEL_HANDLER_PLACES];
} keel_handler_t;

// Where an address of this process is. KEEL_UNSUPPORTED if it is in no library (such as code made
// at run time), since no other process has it. *out points to memory of the loader, which stays
// while the library does.
keel_status_t keel_handler_locate(const void *address, keel_handler_place_t *out) KEEL_MUST_CHECK;

// The first of one kind, name and platform counts, as in XLA.
keel_status_t keel_handler_add(const keel_handler_t *handler) KEEL_MUST_CHECK;
// Whether programs for the platform, by the plugin's name for it ("cpu", "cuda"), can call it.
bool keel_handler_fits(const keel_handler_t *handler, const char *platform);
// How many there are, and one of them, in their order. It stays.
size_t keel_handler_count(void);
const keel_handler_t *keel_handler_at(size_t index);

#endif // KEEL_COMPILER_HANDLERS_H_
