// Comparing two bundles, and how the differences are shown.
#include "bundle/bundle.h"
#include "key/key.h"

typedef struct pair_t {
    const keel_bundle_t *old, *new;
    keel_bundle_changes_t *out;
    bool cpu_counts;   // the platform compiles for this machine's processor, or may
    unsigned backends; // of keel_key_backends
} pair_t;

void keel_bundle_changes_deinitialize(keel_bundle_changes_t *changes) {
    keel_free(changes->list);
    *changes = (keel_bundle_changes_t){0};
}

// ---- weight ------------------------------------------------------------------------------------

#define IS_AMONG(name, names) keel_str_is_among(keel_str(name), names, sizeof names / sizeof *names)

static bool moves_keys(const pair_t *pair, keel_bundle_section_t section, const char *name) {
    static const char *const threads[] = {"NPROC", "PJRT_NPROC"};
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
            return keel_key_has_variable(keel_str(name), pair->backends) ||
                   (pair->cpu_counts && IS_AMONG(name, threads));
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
    if (section == KEEL_BUNDLE_PACKAGES) return KEEL_BUNDLE_WEIGHT_PACKAGE;
    return section == KEEL_BUNDLE_CLIENTS ||
                   (section == KEEL_BUNDLE_ENVIRONMENT && makes_programs(name))
               ? KEEL_BUNDLE_WEIGHT_CLIENT
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

// Lists a difference of that weight; `old` or `new` may be NULL.
static void compare_fact(const pair_t *pair, keel_bundle_weight_t weight,
                         const keel_bundle_fact_t *old, const keel_bundle_fact_t *new) {
    const keel_bundle_fact_t *fact = old ? old : new;
    keel_bundle_kind_t kind = keel_bundle_sections[fact->section].kind;
    if (kind == KEEL_BUNDLE_ASIDE || weight_of(pair, fact->section, fact->name) != weight) return;
    if (old && new &&is_same(old, new)) return;
    bool known = pair->old->known[fact->section] && pair->new->known[fact->section];
    if ((!old || !new) && (!known || kind == KEEL_BUNDLE_PARTS)) {
        pair->out->untold[fact->section] = true;
        return;
    }
    pair->out->list[pair->out->count++] =
        (keel_bundle_change_t){.weight = weight,
                               .section = fact->section,
                               .name = fact->name,
                               .old_value = old ? old->value : NULL,
                               .new_value = new ? new->value : NULL};
}

static void compare_facts(const pair_t *pair, keel_bundle_weight_t weight) {
    const keel_bundle_t *old = pair->old, *new = pair->new;
    for (size_t i = 0, j = 0; i < old->count || j < new->count;) {
        int order = i == old->count   ? 1
                    : j == new->count ? -1
                                      : keel_bundle_order(&old->facts[i], &new->facts[j]);
        compare_fact(pair, weight, order <= 0 ? &old->facts[i] : NULL,
                     order >= 0 ? &new->facts[j] : NULL);
        i += order <= 0;
        j += order >= 0;
    }
}

// An unknown platform may be any.
static unsigned backends_of(const keel_bundle_t *bundle) {
    const char *platform = keel_bundle_find(bundle, KEEL_BUNDLE_PLUGIN, "platform");
    return keel_key_backends(platform ? platform : "");
}

keel_status_t keel_bundle_compare(const keel_bundle_t *old, const keel_bundle_t *new,
                                  keel_bundle_changes_t *out) {
    unsigned backends = backends_of(old) | backends_of(new);
    const pair_t pair = {.old = old,
                         .new = new,
                         .out = out,
                         .cpu_counts = (backends & KEEL_BACKEND_CPU) != 0,
                         .backends = backends};
    void *memory = NULL;
    *out = (keel_bundle_changes_t){0};
    KEEL_TRY(keel_realloc_array(old->count + new->count + 1, sizeof *out->list, &memory));
    out->list = memory;
    for (int weight = 0; weight < KEEL_BUNDLE_WEIGHT_COUNT; ++weight)
        compare_facts(&pair, (keel_bundle_weight_t)weight);
    return NULL;
}

// ---- showing -----------------------------------------------------------------------------------

static const struct {
    const char *word, *heading;
} weights[] = {
    {"keys", "changes keys, so programs are compiled again"},
    {"client", "clients, plugins and variables, which may make different programs"},
    {"package", "other packages"},
    {"rest", "the rest"},
};

static const char *shown(const char *value) {
    return !value ? "nothing" : *value ? value : "\"\"";
}

static void put_change(const keel_bundle_change_t *change, keel_buffer_t *out) {
    bool is_named = change->section != KEEL_BUNDLE_PACKAGES &&
                    change->section != KEEL_BUNDLE_CLIENTS && change->section != KEEL_BUNDLE_FLAGS;
    keel_buffer_format(
        out, "  %s%s%s: %s -> %s\n", is_named ? keel_bundle_sections[change->section].name : "",
        is_named ? " " : "", change->name, shown(change->old_value), shown(change->new_value));
}

void keel_bundle_changes_text(const keel_bundle_changes_t *changes, keel_buffer_t *out) {
    const char *before = "not fully compared, because one bundle lacks part of it: ";
    for (size_t i = 0; i < changes->count; ++i) {
        const keel_bundle_change_t *change = &changes->list[i];
        if (!i || change[-1].weight != change->weight)
            keel_buffer_format(out, "%s:\n", weights[change->weight].heading);
        put_change(change, out);
    }
    if (!changes->count) keel_buffer_text(out, "nothing differs\n");
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i) {
        if (!changes->untold[i]) continue;
        keel_buffer_format(out, "%s%s", before, keel_bundle_sections[i].name);
        before = ", ";
    }
    if (before[0] == ',') keel_buffer_byte(out, '\n');
}

void keel_bundle_changes_json(const keel_bundle_changes_t *changes, keel_json_t *json) {
    keel_json_array(json, "changes");
    for (size_t i = 0; i < changes->count; ++i) {
        const keel_bundle_change_t *change = &changes->list[i];
        keel_json_break(json, "\n ");
        keel_json_object(json, NULL);
        keel_json_string(json, "weight", weights[change->weight].word);
        keel_json_string(json, "section", keel_bundle_sections[change->section].name);
        keel_json_string(json, "name", change->name);
        if (change->old_value) keel_json_string(json, "old", change->old_value);
        if (change->new_value) keel_json_string(json, "new", change->new_value);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
    keel_json_array(json, "untold");
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i)
        if (changes->untold[i]) keel_json_string(json, NULL, keel_bundle_sections[i].name);
    keel_json_end_array(json);
}
