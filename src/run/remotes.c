#include "run/remotes.h"

#include <jansson.h>

#include "run/steps.h"

static const char *const words[] = {
#define WORD(name, word) [KEEL_REMOTE_##name] = word,
    KEEL_REMOTE_TROUBLES(WORD)
#undef WORD
};

const char *keel_remote_trouble_word(keel_remote_trouble_t trouble) {
    return words[trouble];
}

void keel_remote_uses_initialize(keel_remote_uses_t *uses) {
    *uses = (keel_remote_uses_t){.count = 0};
    keel_map_initialize(&uses->unused);
}

void keel_remote_uses_deinitialize(keel_remote_uses_t *uses) {
    keel_map_deinitialize(&uses->unused);
}

// NULL if there are too many.
static keel_status_t use_of(keel_remote_uses_t *uses, const char *url, keel_texts_t *texts,
                            keel_remote_use_t **out) {
    *out = NULL;
    for (size_t i = 0; i < uses->count && !*out; ++i)
        if (strcmp(uses->list[i].url, url) == 0) *out = &uses->list[i];
    if (*out || uses->count == KEEL_REMOTE_USES) return NULL;
    keel_remote_use_t *use = &uses->list[uses->count];
    *use = (keel_remote_use_t){.found = 0};
    for (size_t i = 0; i < KEEL_REMOTE_TROUBLE_COUNT; ++i)
        use->whys[i] = "";
    KEEL_TRY(keel_texts_keep(texts, url, &use->url));
    ++uses->count;
    *out = use;
    return NULL;
}

static keel_status_t add_trouble(keel_remote_uses_t *uses, keel_remote_use_t *use, size_t trouble,
                                 const json_t *event, keel_texts_t *texts) {
    keel_bytes_t key = keel_str_bytes(keel_str(keel_event_text(event, "key")));
    uint64_t packed = (uint64_t)(use - uses->list) * KEEL_REMOTE_TROUBLE_COUNT + trouble;
    if (!use->troubles[trouble]++)
        KEEL_TRY(keel_texts_keep(texts, keel_event_text(event, "why"), &use->whys[trouble]));
    if (!key.size || keel_map_find(&uses->unused, key)) return NULL;
    return keel_map_put(&uses->unused, key, packed);
}

keel_status_t keel_remote_uses_add(keel_remote_uses_t *uses, const json_t *event,
                                   keel_texts_t *texts) {
    const char *got = keel_event_text(event, "got");
    double seconds = keel_event_number(event, "seconds");
    keel_remote_use_t *use;
    KEEL_TRY(use_of(uses, keel_event_text(event, "remote"), texts, &use));
    if (!use) return NULL;
    use->found += strcmp(got, "found") == 0;
    use->absent += strcmp(got, "absent") == 0;
    use->bytes += keel_event_count(event, "bytes");
    use->seconds += seconds;
    if (seconds > use->slowest) use->slowest = seconds;
    for (size_t i = 0; i < KEEL_REMOTE_TROUBLE_COUNT; ++i)
        if (strcmp(got, words[i]) == 0) return add_trouble(uses, use, i, event, texts);
    return NULL;
}

keel_status_t keel_remote_uses_load(keel_remote_uses_t *uses, const char *tier, uint64_t times,
                                    keel_texts_t *texts, const char **out_tier) {
    KEEL_TRY(keel_texts_keep(texts, tier, out_tier));
    size_t i = 0;
    while (i < uses->tier_count && strcmp(uses->tiers[i].name, tier) != 0)
        ++i;
    if (i == KEEL_TIER_USES) return NULL;
    if (i == uses->tier_count) uses->tiers[uses->tier_count++] = (keel_tier_use_t){*out_tier, 0};
    uses->tiers[i].loads += times;
    return NULL;
}

bool keel_remote_uses_has(const keel_remote_uses_t *uses, const char *tier) {
    for (size_t i = 0; i < uses->count; ++i)
        if (strcmp(uses->list[i].url, tier) == 0) return true;
    return strstr(tier, "://");
}

const keel_remote_use_t *keel_remote_uses_trouble(const keel_remote_uses_t *uses, const char *key,
                                                  keel_remote_trouble_t *out) {
    const uint64_t *packed = keel_map_find(&uses->unused, keel_str_bytes(keel_str(key)));
    if (!packed) return NULL;
    *out = (keel_remote_trouble_t)(*packed % KEEL_REMOTE_TROUBLE_COUNT);
    return &uses->list[*packed / KEEL_REMOTE_TROUBLE_COUNT];
}

uint64_t keel_remote_use_troubles(const keel_remote_use_t *use) {
    uint64_t count = 0;
    for (size_t i = 0; i < KEEL_REMOTE_TROUBLE_COUNT; ++i)
        count += use->troubles[i];
    return count;
}
