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
// is "?". They are cut at KEEL_BUNDLE_NAME_LIMIT and KEEL_BUNDLE_VALUE_LIMIT bytes, and a bundle in
// JSON stays below KEEL_BUNDLE_JSON_LIMIT bytes, whatever it was made from; `left_out` counts the
// facts that did not fit.
//
// Lack of memory sticks: add freely, then check keel_bundle_status once. What else goes wrong only
// leaves facts out.
//
// Secrets are kept out: the value of a variable whose name contains token, secret, key, password or
// the like is "***", and so is a password in a URL.
//
// Ownership: a bundle owns its text. Threads: a bundle belongs to one thread at a time. Functions
// that read the environment say so: no thread may change it meanwhile.
#ifndef KEEL_BUNDLE_BUNDLE_H_
#define KEEL_BUNDLE_BUNDLE_H_

#include "base/base.h"
#include "base/json.h"
#include "pjrt/pjrt.h"

// section, name, how it is compared, content
#define KEEL_BUNDLE_SECTIONS(X)                                                                    \
    X(PLUGIN, "plugin", PARTS, "the plugin: its file, versions, attributes and platform")          \
    X(FLAGS, "flags", LIST,                                                                        \
      "XLA_FLAGS and LIBTPU_INIT_ARGS, one by one, without those that only dump")                  \
    X(CPU, "cpu", PARTS, "the processor: model, digest of its features, usable cores")             \
    X(DEVICES, "devices", LIST, "the client's devices by id: kind, physical name, process")        \
    X(KEEL, "keel", PARTS, "Keel's version, and that of its keys")                                 \
    X(CLIENTS, "clients", LIST, "JAX, PyTorch/XLA and their packages")                             \
    X(INTERPRETER, "interpreter", PARTS, "the Python that runs them")                              \
    X(PACKAGES, "packages", LIST, "the other packages of that Python")                             \
    X(ENVIRONMENT, "environment", LIST, "KEEL_*, JAX_*, PJRT_*, XLA_*, TPU_* and such variables")  \
    X(SYSTEM, "system", PARTS, "memory, kernel, C library, distribution")                          \
    X(KEY, "key", PARTS, "a probe's: components of keys that the backend gives, as digests")       \
    X(MEMORY, "memory", ASIDE, "a probe's: the memory of each device, or why it is unknown")       \
    X(STEPS, "steps", PARTS, "a probe's: how each step ended")                                     \
    X(SETTINGS, "settings", PARTS, "a probe's: the settings")

typedef enum keel_bundle_section {
#define KEEL_BUNDLE_SECTION_ENUM(name, ...) KEEL_BUNDLE_##name,
    KEEL_BUNDLE_SECTIONS(KEEL_BUNDLE_SECTION_ENUM)
#undef KEEL_BUNDLE_SECTION_ENUM
        KEEL_BUNDLE_SECTION_COUNT,
} keel_bundle_section_t;

typedef enum keel_bundle_kind {
    KEEL_BUNDLE_PARTS, // a name in only one bundle is unknown in the other
    KEEL_BUNDLE_LIST,  // a name in only one bundle is a difference
    KEEL_BUNDLE_ASIDE, // not compared
} keel_bundle_kind_t;

extern const struct keel_bundle_section_facts_t {
    const char *name;
    keel_bundle_kind_t kind;
} keel_bundle_sections[KEEL_BUNDLE_SECTION_COUNT];

enum {
    KEEL_BUNDLE_VERSION = 1, // of the form above
    KEEL_BUNDLE_NAME_LIMIT = 128,
    KEEL_BUNDLE_VALUE_LIMIT = 2048,
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
    bool failed; // there was no memory
} keel_bundle_t;

void keel_bundle_initialize(keel_bundle_t *bundle);
void keel_bundle_deinitialize(keel_bundle_t *bundle);

// Adds a fact; of several with one name, the first stays.
void keel_bundle_add(keel_bundle_t *bundle, keel_bundle_section_t section, keel_str_t name,
                     keel_str_t value);
void keel_bundle_format(keel_bundle_t *bundle, keel_bundle_section_t section, const char *name,
                        const char *format, ...) KEEL_PRINTF(4, 5);
// A copy that lives as long as the bundle and is safe to show, as above; "" for an empty text.
const char *keel_bundle_keep(keel_bundle_t *bundle, keel_str_t text);
// Takes the status of an attempt to find something out.
void keel_bundle_forgive(keel_bundle_t *bundle, keel_status_t status);
// NULL, or KEEL_NO_MEMORY.
keel_status_t keel_bundle_status(const keel_bundle_t *bundle) KEEL_MUST_CHECK;
// The value of a fact, NULL if unknown.
const char *keel_bundle_find(const keel_bundle_t *bundle, keel_bundle_section_t section,
                             const char *name);
// By section and name: negative, 0 or positive.
int keel_bundle_order(const keel_bundle_fact_t *x, const keel_bundle_fact_t *y);

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

// Adds all of it. Reads the environment, unless keel_bundle_environment was called before.
void keel_bundle_collect(const keel_bundle_request_t *request, keel_bundle_t *out);
// The part that reads the environment: flags, variables, the interpreter and its package folders. A
// client does this on its own thread, in about 0.1 ms, and the rest elsewhere.
void keel_bundle_environment(const keel_bundle_request_t *request, keel_bundle_t *out);
// Only what a loaded plugin reports, and its client for platform and devices; `client` may be NULL.
void keel_bundle_plugin(const PJRT_Api *api, PJRT_Client *client, keel_bundle_t *out);
// Only the plugin's file: path, size, and the digest, which is computed unless `build` gives it.
// `digests` is the folder that caches digests (keel_key_plugin_build), or NULL.
void keel_bundle_plugin_file(const char *path, const keel_digest_t *build, const char *digests,
                             keel_bundle_t *out);

// ---- as JSON and as text -----------------------------------------------------------------------

// One line, at most KEEL_BUNDLE_JSON_LIMIT bytes; see above. Check with keel_buffer_status.
void keel_bundle_json(const keel_bundle_t *bundle, keel_buffer_t *out);
void keel_bundle_text(const keel_bundle_t *bundle, keel_buffer_t *out);
// Nothing for a section that is not known.
void keel_bundle_section_text(const keel_bundle_t *bundle, keel_bundle_section_t section,
                              keel_buffer_t *out);

// Adds what foreign JSON has: a bundle, or an object with a bundle in its member "bundle" (a
// journal event, or the output of `keel probe --json`). Skips unknown sections, facts and values.
// KEEL_INVALID if it is not a bundle, KEEL_UNSUPPORTED if it has a later form.
keel_status_t keel_bundle_parse(keel_bytes_t bytes, keel_bundle_t *out) KEEL_MUST_CHECK;

// ---- comparing ---------------------------------------------------------------------------------

// How much a difference matters. A fact that only one of the bundles knows is not a difference; its
// section is listed as not fully compared.
typedef enum keel_bundle_weight {
    KEEL_BUNDLE_WEIGHT_KEYS,    // it changes keys, so programs are compiled again
    KEEL_BUNDLE_WEIGHT_CLIENT,  // it may make different programs
    KEEL_BUNDLE_WEIGHT_PACKAGE, // another package
    KEEL_BUNDLE_WEIGHT_REST,
    KEEL_BUNDLE_WEIGHT_COUNT,
} keel_bundle_weight_t;

typedef struct keel_bundle_change_t {
    keel_bundle_weight_t weight;
    keel_bundle_section_t section;
    const char *name;
    const char *old_value, *new_value; // NULL: not there
} keel_bundle_change_t;

typedef struct keel_bundle_changes_t {
    keel_bundle_change_t *list; // by weight, section and name; borrows the bundles' text
    size_t count;
    bool untold[KEEL_BUNDLE_SECTION_COUNT]; // unknown, in part or entirely, in one of the two
} keel_bundle_changes_t;

// Deinitialize *out even on failure, which is KEEL_NO_MEMORY.
keel_status_t keel_bundle_compare(const keel_bundle_t *old, const keel_bundle_t *new,
                                  keel_bundle_changes_t *out) KEEL_MUST_CHECK;
void keel_bundle_changes_deinitialize(keel_bundle_changes_t *changes);

void keel_bundle_changes_text(const keel_bundle_changes_t *changes, keel_buffer_t *out);
// As members of an object: "changes" and "untold".
void keel_bundle_changes_json(const keel_bundle_changes_t *changes, keel_json_t *json);

#endif // KEEL_BUNDLE_BUNDLE_H_
