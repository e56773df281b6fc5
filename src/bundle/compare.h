// compare: the differences between two bundles, and how both are shown to people.
//
// A fact that only one of them knows is not a difference; its section is listed as not fully
// compared.
#ifndef KEEL_BUNDLE_COMPARE_H_
#define KEEL_BUNDLE_COMPARE_H_

#include "bundle/bundle.h"

// How much a difference matters: enum, word in JSON, heading.
#define KEEL_BUNDLE_WEIGHTS(X)                                                                     \
    X(KEYS, "keys", "changes keys, so programs are compiled again")                                \
    X(CLIENT, "client", "clients, plugins and variables, which may make different programs")       \
    X(PACKAGE, "package", "other packages")                                                        \
    X(REST, "rest", "the rest")

typedef enum keel_bundle_weight {
#define KEEL_BUNDLE_WEIGHT_ENUM(name, ...) KEEL_BUNDLE_WEIGHT_##name,
    KEEL_BUNDLE_WEIGHTS(KEEL_BUNDLE_WEIGHT_ENUM)
#undef KEEL_BUNDLE_WEIGHT_ENUM
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

// ---- text.c: check with keel_buffer_status -----------------------------------------------------

void keel_bundle_text(const keel_bundle_t *bundle, keel_buffer_t *out);
// Nothing for a section that is not known.
void keel_bundle_section_text(const keel_bundle_t *bundle, keel_bundle_section_t section,
                              keel_buffer_t *out);
// Those of weight `last` and above. Values are cut unless `whole`.
void keel_bundle_changes_text(const keel_bundle_changes_t *changes, bool whole,
                              keel_bundle_weight_t last, keel_buffer_t *out);
// As members of an object: "changes" and "untold".
void keel_bundle_changes_json(const keel_bundle_changes_t *changes, keel_json_t *json);

#endif // KEEL_BUNDLE_COMPARE_H_
