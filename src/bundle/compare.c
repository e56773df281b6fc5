#include "bundle/compare.h"

#include <stdlib.h>

#include "bundle/internal.h"
#include "pjrt/identity.h"

typedef struct pair_t {
    const keel_bundle_t *old, *new;
    keel_bundle_changes_t *out;
    bool plugins_known; // both were loaded and used alike, so everything about them is compared
    bool cpu_counts;    // the platform compiles for this machine's processor, or may
} pair_t;

void keel_bundle_changes_deinitialize(keel_bundle_changes_t *changes) {
    keel_free(changes->list);
    *changes = (keel_bundle_changes_t){0};
}

static keel_bundle_kind_t kind_of(const pair_t *pair, keel_bundle_section_t section) {
    static const keel_bundle_kind_t kinds[] = {
#define KIND(name, word, kind, sentence) KEEL_BUNDLE_##kind,
        KEEL_BUNDLE_SECTIONS(KIND)
#undef KIND
    };
    bool listed = section == KEEL_BUNDLE_PLUGIN && pair->plugins_known;
    return listed ? KEEL_BUNDLE_LIST : kinds[section];
}

// ---- weight ------------------------------------------------------------------------------------

#define IS_AMONG(name, names) keel_str_is_among(keel_str(name), names, sizeof names / sizeof *names)

static bool moves_keys(const pair_t *pair, keel_bundle_section_t section, const char *name) {
    static const char *const files[] = {"path", "size", KEEL_BUNDLE_TROUBLE, KEEL_BUNDLE_REFUSED};
    switch (section) {
        case KEEL_BUNDLE_PLUGIN:
            return !IS_AMONG(name, files);
        case KEEL_BUNDLE_FLAGS:
        case KEEL_BUNDLE_DEVICES:
        case KEEL_BUNDLE_KEY:
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

// Whether a variable may change the programs that a client makes.
static bool makes_programs(const char *variable) {
    // These choose a platform, a folder or a number of threads, or add source lines, which keys
    // leave out.
    static const char *const others[] = {"JAX_PLATFORMS", "JAX_COMPILATION_CACHE_DIR",
                                         "XLA_IR_DEBUG", "XLA_HLO_DEBUG", "XLA_THREAD_POOL_SIZE"};
    return (strncmp(variable, "JAX_", 4) == 0 || strncmp(variable, "XLA_", 4) == 0 ||
            strncmp(variable, "PT_XLA_", 7) == 0) &&
           !IS_AMONG(variable, others);
}

static keel_bundle_weight_t weight_of(const pair_t *pair, keel_bundle_section_t section,
                                      const char *name) {
    if (moves_keys(pair, section, name)) return KEEL_BUNDLE_WEIGHT_KEYS;
    if (section == KEEL_BUNDLE_CLIENTS) return KEEL_BUNDLE_WEIGHT_CLIENT;
    if (section == KEEL_BUNDLE_PACKAGES) return KEEL_BUNDLE_WEIGHT_PACKAGE;
    return section == KEEL_BUNDLE_ENVIRONMENT && makes_programs(name) ? KEEL_BUNDLE_WEIGHT_CLIENT
                                                                      : KEEL_BUNDLE_WEIGHT_REST;
}

// ---- comparing ---------------------------------------------------------------------------------

// A file system may show "3.11" for a Python that calls itself "3.11.2".
static bool is_shorter(const char *a, const char *b) {
    size_t length = strlen(a);
    return strncmp(a, b, length) == 0 && b[length] == '.';
}

static bool is_same(const keel_bundle_fact_t *old, const keel_bundle_fact_t *new) {
    bool is_python = old->section == KEEL_BUNDLE_INTERPRETER && strcmp(old->name, "version") == 0;
    return strcmp(old->value, new->value) == 0 ||
           (is_python &&
            (is_shorter(old->value, new->value) || is_shorter(new->value, old->value)));
}

// `old` or `new` may be NULL.
static void compare_fact(pair_t *pair, const keel_bundle_fact_t *old,
                         const keel_bundle_fact_t *new) {
    const keel_bundle_fact_t *fact = old ? old : new;
    keel_bundle_kind_t kind = kind_of(pair, fact->section);
    if (kind == KEEL_BUNDLE_ASIDE || (old && new &&is_same(old, new))) return;
    // Packages of clients are already listed in the section for clients.
    if (fact->section == KEEL_BUNDLE_PACKAGES &&
        (keel_bundle_find(pair->old, KEEL_BUNDLE_CLIENTS, fact->name) ||
         keel_bundle_find(pair->new, KEEL_BUNDLE_CLIENTS, fact->name)))
        return;
    bool known = pair->old->known[fact->section] && pair->new->known[fact->section];
    if ((!old || !new) && (!known || kind == KEEL_BUNDLE_PARTS)) {
        pair->out->untold[fact->section] = true;
        return;
    }
    pair->out->list[pair->out->count++] = (keel_bundle_change_t){
        .weight = weight_of(pair, fact->section, fact->name),
        .section = fact->section,
        .name = fact->name,
        .old_value = old ? old->value : NULL,
        .new_value = new ? new->value : NULL,
    };
}

static int by_weight(const void *a, const void *b) {
    const keel_bundle_change_t *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? -1 : 1;
    if (x->section != y->section) return x->section < y->section ? -1 : 1;
    return strcmp(x->name, y->name);
}

static const char *plugin_fact(const keel_bundle_t *bundle, const char *name) {
    return keel_bundle_find(bundle, KEEL_BUNDLE_PLUGIN, name);
}

static bool knows_alike(const keel_bundle_t *old, const keel_bundle_t *new, const char *name) {
    return !plugin_fact(old, name) == !plugin_fact(new, name);
}

static bool runs_elsewhere(const keel_bundle_t *bundle) {
    const char *platform = plugin_fact(bundle, "platform");
    return platform && strcmp(platform, "cpu") != 0;
}

keel_status_t keel_bundle_compare(const keel_bundle_t *old, const keel_bundle_t *new,
                                  keel_bundle_changes_t *out) {
    pair_t pair = {.old = old,
                   .new = new,
                   .out = out,
                   .plugins_known = knows_alike(old, new, "api") && plugin_fact(old, "api") &&
                                    knows_alike(old, new, "platform"),
                   .cpu_counts = !runs_elsewhere(old) || !runs_elsewhere(new)};
    void *memory = NULL;
    *out = (keel_bundle_changes_t){0};
    KEEL_TRY(keel_realloc_array(old->count + new->count + 1, sizeof *out->list, &memory));
    out->list = memory;
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i)
        out->untold[i] = old->known[i] != new->known[i] &&
                         kind_of(&pair, (keel_bundle_section_t)i) != KEEL_BUNDLE_ASIDE;
    for (size_t i = 0, j = 0; i < old->count || j < new->count;) {
        int order = i == old->count   ? 1
                    : j == new->count ? -1
                                      : bundle_order(&old->facts[i], &new->facts[j]);
        compare_fact(&pair, order <= 0 ? &old->facts[i] : NULL, order >= 0 ? &new->facts[j] : NULL);
        i += order <= 0;
        j += order >= 0;
    }
    qsort(out->list, out->count, sizeof *out->list, by_weight);
    return NULL;
}
