// compiler: the real compiler of a target, in child processes.
//
// A plugin may crash, abort or take gigabytes while it compiles, and in a client's process it may
// be loaded already, in another state. So each child loads the plugin itself, makes the target's
// topology and compiles one program after the other. A child that ends fails the program that it
// had, and no other; the next program gets a new child. Children start when there is work for them.
//
// A child is `keel` with a subcommand of its own. If programs call functions of the client by name
// (handlers), it is the client's own Python, in which the libraries with these functions load; it
// runs the same code, from libkeel_pjrt.so. Either has its own process group, so a terminal's
// Ctrl-C does not reach it; it ends with this process, holds none of its files, and prints nothing:
// the end of what it wrote to stderr is in the error of a program that it could not compile.
//
// Ownership: a job is copied; the caller owns what it waited for.
// Threads: any function from any thread, except that nobody else may use a compiler that is being
// stopped. Compilers have one thread each, which starts and reads the children. A forked child of
// this process has no compiler: all calls fail there.
#ifndef KEEL_COMPILER_COMPILER_H_
#define KEEL_COMPILER_COMPILER_H_

#include "pjrt/memory.h"
#include "signature/signature.h"
#include "target/target.h"

typedef struct keel_compiler_t keel_compiler_t;

typedef struct keel_compiler_settings_t {
    const keel_target_t *target; // copied
    const char *plugin;          // path
    unsigned workers;            // children at most; 0: one for each core that this process may use
    // The program `keel`; NULL: KEEL_WORKER of the environment, else beside this library.
    const char *worker;
    // For handlers: a Python, and the path of libkeel_pjrt.so; NULL: this process's, and this one.
    const char *interpreter, *library;
} keel_compiler_settings_t;

// Starts no child yet.
keel_status_t keel_compiler_start(const keel_compiler_settings_t *settings,
                                  keel_compiler_t **out) KEEL_MUST_CHECK;
// Ends the children, whatever they do; those who wait get KEEL_REFUSED. NULL is allowed.
void keel_compiler_stop(keel_compiler_t *compiler);

// ---- programs ----------------------------------------------------------------------------------

typedef struct keel_job_t {
    keel_bytes_t code;
    const char *format;   // "mlir", "hlo"
    keel_bytes_t options; // CompileOptionsProto
    // Only how the compiler shards and lays out parameters and results: what comes back has an
    // optimized program that says so, and nothing else. It is an error of the program if the
    // compiler cannot stop there.
    bool is_partition;
    void *context; // of the caller
} keel_job_t;

// Returns at once. KEEL_INVALID for a program of more devices than the target has.
keel_status_t keel_compiler_submit(keel_compiler_t *compiler, const keel_job_t *job,
                                   uint64_t *out_id) KEEL_MUST_CHECK;

// An array that a trial gave.
typedef struct keel_result_t {
    keel_array_shape_t shape;
    keel_bytes_t bytes; // row by row; elements smaller than a byte take one each
} keel_result_t;

typedef struct keel_compiled_t {
    uint64_t id;
    void *context; // the job's
    // Why it does not compile, and the code of that: NULL and OK, or the compiler's own words, in
    // as many lines as it has.
    char *error;
    PJRT_Error_Code code;
    uint8_t *executable; // serialized
    size_t executable_size;
    uint8_t *program; // optimized; NULL if the compiler does not say
    size_t program_size;
    char *program_format; // NULL with it
    uint8_t *fingerprint; // NULL if the compiler does not say
    size_t fingerprint_size;
    bool has_memory;
    keel_program_memory_t memory;
    PJRT_NamedValue *costs;      // floats: "flops"; in `texts`
    size_t cost_count;           // 0: the compiler does not say
    double seconds, cpu_seconds; // of the compile alone, or of the shorter execution of a trial
    uint64_t peak_memory;        // of its child so far, in bytes
    keel_result_t *results;      // of a trial
    size_t result_count;
    keel_arena_t texts; // what results and costs point to
} keel_compiled_t;

enum { KEEL_COMPILER_ANY = 0 }; // an id of no job

// Waits until the job is done, or any job. Each job is handed out once; KEEL_NOT_FOUND for others.
// A program that does not compile is not a failure of this function, nor is lack of memory.
keel_status_t keel_compiler_wait(keel_compiler_t *compiler, uint64_t id,
                                 keel_compiled_t *out) KEEL_MUST_CHECK;
void keel_compiled_deinitialize(keel_compiled_t *compiled);

// ---- trials ------------------------------------------------------------------------------------

// An executable is loaded and executed on a child's own device, twice: with arguments of either
// sign, and with positive ones. Both are made from the seed and so are the same everywhere: numbers
// up to 1.5, which all types of floats have exactly, and integers up to 4, because they may be
// indices or sizes. Only targets that a child makes a client for (the processor) have a device.
typedef struct keel_trial_t {
    keel_bytes_t executable; // as keel_compiled_t has it
    const keel_array_shape_t *arguments;
    uint32_t argument_count;
    uint64_t seed;
    unsigned seconds; // that it may take; 0: any time
    void *context;    // of the caller
} keel_trial_t;

// As keel_compiler_submit: its results come from keel_compiler_wait, those of the first execution,
// then those of the second. A crash, or that it takes too long, is an error of this program. Few
// types have no values: KEEL_UNSUPPORTED, with a sentence about the type.
keel_status_t keel_compiler_try(keel_compiler_t *compiler, const keel_trial_t *trial,
                                uint64_t *out_id) KEEL_MUST_CHECK;

// The path of the program `keel`: `given`, or as for keel_compiler_settings_t if that is NULL. The
// caller frees it.
keel_status_t keel_compiler_find_worker(const char *given, char **out) KEEL_MUST_CHECK;

// ---- children ----------------------------------------------------------------------------------

// The subcommand of `keel` that is a child: it calls keel_compiler_work.
#define KEEL_COMPILER_COMMAND "compile-worker"

// What a child runs: compiles what comes through descriptor 3 until that is closed. Returns the
// exit code. The process belongs to it: it closes all other files but the first three.
int keel_compiler_work(void);

#endif // KEEL_COMPILER_COMPILER_H_
