// What to do about a root, judging by the note on how it came about, the pattern that it is part
// of, the dimensions that changed, and whether a library computes what differs.
#include <ctype.h>

#include "key/key.h"
#include "why/internal.h"

enum { NONE = -1 }; // no case

// ---- shapes ------------------------------------------------------------------------------------

// The dimensions of "f32[2,8,8,1]". False if it is not the type of an array.
typedef struct dimensions_t {
    unsigned long long items[16];
    unsigned count;
} dimensions_t;

static bool read_dimensions(const char *type, dimensions_t *out) {
    const char *at = strchr(type, '[');
    *out = (dimensions_t){.count = 0};
    if (!at) return false;
    for (++at; isdigit((unsigned char)*at) && out->count < 16; at += *at == ',') {
        char *end;
        out->items[out->count++] = strtoull(at, &end, 10);
        at = end;
    }
    return *at == ']';
}

// A short batch differs in its first dimension; another length or resolution differs elsewhere.
static int case_of_shape(const keel_run_difference_t *root) {
    dimensions_t before, after;
    if (!read_dimensions(root->old_value, &before) || !read_dimensions(root->new_value, &after))
        return NONE;
    if (before.count != after.count) return KEEL_CASE_RANK;
    for (unsigned i = 1; i < after.count; ++i)
        if (before.items[i] != after.items[i]) return KEEL_CASE_LENGTH;
    return NONE;
}

// ---- libraries that jit for themselves ----------------------------------------------------------

// Such an origin names no function.
bool keel_why_is_librarys_loop(const keel_why_entry_t *entry) {
    keel_str_t origin = keel_str(entry->asked->origin);
    return origin.size && !keel_origin_file(origin).size &&
           keel_is_foreign_file(origin, entry->asked->site.application);
}

// A function of a library's that no line of the user's jits.
static bool is_librarys_function(const keel_why_entry_t *entry) {
    return keel_is_foreign_file(keel_origin_file(keel_str(entry->asked->origin)),
                                entry->asked->site.application) &&
           !strstr(entry->asked->origin, " for ");
}

static bool is_called_by_its_library(const keel_why_entry_t *entry) {
    keel_str_t package = keel_package_of(keel_origin_file(keel_str(entry->asked->origin)));
    const char *caller = entry->asked->site.library_file;
    return package.size && caller && keel_str_starts(keel_str(caller), package);
}

// What a library gives to a function of its own, and what it bakes in, comes from what the user
// gave to its call, in whatever form that takes. An array that it closed over has the user's line
// if a function of the user's uses it. If the user calls the library's function itself, its
// arguments are the user's.
static int case_of_librarys(const keel_why_entry_t *entry, const keel_run_difference_t *root) {
    bool is_loop = keel_why_is_librarys_loop(entry);
    bool is_inside = is_loop || (is_librarys_function(entry) && is_called_by_its_library(entry));
    if (root->kind == KEEL_CAUSE_RETRACE) return is_inside ? (int)KEEL_CASE_LIBRARY_AGAIN : NONE;
    bool is_array = keel_note_leads(root->note, KEEL_NOTE_HOST_ARRAY);
    bool is_noted =
        keel_note_advice(root->note) && !is_array && !keel_note_leads(root->note, KEEL_NOTE_LOOP);
    bool is_librarys =
        (root->place.library_file && *root->place.library_file) || (is_array && is_inside);
    bool is_size = root->kind == KEEL_CAUSE_CONSTANT || root->kind == KEEL_CAUSE_SIZE;
    if (is_noted || !is_librarys || (!is_loop && !is_librarys_function(entry))) return NONE;
    is_size |= root->kind == KEEL_CAUSE_SHAPE && is_inside;
    return is_size ? (int)KEEL_CASE_LIBRARY_SIZE : NONE;
}

// ---- all others --------------------------------------------------------------------------------

static int case_of_cache(const keel_run_difference_t *root) {
    static const struct {
        const char *subject;
        keel_case_t advice;
    } cases[] = {
        {"dumps", KEEL_CASE_DUMPS},
        {"uncacheable", KEEL_CASE_UNCACHEABLE},
        {"refresh", KEEL_CASE_REFRESH},
        {"unused", KEEL_CASE_UNUSED},
        {"damaged", KEEL_CASE_LOST},
        {"quarantined", KEEL_CASE_LOST},
        {"unreadable", KEEL_CASE_UNREADABLE},
        {"foreign", KEEL_CASE_FOREIGN},
        {"late", KEEL_CASE_LOST},
        {"slow", KEEL_CASE_SLOW},
    };
    int found = NONE;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        if (strcmp(root->subject, cases[i].subject) == 0) found = cases[i].advice;
    bool may_vouch = strstr(root->note, KEEL_KEY_UNKNOWN_CALL) != NULL;
    return found == (int)KEEL_CASE_UNCACHEABLE && !may_vouch ? (int)KEEL_CASE_UNSTORED : found;
}

// The user cannot move a choice inside a library's call to the device.
static int case_of_jax(const keel_run_difference_t *root) {
    bool is_librarys = root->place.library_file && *root->place.library_file;
    return root->kind == KEEL_CAUSE_STRUCTURE && is_librarys ? (int)KEEL_CASE_LIBRARY : NONE;
}

// No line of the user's ends a step of the loop in transformers' generate().
static bool is_generated(const keel_run_difference_t *root) {
    const char *library = root->place.library_file;
    return keel_note_leads(root->note, KEEL_NOTE_ENDLESS) && library &&
           strstr(library, "/transformers/generation/");
}

// x[i] with a zero-dimensional tensor still reads it, which makes a program for each number. What
// an earlier program made is no key of a batch.
static int case_of_torch(const keel_why_t *why, const keel_why_entry_t *entry,
                         const keel_run_difference_t *root) {
    if (root->kind == KEEL_CAUSE_ARGUMENTS && keel_why_is_made(why, entry->asked, root))
        return KEEL_CASE_MADE_HERE;
    if (is_generated(root)) return KEEL_CASE_GENERATE;
    bool is_index = root->kind == KEEL_CAUSE_CONSTANT && strncmp(root->subject, "slice ", 6) == 0;
    return is_index ? (int)KEEL_CASE_INDEX : NONE;
}

// JAX keeps both programs of a function, so if it asks again for one that it had, the function is
// another.
static const keel_run_difference_t *first_retrace(const keel_why_t *why, uint32_t pattern) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        const keel_why_entry_t *entry = &why->entries[i];
        if (entry->pattern_index == pattern && entry->root_count &&
            keel_run_is_retrace(entry->asked))
            return &entry->roots[0];
    }
    return NULL;
}

static const char *advice_of_turns(const keel_why_t *why, const keel_why_entry_t *entry) {
    const keel_run_difference_t *retrace = first_retrace(why, entry->pattern_index);
    if (!retrace) return NULL;
    const char *advice = keel_note_advice(retrace->note);
    return advice ? advice : keel_case_advice(KEEL_CASE_BOTH_AGAIN);
}

// What a pattern of recompiles shows, whatever else is known about one of them.
static int case_of_pattern(const keel_why_pattern_t *pattern, const keel_run_difference_t *root,
                           bool torch) {
    if (pattern->kind == KEEL_PATTERN_EAGER) return KEEL_CASE_EAGER_AGAIN;
    if (pattern->cause != root->kind) return NONE;
    if (pattern->kind == KEEL_PATTERN_GROWING) return torch ? NONE : (int)KEEL_CASE_LIST_GROWS;
    // In PyTorch/XLA the program shows whether something is appended (KEEL_NOTE_GROWN).
    bool is_eager = keel_note_leads(root->note, KEEL_NOTE_EAGER);
    return pattern->grows && !torch && !is_eager ? (int)KEEL_CASE_GROWS : NONE;
}

// Advice for C where the cause alone says too little. Cases of libraries and of Python do not
// apply.
static int case_of_c(const keel_why_pattern_t *pattern, const keel_run_difference_t *root) {
    if (root->kind == KEEL_CAUSE_CACHE) return case_of_cache(root);
    if (keel_note_leads(root->note, KEEL_NOTE_ENDLESS)) return KEEL_CASE_STEP_ENDLESS;
    if (keel_note_leads(root->note, KEEL_NOTE_KEPT)) return KEEL_CASE_ASSIGNED;
    if (root->kind != KEEL_CAUSE_SHAPE) return NONE;
    if (pattern && pattern->cause == root->kind && pattern->grows) return KEEL_CASE_KEPT_GROWS;
    return case_of_shape(root) == KEEL_CASE_RANK ? (int)KEEL_CASE_RANK : NONE;
}

bool keel_why_framework(const keel_why_t *why, keel_framework_t *out) {
    static const char *const names[] = {"jax", "torch", "c"};
    for (int i = 0; i < KEEL_FRAMEWORK_COUNT; ++i) {
        if (strcmp(why->run.framework, names[i]) != 0) continue;
        *out = (keel_framework_t)i;
        return true;
    }
    *out = KEEL_FRAMEWORK_JAX;
    return false;
}

const char *keel_why_advice(const keel_why_t *why, const keel_why_entry_t *entry,
                            const keel_run_difference_t *root, keel_framework_t framework) {
    const keel_cause_facts_t *facts = keel_cause_facts(root->kind);
    const keel_why_pattern_t *pattern =
        entry->pattern_index == KEEL_NONE ? NULL : &why->patterns[entry->pattern_index];
    bool torch = framework == KEEL_FRAMEWORK_TORCH;
    bool is_c = framework == KEEL_FRAMEWORK_C;
    if (entry->set) return keel_cause_facts(KEEL_CAUSE_FIRST)->advice[framework];
    if (entry->asked->is_refused && root->kind == KEEL_CAUSE_FIRST)
        return keel_case_advice(KEEL_CASE_REFUSED);
    bool has_own = root->kind == KEEL_CAUSE_RETRACE && keel_note_advice(root->note);
    if (framework == KEEL_FRAMEWORK_JAX && pattern && pattern->kind == KEEL_PATTERN_ALTERNATING &&
        !has_own) {
        const char *advice = advice_of_turns(why, entry);
        if (advice) return advice;
    }
    int one = is_c ? case_of_c(pattern, root) : NONE;
    if (is_c) return one == NONE ? facts->advice[framework] : keel_case_advice((keel_case_t)one);
    if (pattern) one = case_of_pattern(pattern, root, torch);
    if (torch && pattern && pattern->kind == KEEL_PATTERN_GROWING && pattern->cause == root->kind)
        return keel_note_advice(keel_note_text(KEEL_NOTE_GROWN));
    if (one == NONE && !torch) one = case_of_librarys(entry, root);
    if (one != NONE) return keel_case_advice((keel_case_t)one);
    // PyTorch/XLA keeps all its programs except this one.
    if (root->kind == KEEL_CAUSE_RETRACE && strcmp(entry->asked->name, "ReplicateShardedData") == 0)
        return keel_case_advice(KEEL_CASE_GATHERED);
    const char *advice = keel_note_advice(root->note);
    if (advice && !(torch && is_generated(root))) return advice;
    if (root->kind == KEEL_CAUSE_CACHE) one = case_of_cache(root);
    if (root->kind == KEEL_CAUSE_SHAPE) one = case_of_shape(root);
    if (one == NONE) one = torch ? case_of_torch(why, entry, root) : case_of_jax(root);
    if (one != NONE) return keel_case_advice((keel_case_t)one);
    return facts->advice[framework];
}
