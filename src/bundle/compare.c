#include "bundle/compare.h"

#include <stdlib.h>

#include "bundle/internal.h"
#include "pjrt/identity.h"

typedef struct pair_t {
    const keel_bundle_t *old, *new;
    keel_bundle_changes_t *out;
    bool is_list[KEEL_BUNDLE_SECTION_COUNT];
    bool cpu_counts; // the platform compiles for this machine's processor, or may
} pair_t;

void keel_bundle_changes_deinitialize(keel_bundle_changes_t *changes) {
    keel_free(changes->list);
    *changes = (keel_bundle_changes_t){0};
}

// ---- weight ------------------------------------------------------------------------------------

static bool is_among(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static bool moves_keys(const pair_t *pair, keel_bundle_section_t section, const char *name) {
    static const char *const files[] = {"path", "size", KEEL_BUNDLE_TROUBLE, KEEL_BUNDLE_REFUSED};
    switch (section) {
        case KEEL_BUNDLE_PLUGIN:
            return !is_among(name, files, sizeof files / sizeof *files);
        case KEEL_BUNDLE_FLAGS:
        case KEEL_BUNDLE_DEVICES:
            return true;
        case KEEL_BUNDLE_CPU:
            return pair->cpu_counts && strcmp(name, "model") != 0;
        case KEEL_BUNDLE_KEEL:
            return strcmp(name, "key_version") == 0;
        case KEEL_BUNDLE_ENVIRONMENT:
            return keel_environment_is_keyed(name);
        default:
            return false;
    }
}

static keel_bundle_weight_t weight_of(const pair_t *pair, keel_bundle_section_t section,
                                      const char *name) {
    if (moves_keys(pair, section, name)) return KEEL_BUNDLE_WEIGHT_KEYS;
    if (section == KEEL_BUNDLE_CLIENTS) return KEEL_BUNDLE_WEIGHT_CLIENT;
    if (section == KEEL_BUNDLE_PACKAGES) return KEEL_BUNDLE_WEIGHT_PACKAGE;
    return KEEL_BUNDLE_WEIGHT_REST;
}

// ---- comparing ---------------------------------------------------------------------------------

// A file system may show "3.11" for a Python that calls itself "3.11.2".
static bool is_shorter(const char *a, const char *b) {
    size_t length = strlen(a);
    return strncmp(a, b, length) == 0 && b[length] == '.';
}

static bool is_same(const keel_bundle_fact_t *old, const keel_bundle_fact_t *new) {
    if (strcmp(old->value, new->value) == 0) return true;
    bool interpreter = old->section == KEEL_BUNDLE_INTERPRETER && strcmp(old->name, "version") == 0;
    return interpreter &&
           (is_shorter(old->value, new->value) || is_shorter(new->value, old->value));
}

// Packages of clients are already listed in the section for clients.
static bool is_client_package(const pair_t *pair, const keel_bundle_fact_t *fact) {
    return fact->section == KEEL_BUNDLE_PACKAGES &&
           (keel_bundle_find(pair->old, KEEL_BUNDLE_CLIENTS, fact->name) ||
            keel_bundle_find(pair->new, KEEL_BUNDLE_CLIENTS, fact->name));
}

static keel_status_t add_change(pair_t *pair, const keel_bundle_fact_t *old,
                                const keel_bundle_fact_t *new) {
    keel_bundle_changes_t *out = pair->out;
    const keel_bundle_fact_t *fact = old ? old : new;
    if (fact->section == KEEL_BUNDLE_SUPPORT) return NULL; // it follows from the others
    if (old && new &&is_same(old, new)) return NULL;
    if (is_client_package(pair, fact)) return NULL;
    if (!old || !new) {
        bool known = pair->old->known[fact->section] && pair->new->known[fact->section];
        if (!known || !pair->is_list[fact->section]) {
            out->untold[fact->section] = true;
            return NULL;
        }
    }
    if (out->count == out->room) {
        size_t room = out->room ? out->room * 2 : 32;
        void *memory = out->list;
        KEEL_TRY(keel_realloc_array(room, sizeof *out->list, &memory));
        out->list = memory;
        out->room = room;
    }
    out->list[out->count++] = (keel_bundle_change_t){
        .weight = weight_of(pair, fact->section, fact->name),
        .section = fact->section,
        .name = fact->name,
        .old_value = old ? old->value : NULL,
        .new_value = new ? new->value : NULL,
    };
    return NULL;
}

static keel_status_t compare_facts(pair_t *pair) {
    const keel_bundle_t *old = pair->old, *new = pair->new;
    size_t i = 0, j = 0;
    while (i < old->count || j < new->count) {
        int order = i == old->count   ? 1
                    : j == new->count ? -1
                                      : bundle_order(&old->facts[i], &new->facts[j]);
        KEEL_TRY(add_change(pair, order <= 0 ? &old->facts[i] : NULL,
                            order >= 0 ? &new->facts[j] : NULL));
        i += order <= 0;
        j += order >= 0;
    }
    return NULL;
}

static int by_weight(const void *a, const void *b) {
    const keel_bundle_change_t *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? -1 : 1;
    if (x->section != y->section) return x->section < y->section ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool runs_elsewhere(const keel_bundle_t *bundle) {
    const char *platform = keel_bundle_find(bundle, KEEL_BUNDLE_PLUGIN, "platform");
    return platform && strcmp(platform, "cpu") != 0;
}

keel_status_t keel_bundle_compare(const keel_bundle_t *old, const keel_bundle_t *new,
                                  keel_bundle_changes_t *out) {
    static const bool lists[] = {
#define LIST(name, word, is_list, sentence) is_list,
        KEEL_BUNDLE_SECTIONS(LIST)
#undef LIST
    };
    pair_t pair = {.old = old, .new = new, .out = out};
    *out = (keel_bundle_changes_t){0};
    memcpy(pair.is_list, lists, sizeof lists);
    // If both plugins were loaded, compares everything.
    pair.is_list[KEEL_BUNDLE_PLUGIN] = keel_bundle_find(old, KEEL_BUNDLE_PLUGIN, "api") &&
                                       keel_bundle_find(new, KEEL_BUNDLE_PLUGIN, "api");
    pair.cpu_counts = !runs_elsewhere(old) || !runs_elsewhere(new);
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i)
        out->untold[i] = i != KEEL_BUNDLE_SUPPORT && old->known[i] != new->known[i];
    KEEL_TRY(compare_facts(&pair));
    if (out->count) qsort(out->list, out->count, sizeof *out->list, by_weight);
    return NULL;
}
