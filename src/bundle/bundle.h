// bundle: everything that decides whether programs are the same and whether an installation works,
// as facts: versions of the client and the plugin, the plugin's file, flags, the machine, its
// devices, packages. A bundle is written as JSON and read back, and two bundles can be compared.
//
//   {"bundle": 1, "keel": {"version": "0.3.0", ...}, "plugin": {"path": ..., "build": ...}, ...}
//
// One object per section, one text per fact, in the order of the table below and by name within a
// section. A missing section means that its content is unknown; an empty one is known to be empty.
//
// Each name and value is one line that is safe to show: what is not UTF-8 or may act on a terminal
// is "?". They are cut at KEEL_BUNDLE_NAME_LIMIT and KEEL_BUNDLE_VALUE_LIMIT bytes, and there are
// at most KEEL_BUNDLE_FACTS facts, so a bundle in JSON stays below KEEL_BUNDLE_JSON_LIMIT bytes
// whatever it was made from; `left_out` counts the facts that did not fit.
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

// section, name, how it is compared, content
#define KEEL_BUNDLE_SECTIONS(X)                                                                    \
    X(PLUGIN, "plugin", PARTS, "the plugin: its file, versions, attributes and platform")          \
    X(FLAGS, "flags", LIST,                                                                        \
      "XLA_FLAGS and LIBTPU_INIT_ARGS, one by one, without those that only dump")                  \
    X(CPU, "cpu", PARTS, "the processor: model, digest of its features, usable cores")             \
    X(DEVICES, "devices", LIST, "the client's devices by id: kind, physical name, process")        \
    X(KEEL, "keel", PARTS, "Keel's version, and that of its keys")                                 \
    X(CLIENTS, "clients", LIST, "JAX, PyTorch/XLA and their packages, with git revisions")         \
    X(INTERPRETER, "interpreter", PARTS, "the Python that runs them")                              \
    X(PACKAGES, "packages", LIST, "all packages of that Python")                                   \
    X(ENVIRONMENT, "environment", LIST, "KEEL_*, JAX_*, PJRT_*, XLA_*, TPU_* and such variables")  \
    X(SYSTEM, "system", PARTS, "memory, kernel, C library, distribution")                          \
    X(KEY, "key", PARTS, "a probe's: components of keys that the backend gives, as digests")       \
    X(MEMORY, "memory", ASIDE, "a probe's: the memory of each device, or why it is unknown")       \
    X(STEPS, "steps", ASIDE, "a probe's: how each step ended")                                     \
    X(SETTINGS, "settings", ASIDE, "a probe's: the settings")

typedef enum keel_bundle_section {
#define KEEL_BUNDLE_SECTION_ENUM(name, ...) KEEL_BUNDLE_##name,
    KEEL_BUNDLE_SECTIONS(KEEL_BUNDLE_SECTION_ENUM)
#undef KEEL_BUNDLE_SECTION_ENUM
        KEEL_BUNDLE_SECTION_COUNT,
} keel_bundle_section_t;

const char *keel_bundle_section_name(keel_bundle_section_t section);

typedef enum keel_bundle_kind {
    KEEL_BUNDLE_PARTS, // a name in only one bundle is unknown in the other
    KEEL_BUNDLE_LIST,  // a name in only one bundle is a difference
    KEEL_BUNDLE_ASIDE, // not compared
} keel_bundle_kind_t;

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
    keel_bundle_fact_t *facts; // by section and name
    size_t count, room;
    size_t bytes; // of names and values
    size_t left_out;
    bool known[KEEL_BUNDLE_SECTION_COUNT];
} keel_bundle_t;

void keel_bundle_initialize(keel_bundle_t *bundle);
void keel_bundle_deinitialize(keel_bundle_t *bundle);

// Adds a fact; of several with one name, the first stays. Fails only with KEEL_NO_MEMORY.
keel_status_t keel_bundle_add(keel_bundle_t *bundle, keel_bundle_section_t section, keel_str_t name,
                              keel_str_t value) KEEL_MUST_CHECK;
keel_status_t keel_bundle_format(keel_bundle_t *bundle, keel_bundle_section_t section,
                                 const char *name, const char *format, ...)
    KEEL_PRINTF(4, 5) KEEL_MUST_CHECK;
// A copy that is safe to show, as above; "" for an empty text.
keel_status_t keel_bundle_clean(keel_arena_t *arena, keel_str_t text, size_t limit,
                                const char **out) KEEL_MUST_CHECK;
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

    const char *plugin;         // as for keel_bundle_plugin_file
    const keel_digest_t *build; //

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

// Only the plugin's file: path, size, and the digest, which is computed unless `build` gives it.
// `digests` is the folder that caches digests (keel_key_plugin_build), or NULL.
keel_status_t keel_bundle_plugin_file(const char *path, const keel_digest_t *build,
                                      const char *digests, keel_bundle_t *out) KEEL_MUST_CHECK;

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
