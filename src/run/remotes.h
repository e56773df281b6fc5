// remotes: what each remote answered in a run, and from which tier its programs came, read from its
// journal. Ownership: texts live in the arena that they were read into.
#ifndef KEEL_RUN_REMOTES_H_
#define KEEL_RUN_REMOTES_H_

#include "base/base.h"
#include "run/texts.h"

struct json_t;

// Why what a remote may have was not used; what it does not have is no trouble.
#define KEEL_REMOTE_TROUBLES(X)                                                                    \
    X(UNTRUSTED, "untrusted")                                                                      \
    X(REFUSED, "refused")                                                                          \
    X(FAILED, "failed")                                                                            \
    X(OTHER, "other") /* what it has of the script is for other clients */

typedef enum keel_remote_trouble_t {
#define KEEL_REMOTE_ENUM(name, word) KEEL_REMOTE_##name,
    KEEL_REMOTE_TROUBLES(KEEL_REMOTE_ENUM)
#undef KEEL_REMOTE_ENUM
        KEEL_REMOTE_TROUBLE_COUNT,
} keel_remote_trouble_t;
const char *keel_remote_trouble_word(keel_remote_trouble_t trouble);

typedef struct keel_remote_use_t {
    const char *url;
    uint64_t found, absent, bytes;
    uint64_t troubles[KEEL_REMOTE_TROUBLE_COUNT];
    const char *whys[KEEL_REMOTE_TROUBLE_COUNT]; // the first of each; "" if unknown
    double seconds, slowest;                     // of all answers; of one
} keel_remote_use_t;

// Loads by tier, in the order in which the tiers were first met.
typedef struct keel_tier_use_t {
    const char *name;
    uint64_t loads;
} keel_tier_use_t;

enum { KEEL_REMOTE_USES = 64, KEEL_TIER_USES = 80 }; // what exceeds that is left out

typedef struct keel_remote_uses_t {
    keel_remote_use_t list[KEEL_REMOTE_USES];
    size_t count;
    keel_tier_use_t tiers[KEEL_TIER_USES];
    size_t tier_count;
    keel_map_t unused; // key of a program in hex -> the first remote and its trouble
} keel_remote_uses_t;

void keel_remote_uses_initialize(keel_remote_uses_t *uses);
void keel_remote_uses_deinitialize(keel_remote_uses_t *uses);
// One event "remote"; *out_tier: of an event "load".
keel_status_t keel_remote_uses_add(keel_remote_uses_t *uses, const struct json_t *event,
                                   keel_texts_t *texts) KEEL_MUST_CHECK;
keel_status_t keel_remote_uses_load(keel_remote_uses_t *uses, const char *tier, uint64_t times,
                                    keel_texts_t *texts, const char **out_tier) KEEL_MUST_CHECK;
bool keel_remote_uses_has(const keel_remote_uses_t *uses, const char *tier);
// Why no remote had that program; NULL: no trouble is known.
const keel_remote_use_t *keel_remote_uses_trouble(const keel_remote_uses_t *uses, const char *key,
                                                  keel_remote_trouble_t *out);
uint64_t keel_remote_use_troubles(const keel_remote_use_t *use);

#endif // KEEL_RUN_REMOTES_H_
