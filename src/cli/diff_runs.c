#include <jansson.h>
#include <stdlib.h>

#include "cli/diff.h"
#include "history/history.h"
#include "journal/journal.h"
#include "key/key.h"
#include "read/read.h"

// How many programs of one run are compared with those of the other: the most expensive ones.
enum { MATCHED_MOST = 512 };
// How much two programs of different names must have in common to be a pair.
#define NEAR 0.6

// ---- reading a run -----------------------------------------------------------------------------

static void close_run(cli_diff_run_t *run) {
    for (size_t i = 0; run->options && i < run->stats.program_count; ++i)
        keel_key_deinitialize(&run->options[i]);
    keel_free(run->options);
    keel_free(run->sketches);
    keel_free(run->state);
    keel_map_deinitialize(&run->by_identity);
    keel_key_deinitialize(&run->key);
    keel_run_deinitialize(&run->stats);
}

// Takes components from an event, those of the process or those of one program.
static keel_status_t take(const json_t *event, bool of_program, keel_key_t *out) {
    for (unsigned i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        bool is_own = i == KEEL_COMPONENT_OPTIONS || i == KEEL_COMPONENT_DEVICE_ASSIGNMENT;
        if (i != KEEL_COMPONENT_PROGRAM && is_own == of_program)
            KEEL_TRY(cli_key_component(event, (keel_component_t)i, out));
    }
    return NULL;
}

static keel_status_t visit(void *context, const json_t *event) {
    cli_diff_run_t *run = context;
    const char *kind = keel_event_text(event, "event");
    if (strcmp(kind, "start") == 0 && !run->started) {
        run->started = true;
        return take(event, false, &run->key);
    }
    if (strcmp(kind, "miss") != 0) return NULL;
    const char *identity = keel_event_text(event, "key");
    const uint64_t *index = keel_map_find(&run->by_identity, keel_str_bytes(keel_str(identity)));
    return index ? take(event, true, &run->options[*index]) : NULL;
}

static keel_status_t allocate(cli_diff_run_t *run) {
    size_t count = run->stats.program_count ? run->stats.program_count : 1;
    void *memory;
    KEEL_TRY(keel_alloc(count * sizeof *run->options, &memory));
    run->options = memory;
    for (size_t i = 0; i < count; ++i)
        keel_key_initialize(&run->options[i]);
    KEEL_TRY(keel_alloc(count * sizeof *run->sketches, &memory));
    run->sketches = memory;
    KEEL_TRY(keel_alloc(count, &memory));
    run->state = memory;
    memset(run->state, CLI_DIFF_ALONE, count);
    for (size_t i = 0; i < run->stats.program_count; ++i)
        KEEL_TRY(keel_map_put(&run->by_identity,
                              keel_str_bytes(keel_str(run->stats.programs[i].identity)), i));
    return NULL;
}

static keel_status_t read_run(const char *run_dir, const char *id, cli_diff_run_t *out) {
    out->id = id;
    KEEL_TRY(keel_run_read(run_dir, id, KEEL_RUN_KEYS, &out->stats));
    KEEL_TRY(allocate(out));
    return keel_run_visit(&out->stats, visit, out);
}

// ---- matching ----------------------------------------------------------------------------------

static keel_status_t add_pair(cli_diff_runs_t *all, uint32_t old, uint32_t new,
                              cli_diff_pair_t **out) {
    void *memory = all->pairs;
    KEEL_TRY(keel_grow_array(all->pair_count, sizeof *all->pairs, &all->pair_room, &memory));
    all->pairs = memory;
    *out = &all->pairs[all->pair_count++];
    **out = (cli_diff_pair_t){.old = old, .new = new};
    keel_explanation_initialize(&(*out)->explanation);
    all->runs[1].state[new] = CLI_DIFF_PAIRED;
    if (all->runs[0].state[old] == CLI_DIFF_ALONE) all->runs[0].state[old] = CLI_DIFF_PAIRED;
    return NULL;
}

static keel_status_t share_keys(cli_diff_runs_t *all) {
    cli_diff_run_t *old = &all->runs[0], *new = &all->runs[1];
    for (size_t i = 0; i < new->stats.program_count; ++i) {
        keel_str_t identity = keel_str(new->stats.programs[i].identity);
        const uint64_t *found = keel_map_find(&old->by_identity, keel_str_bytes(identity));
        if (!found) continue;
        new->state[i] = old->state[*found] = CLI_DIFF_SHARED;
        ++all->shared;
    }
    return NULL;
}

// ---- keys --------------------------------------------------------------------------------------

// A component that only one of them knows says nothing.
static void forget(keel_key_t *a, keel_key_t *b) {
    static const keel_digest_t none;
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (keel_digest_equal(&a->components[i], &none) ||
            keel_digest_equal(&b->components[i], &none))
            a->components[i] = b->components[i] = none;
}

// A flag may also be in the options, so the components of the process are compared with the
// program's own.
static keel_status_t whole_key(const cli_diff_run_t *run, uint32_t index, keel_key_t *out) {
    static const keel_component_t own[] = {KEEL_COMPONENT_OPTIONS,
                                           KEEL_COMPONENT_DEVICE_ASSIGNMENT};
    KEEL_TRY(keel_key_copy(&run->key, out));
    for (size_t i = 0; i < sizeof own / sizeof *own; ++i) {
        const char *value = run->options[index].values[own[i]];
        KEEL_TRY(keel_key_set(out, own[i], keel_bytes(NULL, 0), keel_str(value ? value : "")));
        out->components[own[i]] = run->options[index].components[own[i]];
    }
    return NULL;
}

static bool is_among(const keel_difference_t *list, size_t count, const keel_difference_t *one) {
    for (size_t i = 0; i < count; ++i)
        if (list[i].kind == one->kind && strcmp(list[i].subject, one->subject) == 0 &&
            strcmp(list[i].old_value, one->old_value) == 0 &&
            strcmp(list[i].new_value, one->new_value) == 0)
            return true;
    return false;
}

// Passes on what did not change for all programs, with what follows from it.
static keel_status_t hand_over(const keel_explanation_t *moved, const keel_explanation_t *found,
                               keel_explanation_t *out) {
    uint32_t place[KEEL_ROOTS_KEPT];
    out->unrelated = found->unrelated;
    out->alike = found->alike;
    for (size_t i = 0; i < found->root_count; ++i) {
        keel_difference_t root = found->roots[i];
        bool told = is_among(moved->roots, moved->root_count, &root) ||
                    is_among(moved->folded, moved->folded_count, &root);
        place[i] = told ? KEEL_NONE : (uint32_t)out->root_count;
        root.folds = 0;
        if (!told) KEEL_TRY(keel_explanation_add(out, &root));
    }
    for (size_t i = 0; i < found->folded_count; ++i) {
        keel_difference_t folded = found->folded[i];
        folded.follows = folded.follows < found->root_count ? place[folded.follows] : KEEL_NONE;
        if (folded.follows != KEEL_NONE) KEEL_TRY(keel_explanation_add(out, &folded));
    }
    for (size_t i = 0; i < found->root_count; ++i)
        if (place[i] != KEEL_NONE) out->roots[place[i]].folds = found->roots[i].folds;
    out->root_total += found->root_total - found->root_count;
    out->folded_total += found->folded_total - found->folded_count;
    return NULL;
}

// Programs are NULL if their bytes are the same.
static keel_status_t explain(const cli_diff_runs_t *all, const keel_program_t *old_program,
                             const keel_program_t *new_program, cli_diff_pair_t *pair) {
    const keel_program_t *const programs[] = {old_program, new_program};
    const uint32_t index[] = {pair->old, pair->new};
    keel_key_t keys[2];
    keel_explanation_t found;
    keel_explanation_initialize(&found);
    keel_key_initialize(&keys[0]);
    keel_key_initialize(&keys[1]);
    keel_status_t status = NULL;
    for (int i = 0; i < 2 && !status; ++i)
        status = whole_key(&all->runs[i], index[i], &keys[i]);
    if (!status) forget(&keys[0], &keys[1]);
    for (int i = 0; i < 2 && !status && programs[i]; ++i)
        status = keel_key_program(programs[i], &keys[i].components[KEEL_COMPONENT_PROGRAM]);
    if (!status)
        status = keel_explain(&(keel_side_t){.program = programs[0], .key = &keys[0]},
                              &(keel_side_t){.program = programs[1], .key = &keys[1]}, &found);
    if (!status) status = hand_over(&all->moved, &found, &pair->explanation);
    pair->same = keel_digest_equal(&keys[0].components[KEEL_COMPONENT_PROGRAM],
                                   &keys[1].components[KEEL_COMPONENT_PROGRAM]);
    keel_explanation_deinitialize(&found);
    keel_key_deinitialize(&keys[0]);
    keel_key_deinitialize(&keys[1]);
    return status;
}

// ---- pairs -------------------------------------------------------------------------------------

// The same bytes under another key: no need to read them.
static keel_status_t pair_same_bytes(cli_diff_runs_t *all) {
    cli_diff_run_t *old = &all->runs[0], *new = &all->runs[1];
    keel_map_t map;
    keel_map_initialize(&map);
    keel_status_t status = NULL;
    for (size_t i = 0; i < old->stats.program_count && !status; ++i)
        if (old->state[i] == CLI_DIFF_ALONE)
            status =
                keel_map_put(&map, keel_str_bytes(keel_str(old->stats.programs[i].program)), i);
    for (size_t i = 0; i < new->stats.program_count && !status; ++i) {
        if (new->state[i] != CLI_DIFF_ALONE) continue;
        keel_str_t digest = keel_str(new->stats.programs[i].program);
        const uint64_t *found = keel_map_find(&map, keel_str_bytes(digest));
        if (!found || old->state[*found] != CLI_DIFF_ALONE) continue;
        cli_diff_pair_t *pair;
        status = add_pair(all, (uint32_t)*found, (uint32_t)i, &pair);
        if (status) break;
        status = explain(all, NULL, NULL, pair);
    }
    keel_map_deinitialize(&map);
    return status;
}

// ---- comparing two programs --------------------------------------------------------------------

typedef struct opened_t {
    cli_program_t file;
    keel_program_t program;
} opened_t;

static void close_program(opened_t *opened) {
    keel_program_deinitialize(&opened->program);
    cli_program_close(&opened->file);
}

static keel_status_t open_program(const cli_diff_runs_t *all, int run, uint32_t index,
                                  opened_t *out) {
    *out = (opened_t){0};
    keel_program_initialize(&out->program);
    const keel_run_program_t *program = &all->runs[run].stats.programs[index];
    char *path;
    KEEL_TRY(keel_journal_find_program(all->run_dir, program->program, &path));
    keel_status_t status = cli_program_open(path, all->run_dir, &out->file);
    keel_free(path);
    KEEL_TRY(status);
    return keel_read(keel_bytes(out->file.data, out->file.size), &out->program);
}

// Sketches the programs without a pair and those with one of their names. A program that is no
// longer kept, or cannot be read, stays without a pair.
static keel_status_t sketch(cli_diff_runs_t *all, int run, const keel_map_t *names, uint32_t *list,
                            size_t *out_count) {
    cli_diff_run_t *of = &all->runs[run];
    *out_count = 0;
    for (uint32_t i = 0; i < of->stats.program_count && *out_count < MATCHED_MOST; ++i) {
        keel_bytes_t name = keel_str_bytes(keel_str(of->stats.programs[i].name));
        if (of->state[i] != CLI_DIFF_ALONE && !keel_map_find(names, name)) continue;
        opened_t opened;
        keel_status_t status = open_program(all, run, i, &opened);
        bool good = !status;
        if (good) keel_sketch_of(&opened.program, &of->sketches[i]);
        if (good) list[(*out_count)++] = i;
        close_program(&opened);
        if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
        keel_status_ignore(status);
    }
    return NULL;
}

typedef struct candidate_t {
    double score;
    bool named; // of one name
    uint32_t old, new;
} candidate_t;

static int by_score(const void *a, const void *b) {
    const candidate_t *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    if (x->old != y->old) return x->old < y->old ? -1 : 1;
    return x->new < y->new ? -1 : x->new > y->new;
}

static keel_status_t explain_pair(cli_diff_runs_t *all, cli_diff_pair_t *pair) {
    opened_t opened[2];
    keel_status_t status = open_program(all, 0, pair->old, &opened[0]);
    keel_status_t other = open_program(all, 1, pair->new, &opened[1]);
    if (status)
        keel_status_ignore(other);
    else
        status = other;
    if (!status) status = explain(all, &opened[0].program, &opened[1].program, pair);
    close_program(&opened[0]);
    close_program(&opened[1]);
    return status;
}

// Each program once; then the remaining ones of B, next to one of their name that has a pair.
static keel_status_t pair_candidates(cli_diff_runs_t *all, const candidate_t *list, size_t count) {
    for (int left = 0; left < 2; ++left)
        for (size_t i = 0; i < count; ++i) {
            const candidate_t *candidate = &list[i];
            bool is_free = all->runs[0].state[candidate->old] == CLI_DIFF_ALONE;
            if (all->runs[1].state[candidate->new] != CLI_DIFF_ALONE) continue;
            if (left ? !candidate->named : !is_free) continue;
            cli_diff_pair_t *pair;
            KEEL_TRY(add_pair(all, candidate->old, candidate->new, &pair));
            KEEL_TRY(explain_pair(all, pair));
        }
    return NULL;
}

// The best pairs first: the same name counts more than similarity.
static size_t find_candidates(const cli_diff_runs_t *all, const uint32_t *olds, size_t old_count,
                              const uint32_t *news, size_t new_count, candidate_t *out) {
    const cli_diff_run_t *old = &all->runs[0], *new = &all->runs[1];
    size_t count = 0;
    for (size_t i = 0; i < old_count; ++i)
        for (size_t j = 0; j < new_count; ++j) {
            uint32_t a = olds[i], b = news[j];
            double alike = keel_sketch_alike(&old->sketches[a], &new->sketches[b]);
            bool named = strcmp(old->stats.programs[a].name, new->stats.programs[b].name) == 0;
            if (!named && alike < NEAR) continue;
            out[count++] =
                (candidate_t){.score = alike + (named ? 1 : 0), .named = named, .old = a, .new = b};
        }
    qsort(out, count, sizeof *out, by_score);
    return count;
}

static keel_status_t names_of_alone(const cli_diff_run_t *run, keel_map_t *out) {
    for (size_t i = 0; i < run->stats.program_count; ++i)
        if (run->state[i] == CLI_DIFF_ALONE)
            KEEL_TRY(keel_map_put(out, keel_str_bytes(keel_str(run->stats.programs[i].name)), 1));
    return NULL;
}

static keel_status_t sketch_both(cli_diff_runs_t *all, uint32_t *const lists[2], size_t counts[2]) {
    keel_map_t names, none;
    keel_map_initialize(&names);
    keel_map_initialize(&none);
    keel_status_t status = names_of_alone(&all->runs[1], &names);
    if (!status) status = sketch(all, 0, &names, lists[0], &counts[0]);
    if (!status) status = sketch(all, 1, &none, lists[1], &counts[1]);
    keel_map_deinitialize(&names);
    keel_map_deinitialize(&none);
    return status;
}

static keel_status_t pair_nearest(cli_diff_runs_t *all) {
    uint32_t olds[MATCHED_MOST], news[MATCHED_MOST];
    size_t counts[2];
    KEEL_TRY(sketch_both(all, (uint32_t *const[]){olds, news}, counts));
    void *memory;
    KEEL_TRY(keel_alloc(counts[0] * counts[1] * sizeof(candidate_t), &memory));
    size_t count = find_candidates(all, olds, counts[0], news, counts[1], memory);
    keel_status_t status = pair_candidates(all, memory, count);
    keel_free(memory);
    return status;
}

// ---- the comparison ----------------------------------------------------------------------------

static bool have_same_programs(const cli_diff_runs_t *all) {
    for (int i = 0; i < 2; ++i)
        for (size_t j = 0; j < all->runs[i].stats.program_count; ++j)
            if (all->runs[i].state[j] != CLI_DIFF_SHARED) return false;
    return !all->moved.root_total;
}

static keel_status_t compare(const char *const ids[2], cli_diff_runs_t *all) {
    for (int i = 0; i < 2; ++i)
        KEEL_TRY(read_run(all->run_dir, ids[i], &all->runs[i]));
    forget(&all->runs[0].key, &all->runs[1].key);
    KEEL_TRY(keel_explain_components(&all->runs[0].key, &all->runs[1].key, KEEL_NONE, &all->moved));
    KEEL_TRY(share_keys(all));
    KEEL_TRY(pair_same_bytes(all));
    return pair_nearest(all);
}

keel_status_t cli_diff_runs(const char *run_dir, const char *const ids[2], bool json, bool all,
                            keel_buffer_t *out, bool *out_same) {
    cli_diff_runs_t whole = {.run_dir = run_dir};
    for (int i = 0; i < 2; ++i) {
        keel_map_initialize(&whole.runs[i].by_identity);
        keel_key_initialize(&whole.runs[i].key);
    }
    keel_explanation_initialize(&whole.moved);
    keel_status_t status = compare(ids, &whole);
    if (!status) {
        *out_same = have_same_programs(&whole);
        if (json)
            cli_diff_runs_json(&whole, *out_same, out);
        else if (*out_same)
            keel_buffer_text(out, "the same programs\n");
        else
            cli_diff_runs_text(&whole, all, out);
    }
    for (size_t i = 0; i < whole.pair_count; ++i)
        keel_explanation_deinitialize(&whole.pairs[i].explanation);
    keel_free(whole.pairs);
    keel_explanation_deinitialize(&whole.moved);
    for (int i = 0; i < 2; ++i)
        close_run(&whole.runs[i]);
    return status;
}
