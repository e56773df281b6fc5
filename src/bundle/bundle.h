// bundle: everything that decides whether programs are the same and whether an installation works,
// as facts: versions of the client and the plugin, the plugin's file, flags, the machine, its
// devices, packages. A bundle is written as JSON and read back, and two bundles can be compared.
//
//   {"bundle": 1, "keel": {"version": "0.3.0", ...}, "plugin": {"path": ..., "build": ...}, ...}
//
// One object per section, one text per fact, in the order of the table below and by name within a
// section. A missing section means that its content is unknown; an empty one is known to be empty.
//
// All text is UTF-8: other bytes become U+FFFD when a fact is added. Names and values are cut at
// KEEL_BUNDLE_NAME_LIMIT and KEEL_BUNDLE_VALUE_LIMIT bytes, and there are at most KEEL_BUNDLE_FACTS
// facts, so a bundle in JSON stays below KEEL_BUNDLE_JSON_LIMIT bytes whatever it was made from;
// `left_out` counts the facts that did not fit.
//
// Secrets are kept out: the value of a variable whose name contains token, secret, key, password or
// the like is "***", and so is a password in a URL.
//
// Ownership: a bundle owns its text. Threads: a bundle belongs to one thread at a time. Functions
// that read the environment say so: no thread may change it meanwhile.
#ifndef KEEL_BUNDLE_BUNDLE_H_
#define KEEL_BUNDLE_BUNDLE_H_

#include "base/base.h"
#include "pjrt/pjrt.h"

// section, name, whether it is a list (then a name in only one bundle is a difference, not
// something unknown), content
#define KEEL_BUNDLE_SECTIONS(X)                                                                    \
    X(PLUGIN, "plugin", false, "the plugin: its file, versions, attributes and platform")          \
    X(FLAGS, "flags", true,                                                                        \
      "XLA_FLAGS and LIBTPU_INIT_ARGS, one by one, without those that only dump")                  \
    X(CPU, "cpu", false, "the processor: model, digest of its features, usable cores")             \
    X(DEVICES, "devices", true, "the client's devices by id: kind, physical name, process")        \
    X(KEEL, "keel", false, "Keel's version, and that of its keys")                                 \
    X(CLIENTS, "clients", true, "JAX, PyTorch/XLA and their packages, with git revisions")         \
    X(INTERPRETER, "interpreter", false, "the Python that runs them")                              \
    X(PACKAGES, "packages", true, "all packages of that Python")                                   \
    X(ENVIRONMENT, "environment", true, "KEEL_*, JAX_*, PJRT_*, XLA_*, TPU_* and such variables")  \
    X(SYSTEM, "system", false, "memory, kernel, C library, distribution")                          \
    X(SUPPORT, "support", true, "which of plugin and clients Keel was tested with; not compared")

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

// The interpreter's fact, in a client's bundle, that names the clients which this process has
// loaded: "jax", "torch-xla".
#define KEEL_BUNDLE_LOADED "clients loaded"
// The plugin's facts that say why it could not be used, and why Keel cannot work with it at all.
#define KEEL_BUNDLE_TROUBLE "trouble"
#define KEEL_BUNDLE_REFUSED "refused"

typedef struct keel_bundle_fact_t {
    keel_bundle_section_t section;
    const char *name, *value;
} keel_bundle_fact_t;

typedef struct keel_bundle_t {
    keel_arena_t arena;
    keel_bundle_fact_t *facts; // sorted by section and name after collecting or reading
    size_t count, room;
    size_t bytes; // of names and values
    size_t left_out;
    bool known[KEEL_BUNDLE_SECTION_COUNT];
} keel_bundle_t;

void keel_bundle_initialize(keel_bundle_t *bundle);
void keel_bundle_deinitialize(keel_bundle_t *bundle);

// The value of a fact, NULL if unknown.
const char *keel_bundle_find(const keel_bundle_t *bundle, keel_bundle_section_t section,
                             const char *name);

// ---- collecting --------------------------------------------------------------------------------

// What to collect; any pointer may be NULL.
typedef struct keel_bundle_request_t {
    // The Python, as for keel_python_find (NULL: the current one); ignored in a client.
    const char *interpreter;
    // This process is the client: collect its own Python, if it is one, and its mapped libraries.
    bool is_client;

    const char *plugin;         // its file, for the size, and the digest if `build` is NULL
    const keel_digest_t *build; // the digest, if known
    const char *digests;        // the folder that caches digests (keel_key_plugin_build)

    // If the plugin is loaded here: its table, and its client for platform and devices. Both are
    // only read.
    const PJRT_Api *api;
    PJRT_Client *device_client;

    // Called with each path before it is opened, which hangs if its disk is gone; called with NULL
    // before work that cannot hang.
    void (*looking)(const char *path);
} keel_bundle_request_t;

// Fills `out`, which must be initialized. Leaves out what cannot be determined; the only failure is
// KEEL_NO_MEMORY. Reads the environment, unless keel_bundle_environment was called before.
keel_status_t keel_bundle_collect(const keel_bundle_request_t *request,
                                  keel_bundle_t *out) KEEL_MUST_CHECK;

// The part that reads the environment: flags, variables, the interpreter and its package folders. A
// client does this on its own thread, in about 0.1 ms, and the rest elsewhere.
keel_status_t keel_bundle_environment(const keel_bundle_request_t *request,
                                      keel_bundle_t *out) KEEL_MUST_CHECK;

// Only the interpreter and its packages, with the clients among them.
keel_status_t keel_bundle_clients(const char *interpreter, keel_bundle_t *out) KEEL_MUST_CHECK;

// Only what a loaded plugin reports, and its client for platform and devices; `client` may be NULL.
keel_status_t keel_bundle_plugin(const PJRT_Api *api, PJRT_Client *client,
                                 keel_bundle_t *out) KEEL_MUST_CHECK;

// Adds a fact about the plugin; of several with one name, the first stays.
keel_status_t keel_bundle_plugin_fact(keel_bundle_t *bundle, const char *name,
                                      const char *value) KEEL_MUST_CHECK;

// ---- as JSON -----------------------------------------------------------------------------------

// One line, at most KEEL_BUNDLE_JSON_LIMIT bytes; see above. Check with keel_buffer_status.
void keel_bundle_json(const keel_bundle_t *bundle, keel_buffer_t *out);

// jansson's; include <jansson.h> to look inside.
struct json_t;

// Reads foreign JSON into `out`, which must be initialized. Skips unknown sections, facts and
// values. KEEL_INVALID if it is not a bundle, KEEL_UNSUPPORTED if it has a later form.
keel_status_t keel_bundle_take(const struct json_t *json, keel_bundle_t *out) KEEL_MUST_CHECK;
// The same from bytes: a bundle, or an object with a bundle in its field "bundle" (a journal event,
// or the output of `keel probe --json`).
keel_status_t keel_bundle_parse(keel_bytes_t bytes, keel_bundle_t *out) KEEL_MUST_CHECK;

#endif // KEEL_BUNDLE_BUNDLE_H_
