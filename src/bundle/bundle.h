// bundle: everything that decides whether programs are the same and whether an installation works,
// as facts: versions of the client and of the plugin, the plugin's file, flags, the machine, its
// devices, packages. A bundle is written as JSON and read back, and two of them are compared.
//
//   {"bundle": 1, "keel": {"version": "0.3.0", ...}, "plugin": {"path": ..., "build": ...}, ...}
//
// One object a section, one text a fact, in the order of the table below and by name within a
// section. A section that is left out is one that nobody could tell; an empty one is known to be
// empty.
//
// All text is UTF-8: bytes that are not become U+FFFD when a fact is added. Names and values are
// cut at KEEL_BUNDLE_NAME_LIMIT and KEEL_BUNDLE_VALUE_LIMIT bytes, and there are at most
// KEEL_BUNDLE_FACTS facts, so that a bundle in JSON stays below KEEL_BUNDLE_JSON_LIMIT bytes
// whatever it was made from; `left_out` counts what went.
//
// Secrets do not get in: the value of a variable whose name speaks of a token, secret, key or
// password is "***", and so is a password within a URL.
//
// Ownership: a bundle owns its text. Threads: a bundle belongs to one thread at a time. What reads
// the environment says so: no thread may change that meanwhile.
#ifndef KEEL_BUNDLE_BUNDLE_H_
#define KEEL_BUNDLE_BUNDLE_H_

#include "base/base.h"
#include "pjrt/pjrt.h"

// section, name, is it a list (a name in one bundle alone is a difference, not something unknown),
// what it holds
#define KEEL_BUNDLE_SECTIONS(X)                                                                    \
    X(PLUGIN, "plugin", false, "the plugin: its file, versions, attributes and platform")          \
    X(FLAGS, "flags", true, "XLA_FLAGS and LIBTPU_INIT_ARGS, one by one, less what only dumps")    \
    X(CPU, "cpu", false, "the processor: model, digest of its features, cores that may be used")   \
    X(DEVICES, "devices", true, "the client's devices by id: kind, physical name, process")        \
    X(KEEL, "keel", false, "Keel's version, and that of its keys")                                 \
    X(CLIENTS, "clients", true, "JAX, PyTorch/XLA and what they bring, with git revisions")        \
    X(INTERPRETER, "interpreter", false, "the Python that runs them")                              \
    X(PACKAGES, "packages", true, "all packages of that Python")                                   \
    X(ENVIRONMENT, "environment", true, "KEEL_*, JAX_*, PJRT_*, XLA_*, TPU_* and such variables")  \
    X(SYSTEM, "system", false, "memory, kernel, C library, distribution")

typedef enum keel_bundle_section {
#define KEEL_BUNDLE_SECTION_ENUM(name, ...) KEEL_BUNDLE_##name,
    KEEL_BUNDLE_SECTIONS(KEEL_BUNDLE_SECTION_ENUM)
#undef KEEL_BUNDLE_SECTION_ENUM
        KEEL_BUNDLE_SECTION_COUNT,
} keel_bundle_section_t;

const char *keel_bundle_section_name(keel_bundle_section_t section);

enum {
    KEEL_BUNDLE_VERSION = 1, // of the form above
    KEEL_BUNDLE_NAME_LIMIT = 128,
    KEEL_BUNDLE_VALUE_LIMIT = 2048,
    KEEL_BUNDLE_FACTS = 4096,
    KEEL_BUNDLE_JSON_LIMIT = 1 << 19,
};

// The fact among the interpreter's that names the clients this process has loaded, where the bundle
// is a client's: "jax", "torch-xla".
#define KEEL_BUNDLE_LOADED "clients loaded"

typedef struct keel_bundle_fact_t {
    keel_bundle_section_t section;
    const char *name, *value;
} keel_bundle_fact_t;

typedef struct keel_bundle_t {
    keel_arena_t arena;
    keel_bundle_fact_t *facts; // sorted by section and name once it was collected or read
    size_t count, room;
    size_t bytes; // of names and values
    size_t left_out;
    bool known[KEEL_BUNDLE_SECTION_COUNT];
} keel_bundle_t;

void keel_bundle_initialize(keel_bundle_t *bundle);
void keel_bundle_deinitialize(keel_bundle_t *bundle);

// The value of a fact, NULL where it is not known. Of a bundle that is sorted.
const char *keel_bundle_find(const keel_bundle_t *bundle, keel_bundle_section_t section,
                             const char *name);

// ---- collecting --------------------------------------------------------------------------------

// What to look at; any pointer may be NULL.
typedef struct keel_bundle_request_t {
    // The Python, as keel_python_find takes it (NULL: the one in force); ignored in a client.
    const char *interpreter;
    // This process is the client: its own Python is told, if it is one, and what is mapped into it.
    bool is_client;

    const char *plugin;         // path of its file; its size, and its digest unless `build` has it
    const keel_digest_t *build; // the digest, where it is known
    const char *digests;        // the folder that remembers digests (keel_key_plugin_build)

    // Where the plugin is loaded here, its table, and its client for platform and devices; both are
    // only read.
    const PJRT_Api *api;
    PJRT_Client *device_client;

    // Otherwise: load the plugin, and make a client of it unless `no_client`, in a child process
    // that may die; for at most so many seconds. 0: do not load it.
    unsigned load_seconds;
    bool no_client;

    // Told of each path before it is looked at, which never ends where its disk is gone; NULL
    // before what ends by itself.
    void (*looking)(const char *path);
} keel_bundle_request_t;

// Fills `out`, which must be initialized. What cannot be found out is left out; the only failure is
// KEEL_NO_MEMORY. Reads the environment, unless keel_bundle_environment was called before.
keel_status_t keel_bundle_collect(const keel_bundle_request_t *request,
                                  keel_bundle_t *out) KEEL_MUST_CHECK;

// The part that reads the environment: flags, variables, the interpreter and where its packages
// are. A client does this on its own thread, some 0.1 ms, and the rest elsewhere.
keel_status_t keel_bundle_environment(const keel_bundle_request_t *request,
                                      keel_bundle_t *out) KEEL_MUST_CHECK;

// No more than what versions are judged by: clients and the plugin's API. `interpreter` NULL: no
// clients.
keel_status_t keel_bundle_versions(const char *interpreter, const char *plugin, unsigned seconds,
                                   keel_bundle_t *out) KEEL_MUST_CHECK;

// ---- as JSON -----------------------------------------------------------------------------------

// One line, at most KEEL_BUNDLE_JSON_LIMIT bytes; see above. Look with keel_buffer_status.
void keel_bundle_json(const keel_bundle_t *bundle, keel_buffer_t *out);

// jansson's; include <jansson.h> to look inside.
struct json_t;

// Reads foreign JSON into `out`, which must be initialized. Sections, facts and values that it does
// not know are skipped. KEEL_INVALID where it is no bundle, KEEL_UNSUPPORTED where it is one of a
// later form.
keel_status_t keel_bundle_take(const struct json_t *json, keel_bundle_t *out) KEEL_MUST_CHECK;
// The same from bytes: a bundle, or an object with a bundle in its field "bundle" (an event of a
// journal, or what `keel probe --json` prints).
keel_status_t keel_bundle_parse(keel_bytes_t bytes, keel_bundle_t *out) KEEL_MUST_CHECK;

#endif // KEEL_BUNDLE_BUNDLE_H_
