// versions: which clients and plugins Keel was tested with, and what it says about others. This is
// the only list; `keel run`, `keel probe` and the plugin door use it.
//
// Versions are compared by their first two numbers: 0.12.3 counts as 0.12.0. If the bound has
// three, by the first three.
#ifndef KEEL_BUNDLE_VERSIONS_H_
#define KEEL_BUNDLE_VERSIONS_H_

#include "bundle/bundle.h"

// package, oldest and newest tested version, the file of the package that loads a plugin (up to a
// '*'), and the word in that file without which it cannot be pointed at Keel
#define KEEL_BUNDLE_CLIENTS_TRIED(X)                                                               \
    X("jax", "0.6.2", "0.12", "jax/_src/xla_bridge.py", "PJRT_NAMES_AND_LIBRARY_PATHS")            \
    X("torch-xla", "2.9", "2.9", "_XLAC.*", "PJRT_LIBRARY_PATH")

// PJRT API versions of plugins, of this Keel's major version. Programs ran with 0.81, 0.106 and
// 0.115; with 0.117 they were compiled.
enum { KEEL_BUNDLE_API_OLDEST = 81, KEEL_BUNDLE_API_NEWEST = 117 };

typedef enum keel_bundle_support {
    KEEL_BUNDLE_TRIED,
    KEEL_BUNDLE_OLDER,
    KEEL_BUNDLE_NEWER,
    KEEL_BUNDLE_IMPOSSIBLE, // it cannot load Keel, or Keel cannot load it
    KEEL_BUNDLE_UNKNOWN,    // it is missing, or has no version
} keel_bundle_support_t;

typedef struct keel_bundle_verdict_t {
    keel_bundle_support_t support;
    // One line: what it is, what is supported, what to do; "" if there is nothing to say.
    char text[512];
} keel_bundle_verdict_t;

// One of the table's packages, by its index. `looks`: reads the files of an older package to see
// whether it can load Keel. Not for a bundle of another machine, nor with a plugin for TPUs, which
// clients find in another way.
void keel_bundle_judge_client(const keel_bundle_t *bundle, size_t client, bool looks,
                              keel_bundle_verdict_t *out);
size_t keel_bundle_client_count(void);
const char *keel_bundle_client_name(size_t client);

void keel_bundle_judge_api(const char *plugin, int major, int minor, keel_bundle_verdict_t *out);
// From what the bundle says about the plugin.
void keel_bundle_judge_plugin(const keel_bundle_t *bundle, keel_bundle_verdict_t *out);

#endif // KEEL_BUNDLE_VERSIONS_H_
