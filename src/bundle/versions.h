// versions: which clients and plugins Keel was tried with, and what it says of others. There is no
// other list; `keel run`, `keel bundle` and the plugin door go by this one.
//
// A version counts as tried by its first two numbers: 0.12.3 is as good as 0.12.0. By its first
// three where the bound has three.
#ifndef KEEL_BUNDLE_VERSIONS_H_
#define KEEL_BUNDLE_VERSIONS_H_

#include "bundle/bundle.h"

// package, oldest and newest that was tried, the file of the package that loads a plugin (up to a
// '*') and the word in it without which it cannot be pointed at Keel
#define KEEL_BUNDLE_CLIENTS_TRIED(X)                                                               \
    X("jax", "0.6.2", "0.12", "jax/_src/xla_bridge.py", "PJRT_NAMES_AND_LIBRARY_PATHS")            \
    X("torch-xla", "2.9", "2.9", "_XLAC.*", "PJRT_LIBRARY_PATH")

// package, its version, the PJRT API version that it was found to speak: no package tells it
#define KEEL_BUNDLE_CLIENTS_PJRT(X)                                                                \
    X("jax", "0.4.30", "0.54")                                                                     \
    X("torch-xla", "2.9.0", "0.75")

// PJRT API versions of plugins, of this Keel's major version. Run were 0.81, 0.106 and 0.115; with
// 0.117 programs were compiled.
enum { KEEL_BUNDLE_API_OLDEST = 81, KEEL_BUNDLE_API_NEWEST = 117 };

typedef enum keel_bundle_support {
    KEEL_BUNDLE_TRIED,
    KEEL_BUNDLE_OLDER,
    KEEL_BUNDLE_NEWER,
    KEEL_BUNDLE_IMPOSSIBLE, // it cannot load Keel, or Keel cannot load it
    KEEL_BUNDLE_UNKNOWN,    // it is not there, or tells no version
} keel_bundle_support_t;

const char *keel_bundle_support_name(keel_bundle_support_t support);

typedef struct keel_bundle_verdict_t {
    keel_bundle_support_t support;
    // One line: what it is, what is supported, what to do; "" where there is nothing to say.
    char text[512];
} keel_bundle_verdict_t;

// One of the table's packages, by its place there. `looks`: into the files of a package that is
// older, whether it can load Keel. Not for a bundle of another machine, nor behind a plugin for
// TPUs, which clients find in another way.
void keel_bundle_judge_client(const keel_bundle_t *bundle, size_t client, bool looks,
                              keel_bundle_verdict_t *out);
size_t keel_bundle_client_count(void);
const char *keel_bundle_client_name(size_t client);

void keel_bundle_judge_api(const char *plugin, int major, int minor, keel_bundle_verdict_t *out);
// From the bundle's "api"; unknown where it has none.
void keel_bundle_judge_plugin(const keel_bundle_t *bundle, keel_bundle_verdict_t *out);

#endif // KEEL_BUNDLE_VERSIONS_H_
