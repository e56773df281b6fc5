// key: what makes two compiles the same.
//
// A key is a list of named components, all recorded with their digests, and one digest over them in
// order. Two programs share a key only if their executables are interchangeable; anything that is
// not understood is hashed byte by byte. So two keys can be compared component by component, and
// the component that changed explains a miss after a restart.
//
// Every hashed input is framed: a tag, its length, its bytes. Golden keys in tests/golden fix the
// canonical form; a change of it must raise KEEL_KEY_VERSION. A component that only some programs
// have is left out of the digest of all others.
#ifndef KEEL_KEY_KEY_H_
#define KEEL_KEY_KEY_H_

#include "base/base.h"
#include "program/program.h"

enum { KEEL_KEY_VERSION = 2 };
// Longer readable texts of components are cut. JAX's compile options take 4 KB.
enum { KEEL_KEY_VALUE_LIMIT = 16384 };

// component, name that people see, content
#define KEEL_KEY_COMPONENTS(X)                                                                     \
    X(PROGRAM, "program", "the canonical form of the program")                                     \
    X(OPTIONS, "compile options", "CompileOptionsProto, decoded, without dump settings")           \
    X(XLA_FLAGS, "XLA_FLAGS", "sorted name=value pairs that can change code")                      \
    X(LIBTPU_FLAGS, "LIBTPU_INIT_ARGS", "the same for LIBTPU_INIT_ARGS")                           \
    X(ENVIRONMENT, "environment", "other variables that libraries of the backend read, sorted")    \
    X(PLUGIN_BUILD, "plugin build", "digest of the plugin's file")                                 \
    X(PLATFORM, "platform", "name, version and attributes from the plugin")                        \
    X(TOPOLOGY, "topology", "the serialized topology, or what is known about it")                  \
    X(DEVICE_KINDS, "device kinds", "kind and count of all devices, number of processes")          \
    X(DEVICE_ASSIGNMENT, "device assignment", "the devices that the options name")                 \
    X(CREATE_OPTIONS, "create options", "options that the client was made with, sorted")           \
    X(CPU, "cpu", "features and schedulable CPUs, if the platform is CPU")                         \
    X(TOOLKIT, "toolkit", "tools of the CUDA toolkit that the plugin finds, if it is for GPUs")    \
    X(KERNELS, "kernels", "builds of the client's kernels that the program calls by name, if any") \
    X(KEY_VERSION, "key version", "the version of this list and of the canonical form")

typedef enum keel_component {
#define KEEL_COMPONENT_ENUM(name, text, sentence) KEEL_COMPONENT_##name,
    KEEL_KEY_COMPONENTS(KEEL_COMPONENT_ENUM)
#undef KEEL_COMPONENT_ENUM
        KEEL_COMPONENT_COUNT,
} keel_component_t;

const char *keel_component_name(keel_component_t component);
// KEEL_COMPONENT_COUNT if no component has that name.
keel_component_t keel_component_by_name(keel_str_t name);

typedef struct keel_key_t {
    keel_digest_t digest; // over all components, by keel_key_finish
    keel_digest_t components[KEEL_COMPONENT_COUNT];
    // Readable text of each, as `keel key` shows it; "" if there is none. Owned.
    char *values[KEEL_COMPONENT_COUNT];
} keel_key_t;

void keel_key_initialize(keel_key_t *key);
void keel_key_deinitialize(keel_key_t *key);
// Whether the component is set.
bool keel_key_has(const keel_key_t *key, keel_component_t component);
keel_status_t keel_key_copy(const keel_key_t *key, keel_key_t *out) KEEL_MUST_CHECK;

// Sets a component from its canonical bytes; `value` is the readable text (copied; cut at
// KEEL_KEY_VALUE_LIMIT bytes).
keel_status_t keel_key_set(keel_key_t *key, keel_component_t component, keel_bytes_t canonical,
                           keel_str_t value) KEEL_MUST_CHECK;
// Computes the digest over all components (and sets KEY_VERSION).
keel_status_t keel_key_finish(keel_key_t *key) KEEL_MUST_CHECK;

// ---- program -----------------------------------------------------------------------------------

// Whether this program's executable may be kept and given to others.
typedef struct keel_cacheable_t {
    bool yes;
    char reason[256]; // why not: "custom call CustomSPMDPartitioning embeds a host pointer"
    char target[128]; // the custom call's target; "" if the reason is another
} keel_cacheable_t;

// The digest of the canonical form. Left out: locations, names of modules, functions, arguments and
// results, private symbol names, the order of private functions and of dictionary entries.
//
// An unset sharding and {replicated} count as the same if no partitioner can tell them apart: if
// nothing in the program is sharded, or there is one partition. Otherwise they differ, because
// propagation may choose an unset sharding but not a replicated one (seen with Shardy: the
// executables take and return different shards; with GSPMD: for results). The options say how many
// partitions there are, and whether shardings are searched for: XLA uses them, not what the module
// says. Options that cannot be read keep the two apart.
keel_status_t keel_key_program_under(const keel_program_t *program, keel_bytes_t options,
                                     keel_digest_t *out) KEEL_MUST_CHECK;
// The same for unknown options: partitions as in the module, and no search.
keel_status_t keel_key_program(const keel_program_t *program, keel_digest_t *out) KEEL_MUST_CHECK;

// Checks all operations against the allow-list of custom calls. `vouched` is a comma-separated list
// of typed-FFI targets that the user vouches for; may be NULL.
void keel_key_cacheable(const keel_program_t *program, const char *vouched, keel_cacheable_t *out);
// What the reason says, behind the target, if naming the target in `vouched` may help.
#define KEEL_KEY_UNKNOWN_CALL "is not known to be safe to store"
// Whether an operation with these attributes calls what a number in its configuration points to, in
// the process that wrote it: each time that a client writes the program, it is another one.
bool keel_key_calls_by_address(const keel_program_t *program, keel_attr_id_t attributes);
// Whether it calls functions of the client that the client has to name for each executable or for
// each execution: jax.debug.print, jax.pure_callback and the like.
keel_status_t keel_key_calls_back(const keel_program_t *program, bool *out) KEEL_MUST_CHECK;

// The names that the program's custom calls have, sorted, each once. The names are the program's;
// the caller frees *out with keel_free.
keel_status_t keel_key_calls(const keel_program_t *program, keel_str_t **out,
                             size_t *out_count) KEEL_MUST_CHECK;

// The build of the library that has the client's kernel of that name; *out_known is false if there
// is no such kernel.
typedef keel_status_t keel_build_of_t(void *context, keel_str_t kernel, bool *out_known,
                                      keel_digest_t *out);
// Sets KERNELS, or leaves it unset if the program calls none. On failure it is unset.
keel_status_t keel_key_set_kernels(keel_key_t *key, const keel_program_t *program,
                                   keel_build_of_t *build_of, void *context) KEEL_MUST_CHECK;

// ---- everything else ---------------------------------------------------------------------------

// Decodes a CompileOptionsProto into its canonical bytes: fields in order of number, maps sorted,
// everything that cannot change code left out, and the device assignment separate. If it cannot be
// decoded, the canonical bytes are the raw ones after a tag, and *out_understood is false. If the
// `backends` that they are for are GPUs, then so are the tools of the CUDA toolkit that the
// options choose (toolkit.h).
keel_status_t keel_key_options(keel_bytes_t options, unsigned backends, keel_buffer_t *canonical,
                               keel_buffer_t *assignment, keel_buffer_t *readable,
                               bool *out_understood) KEEL_MUST_CHECK;

// Appends options that say the same, with their maps in order, so that equal ones have equal bytes.
// What is no protobuf is appended as it is.
keel_status_t keel_key_options_in_order(keel_bytes_t options, keel_buffer_t *out) KEEL_MUST_CHECK;

// Writes the readable text of a component with names instead of the numbers of debug options:
// "debug.99=1" becomes "xla_cpu_enable_fast_math=1". They are stored as numbers, since a client
// sends hundreds of them.
keel_status_t keel_key_spell_out(keel_str_t value, keel_buffer_t *out) KEEL_MUST_CHECK;

// Splits XLA_FLAGS as XLA does, sorts, drops what cannot change code: "name=value\n"...
// `flags` may be NULL (unset is the same as empty).
keel_status_t keel_key_flags(const char *flags, keel_buffer_t *canonical) KEEL_MUST_CHECK;
// The same with nothing dropped and nothing added: what was given.
keel_status_t keel_key_flags_given(const char *flags, keel_buffer_t *out) KEEL_MUST_CHECK;

// The text that XLA_FLAGS gives a flag, the last one if there are several, appended; none if
// `flags` is NULL.
keel_status_t keel_key_flag_text(const char *flags, const char *name,
                                 keel_buffer_t *out) KEEL_MUST_CHECK;

// The number that XLA_FLAGS gives a flag, the last one if there are several. False if there is
// none, or the flags cannot be read.
bool keel_key_flag_number(const char *flags, const char *name, int64_t *out);

// What XLA is asked to write. It is not part of a key: compiling gives the same executable.
typedef struct keel_dumps_t {
    const char *asked;    // the first flag that asks for output ("xla_dump_to"); NULL: none
    const char *compiles; // the first of those whose output only a compile writes, not a load
    bool is_off;          // xla_enable_dumping=false
    bool only_reads;      // XLA adds nothing to its caches of decisions
    // The values of xla_dump_to and xla_dump_hlo_module_re, of options only; borrowed from them.
    keel_str_t folder, modules;
    keel_str_t toolkit; // the value of xla_gpu_cuda_data_dir, borrowed in the same way
    bool is_complete;   // the options have debug options, which XLA uses instead of XLA_FLAGS
} keel_dumps_t;

// The first flag that asks, or NULL.
static inline const char *keel_dumps_asked(const keel_dumps_t *dumps) {
    return dumps->is_off ? NULL : dumps->asked;
}
// The same of XLA_FLAGS, which may be NULL.
const char *keel_key_dumps_of_flags(const char *flags);
void keel_key_dumps_of_options(keel_bytes_t options, keel_dumps_t *out);
// Appends the options without what asks for output. KEEL_CORRUPT if they cannot be read.
keel_status_t keel_key_options_without_dumps(keel_bytes_t options,
                                             keel_buffer_t *out) KEEL_MUST_CHECK;

// The kinds of backends: whose libraries read a variable.
enum { KEEL_BACKEND_CPU = 1, KEEL_BACKEND_GPU = 2, KEEL_BACKEND_TPU = 4 };
// By the name of a platform ("cpu", "cuda"); all for an unknown one.
unsigned keel_key_backends(const char *platform);
// The variables of the environment that count for these backends, sorted: "NAME=value\n"...
keel_status_t keel_key_environment(unsigned backends, keel_buffer_t *canonical) KEEL_MUST_CHECK;
bool keel_key_has_variable(keel_str_t name, unsigned backends);

// Processor: vendor, model, features, schedulable CPUs; and the threads that XLA's CPU client
// splits code for, if they are not those of its `devices` on these CPUs.
keel_status_t keel_key_cpu(uint64_t devices, keel_buffer_t *canonical) KEEL_MUST_CHECK;

// The digest of a plugin's file, cached in `folder` (made if missing) by device, inode, size and
// times. Without a writable folder (or with NULL), the file is hashed each time.
keel_status_t keel_key_plugin_build(const char *path, const char *folder,
                                    keel_digest_t *out) KEEL_MUST_CHECK;
// Where the process caches digests of compiler tools in the same way; the first one counts.
void keel_key_keep_digests(const char *folder);

#endif // KEEL_KEY_KEY_H_
