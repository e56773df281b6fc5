// Executables of topologies, which clients compile without devices (PJRT_Compile). Those that came
// from the store are Keel's own objects, so each function that takes an executable looks whose it
// is.
#include "pjrt/error.h"
#include "shim/shim.h"

static const PJRT_Api *plugin;
static keel_engine_t *engine;

// The table whose function takes this executable.
static const PJRT_Api *table_of(const PJRT_Executable *executable) {
    return keel_rehearse_owns(executable) ? keel_rehearse_executables() : plugin;
}

// PJRT's function, and how it is called here.
#define EXECUTABLE_FUNCTIONS(X)                                                                    \
    X(PJRT_Executable_Name, name)                                                                  \
    X(PJRT_Executable_NumReplicas, replicas)                                                       \
    X(PJRT_Executable_NumPartitions, partitions)                                                   \
    X(PJRT_Executable_NumOutputs, outputs)                                                         \
    X(PJRT_Executable_SizeOfGeneratedCodeInBytes, code_size)                                       \
    X(PJRT_Executable_GetCostAnalysis, cost)                                                       \
    X(PJRT_Executable_OutputMemoryKinds, output_kinds)                                             \
    X(PJRT_Executable_OutputElementTypes, output_types)                                            \
    X(PJRT_Executable_OutputDimensions, output_dimensions)                                         \
    X(PJRT_Executable_GetCompiledMemoryStats, memory)

#define EXECUTABLE_FUNCTION(function, ours)                                                        \
    static PJRT_Error *ours(function##_Args *args) {                                               \
        return table_of(args->executable)->function(args);                                         \
    }
EXECUTABLE_FUNCTIONS(EXECUTABLE_FUNCTION)
#undef EXECUTABLE_FUNCTION

// Three more, which shim.c takes too: what it has is called for the plugin's executables.
static PJRT_Error *(*next_destroy)(PJRT_Executable_Destroy_Args *args);
static PJRT_Error *(*next_serialize)(PJRT_Executable_Serialize_Args *args);
static PJRT_Error *(*next_optimized)(PJRT_Executable_OptimizedProgram_Args *args);

static PJRT_Error *destroy(PJRT_Executable_Destroy_Args *args) {
    if (keel_rehearse_owns(args->executable))
        return keel_rehearse_executables()->PJRT_Executable_Destroy(args);
    return next_destroy(args);
}

static PJRT_Error *serialize(PJRT_Executable_Serialize_Args *args) {
    if (keel_rehearse_owns(args->executable))
        return keel_rehearse_executables()->PJRT_Executable_Serialize(args);
    return next_serialize(args);
}

static PJRT_Error *optimized(PJRT_Executable_OptimizedProgram_Args *args) {
    if (keel_rehearse_owns(args->executable))
        return keel_rehearse_executables()->PJRT_Executable_OptimizedProgram(args);
    return next_optimized(args);
}

static PJRT_Error *fingerprint(PJRT_Executable_Fingerprint_Args *args) {
    if (!keel_rehearse_owns(args->executable)) return plugin->PJRT_Executable_Fingerprint(args);
    return keel_pjrt_error(
        keel_status_make(KEEL_UNSUPPORTED, "keel: a stored executable has no fingerprint"));
}

// ---- functions that this header does not know --------------------------------------------------

// The first thing that a function is called for follows the size and the extensions. If that is one
// of these executables, the plugin must not see it.
enum { NEWER_MOST = 64 };
typedef PJRT_Error *newer_t(PJRT_Executable_Destroy_Args *args);
static newer_t *newer[NEWER_MOST];

static PJRT_Error *guard(PJRT_Executable_Destroy_Args *args, newer_t *function) {
    bool is_own = args->struct_size >= PJRT_Executable_Destroy_Args_STRUCT_SIZE &&
                  keel_rehearse_owns(args->executable);
    if (!is_own) return function(args);
    return keel_pjrt_error(keel_status_make(
        KEEL_UNSUPPORTED, "keel: a stored executable does not have this function"));
}

#define GUARDS_OF_8(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define ALL_GUARDS(X)                                                                              \
    GUARDS_OF_8(X, 0)                                                                              \
    GUARDS_OF_8(X, 01)                                                                             \
    GUARDS_OF_8(X, 02)                                                                             \
    GUARDS_OF_8(X, 03)                                                                             \
    GUARDS_OF_8(X, 04) GUARDS_OF_8(X, 05) GUARDS_OF_8(X, 06) GUARDS_OF_8(X, 07)
#define GUARD(octal)                                                                               \
    static PJRT_Error *guard_##octal(PJRT_Executable_Destroy_Args *args) {                         \
        return guard(args, newer[octal]);                                                          \
    }
ALL_GUARDS(GUARD)
#define GUARD_NAME(octal) guard_##octal,
static newer_t *const guards[NEWER_MOST] = {ALL_GUARDS(GUARD_NAME)};

// Functions from one place to another.
static void guard_all(void *from, const void *to) {
    static size_t used;
    for (char *place = from; place + sizeof *newer <= (const char *)to && used < NEWER_MOST;
         place += sizeof *newer) {
        memcpy(&newer[used], place, sizeof *newer);
        if (newer[used]) memcpy(place, &guards[used], sizeof *newer);
        used += newer[used] != NULL;
    }
}

// The extensions that consist of functions of executables and of what these give.
static void guard_extensions(PJRT_Extension_Base *chain) {
    enum { METADATA = 13, TPU_EXECUTABLE = 17, ABI_VERSION = 20 }; // PJRT_Extension_Type
    for (PJRT_Extension_Base *at = chain; at; at = at->next) {
        int type = (int)at->type;
        if (type == METADATA || type == TPU_EXECUTABLE || type == ABI_VERSION)
            guard_all(at + 1, (char *)at + at->struct_size);
    }
}

// ---- the table ---------------------------------------------------------------------------------

static PJRT_Error *compile(PJRT_Compile_Args *args) {
    return keel_engine_compile_unloaded(engine, args);
}

// In a rehearsal, all executables are of one kind.
void keel_shim_take_compile(PJRT_Api *table, const PJRT_Api *real, keel_engine_t *compiling) {
    engine = compiling;
    if (keel_pjrt_has(real, PJRT_Compile)) table->PJRT_Compile = compile;
}

#define TAKE(function, ours)                                                                       \
    if (keel_pjrt_has(real, function)) table->function = (ours);

void keel_shim_take_unloaded(PJRT_Api *table, const PJRT_Api *real, keel_engine_t *compiling) {
    plugin = real;
    engine = compiling;
    next_destroy = table->PJRT_Executable_Destroy;
    next_serialize = table->PJRT_Executable_Serialize;
    next_optimized = table->PJRT_Executable_OptimizedProgram;
    EXECUTABLE_FUNCTIONS(TAKE)
    TAKE(PJRT_Executable_Destroy, destroy)
    TAKE(PJRT_Executable_Serialize, serialize)
    TAKE(PJRT_Executable_OptimizedProgram, optimized)
    TAKE(PJRT_Executable_Fingerprint, fingerprint)
    TAKE(PJRT_Compile, compile)
    guard_all((char *)table + PJRT_Api_STRUCT_SIZE, (char *)table + table->struct_size);
    PJRT_Extension_Base *chain;
    keel_status_t status = keel_rehearse_extensions(table->extension_start, &chain);
    if (!status && chain != table->extension_start) {
        guard_extensions(chain);
        table->extension_start = chain;
    }
    keel_status_ignore(status);
}
