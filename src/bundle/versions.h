// versions: which clients and plugins Keel was tested with, and what it says about others. This is
// the only list; `keel run`, `keel probe` and the plugin door use it.
//
// Versions are compared by their first two numbers: 0.12.3 counts as 0.12.0. If the bound has
// three, by the first three.
#ifndef KEEL_BUNDLE_VERSIONS_H_
#define KEEL_BUNDLE_VERSIONS_H_

#include "bundle/bundle.h"

// Packages, with the oldest and newest tested version.
enum { KEEL_BUNDLE_CLIENTS_TRIED = 2 };
extern const struct keel_bundle_tried_t {
    const char *name, *oldest, *newest;
} keel_bundle_tried[KEEL_BUNDLE_CLIENTS_TRIED];

// PJRT API versions of plugins, of this Keel's major version. Programs ran with 0.81, 0.106 and
// 0.115; with 0.75 (libtpu 0.0.21, which PyTorch/XLA pins) and 0.117 they were compiled.
enum { KEEL_BUNDLE_API_OLDEST = 75, KEEL_BUNDLE_API_NEWEST = 117 };

typedef enum keel_bundle_support {
    KEEL_BUNDLE_TRIED,
    KEEL_BUNDLE_OLDER,
    KEEL_BUNDLE_NEWER,
    KEEL_BUNDLE_IMPOSSIBLE, // Keel cannot load it
    KEEL_BUNDLE_UNKNOWN,    // it is missing, or has no version
} keel_bundle_support_t;

typedef struct keel_bundle_verdict_t {
    keel_bundle_support_t support;
    // One line: what it is, what is supported, what to do; "" if there is nothing to say.
    char text[512];
} keel_bundle_verdict_t;

// One of the packages above, by its index.
void keel_bundle_judge_client(const keel_bundle_t *bundle, size_t client,
                              keel_bundle_verdict_t *out);
// A plugin with that path and PJRT version, such as "0.81".
void keel_bundle_judge_api(const char *plugin, const char *api, keel_bundle_verdict_t *out);
// From what the bundle says about the plugin.
void keel_bundle_judge_plugin(const keel_bundle_t *bundle, keel_bundle_verdict_t *out);

#endif // KEEL_BUNDLE_VERSIONS_H_
