#include "analysis/answer.h"

#include <string.h>

// ---- what it is compared with ------------------------------------------------------------------

static keel_status_t sketch_of(process_t *process, kept_t *kept, const asked_t *asked,
                               keel_sketch_t *out) {
    if (keel_history_sketch(process->history, &asked->program, &asked->key.digest, out))
        return NULL;
    const keel_program_t *program;
    KEEL_TRY(kept_read(kept, &asked->program, &program));
    keel_sketch_of(program, out);
    return NULL;
}

// For a recompile the question is how it differs from what this run had, even if an earlier run had
// the very same program, so the search ignores the program. Returns how many there are, 0 if
// nothing is near; `out` has room for KEEL_HISTORY_CANDIDATES.
static size_t find_candidates(process_t *process, const asked_t *asked, const keel_sketch_t *sketch,
                              bool knows_program, keel_arena_t *arena, keel_history_record_t *out) {
    keel_key_t key = asked->key;
    if (!knows_program) key.components[KEEL_COMPONENT_PROGRAM] = (keel_digest_t){0};
    const keel_history_query_t query = {.name = asked->name,
                                        .origin = asked->site.origin,
                                        .target = process->target,
                                        .sketch = sketch,
                                        .key = &key,
                                        .is_refused = asked->kind == KEEL_ASK_REFUSED};
    return keel_history_candidates(process->history, &query, arena, out);
}

static bool is_same_key(const asked_t *asked, const keel_history_record_t *record) {
    return keel_digest_equal(&asked->key.digest, &record->key->digest);
}

// The source that this run's function is in; empty if it is not known.
static keel_str_t text_of(const answer_facts_t *facts, const asked_t *asked, keel_arena_t *arena) {
    keel_str_t file, text = KEEL_STR("");
    const keel_sources_t *sources = &facts->sources->face;
    if (!facts->sources->run) return text;
    keel_status_t status =
        keel_arena_str(arena, keel_origin_file(keel_str(asked->site.origin)), &file);
    if (!status) status = sources->read(sources->context, file.data, &text);
    bool is_known = !status;
    keel_status_ignore(status);
    return is_known ? text : KEEL_STR("");
}

static bool is_other_closure(const answer_facts_t *facts, const asked_t *asked,
                             const keel_history_record_t *record, keel_one_origin_t *pair) {
    if (!record->is_ours) return false;
    keel_status_t status = kept_read(facts->kept, &record->program, &pair->before);
    if (!status) status = kept_read(facts->kept, &asked->program, &pair->after);
    bool is_other = !status && keel_is_other_closure(pair);
    keel_status_ignore(status);
    return is_other;
}

// The user's lines that led to a request, with the one that made it.
static uint64_t callers_of(const asked_t *asked) {
    uint64_t hash = asked->stack.count;
    for (uint32_t i = 0; i < asked->stack.count; ++i) {
        const keel_stack_frame_t *frame = &asked->stack.frames[i];
        hash = hash * 31 + keel_quick_hash(keel_str_bytes(keel_str(frame->file))) + frame->line;
    }
    return hash;
}

bool answer_jits_there(const answer_facts_t *facts, const asked_t *asked) {
    const keel_sources_t *sources = &facts->sources->face;
    keel_str_t text = KEEL_STR(""), line = KEEL_STR("");
    if (!asked->stack.count || !facts->sources->run) return false;
    const keel_stack_frame_t *asker = asked->stack.frames;
    keel_status_t status = sources->read(sources->context, asker->file, &text);
    bool is_known = !status;
    keel_status_ignore(status);
    uint32_t number = 0;
    while (is_known && number < asker->line && keel_str_line(&text, &line))
        ++number;
    return asker->line && number == asker->line && keel_str_contains(line, "jit(");
}

// A helper that jits a library's function in each call makes one for each of its callers: for two
// models, or their optimizers. With data of the user's in it, it is one function of other data.
static bool is_of_other_callers(const answer_facts_t *facts, const asked_t *asked,
                                const keel_history_record_t *record) {
    uint64_t callers;
    const keel_program_t *program;
    if (!record->is_ours || !process_callers(facts->process, &record->program, &callers) ||
        callers == callers_of(asked))
        return false;
    keel_status_t status = kept_read(facts->kept, &asked->program, &program);
    bool has_data = status || keel_closes_over_data(program);
    keel_status_ignore(status);
    return !has_data;
}

static bool are_two_functions(const answer_facts_t *facts, const asked_t *asked,
                              const keel_history_record_t *record) {
    return record->is_ours &&
           keel_explain_are_two_functions(
               process_last_call(facts->process, &record->key->digest, record->origin),
               asked->call);
}

// Drops records of other functions with this one's origin. Returns how many are left.
static size_t drop_other_closures(const answer_facts_t *facts, const asked_t *asked,
                                  const keel_sketch_t *sketch, keel_arena_t *arena,
                                  keel_history_record_t *records, size_t count) {
    bool is_librarys = keel_is_foreign_file(keel_origin_file(keel_str(asked->site.origin)),
                                            asked->site.place.application);
    // A library that calls a function which it jitted itself does so for each model.
    const char *through = asked->site.place.library_file;
    bool jits_itself = is_librarys && through && *through;
    // First: only the text read last is valid.
    bool is_made = is_librarys && answer_jits_there(facts, asked);
    keel_one_origin_t pair = {.origin = asked->site.origin,
                              .text = text_of(facts, asked, arena),
                              .application = asked->site.place.application};
    size_t left = 0;
    for (size_t i = 0; i < count; ++i) {
        bool is_other = is_made || (jits_itself && are_two_functions(facts, asked, &records[i]));
        if (is_other && is_of_other_callers(facts, asked, &records[i])) continue;
        pair.takes_others = records[i].sketch.names != sketch->names;
        if (!is_other_closure(facts, asked, &records[i], &pair)) records[left++] = records[i];
    }
    return left;
}

// A program that was removed together with its run: it is unknown now.
static bool is_removed(const answer_facts_t *facts, const asked_t *asked,
                       const keel_history_record_t *record) {
    const keel_program_t *program;
    char *folder;
    if (record->is_ours || keel_digest_equal(&asked->key.components[KEEL_COMPONENT_PROGRAM],
                                             &record->key->components[KEEL_COMPONENT_PROGRAM]))
        return false;
    keel_status_t status = kept_read(facts->kept, &record->program, &program);
    bool is_gone = keel_status_code(status) == KEEL_NOT_FOUND;
    keel_status_ignore(status);
    if (!is_gone) return false;
    status = keel_path(&folder, "%s/%s", facts->kept->run_dir, record->run);
    if (!status) {
        is_gone = !keel_is_folder(folder);
        keel_free(folder);
    }
    keel_status_ignore(status);
    return is_gone;
}

static size_t drop_removed(const answer_facts_t *facts, const asked_t *asked,
                           keel_history_record_t *records, size_t count) {
    size_t left = 0;
    for (size_t i = 0; i < count; ++i)
        if (!is_removed(facts, asked, &records[i])) records[left++] = records[i];
    return left;
}

// ---- how they differ ---------------------------------------------------------------------------

// Between two runs the source may have been edited.
static keel_status_t load_sources(const answer_facts_t *facts, const keel_history_record_t *record,
                                  const keel_sources_t *out[2]) {
    out[0] = NULL;
    out[1] = facts->sources->run ? &facts->sources->face : NULL;
    if (!out[1] || !*record->run || strcmp(record->run, facts->sources->run) == 0) return NULL;
    KEEL_TRY(sources_load(facts->earlier, record->run));
    out[0] = &facts->earlier->face;
    return NULL;
}

static keel_status_t compare_programs(const answer_facts_t *facts, const asked_t *asked,
                                      const keel_history_record_t *record,
                                      keel_explanation_t *out) {
    kept_t *kept = facts->kept;
    const keel_program_t *before, *after;
    const keel_sources_t *sources[2];
    KEEL_TRY(load_sources(facts, record, sources));
    KEEL_TRY(kept_read(kept, &record->program, &before));
    KEEL_TRY(kept_read(kept, &asked->program, &after));
    const keel_place_t *place = &asked->site.place;
    const char *call = process_last_call(facts->process, &record->key->digest, record->origin);
    return keel_explain(&(keel_side_t){.program = before,
                                       .key = record->key,
                                       .names = process_names(facts->process, &record->program),
                                       .call = record->is_ours ? call : NULL,
                                       .sources = sources[0]},
                        &(keel_side_t){.program = after,
                                       .key = &asked->key,
                                       .site = *place->file ? place : NULL,
                                       .names = asked->names,
                                       .call = asked->call,
                                       .sent = asked->sent,
                                       .made = facts->made,
                                       .made_count = facts->made_count,
                                       .sources = sources[1]},
                        out);
}

// If the program is the same, the keys explain everything.
static keel_status_t compare_candidate(const answer_facts_t *facts, const asked_t *asked,
                                       const keel_history_record_t *record,
                                       keel_explanation_t *out) {
    if (!keel_digest_equal(&asked->key.components[KEEL_COMPONENT_PROGRAM],
                           &record->key->components[KEEL_COMPONENT_PROGRAM]))
        return compare_programs(facts, asked, record, out);
    return keel_explain(&(keel_side_t){.key = record->key}, &(keel_side_t){.key = &asked->key},
                        out);
}

static keel_status_t add_root(keel_explanation_t *out, keel_cause_t kind, const char *subject,
                              const char *note) {
    const keel_difference_t root = {.kind = kind,
                                    .subject = subject,
                                    .old_value = "",
                                    .new_value = "",
                                    .note = note,
                                    .place = {.file = "", .function = "", .call_file = ""},
                                    .old_op = KEEL_NONE,
                                    .new_op = KEEL_NONE,
                                    .follows = KEEL_NONE};
    return keel_explanation_add(out, &root);
}

// Programs under one key may still differ in the names of their arguments and results.
static keel_status_t tell_retrace(const answer_facts_t *facts, const asked_t *asked,
                                  const keel_history_record_t *record, keel_explanation_t *out) {
    kept_t *kept = facts->kept;
    const keel_program_t *before = NULL, *after = NULL;
    keel_status_t status = record ? kept_read(kept, &record->program, &before) : NULL;
    if (!status && record) status = kept_read(kept, &asked->program, &after);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    if (before && after && keel_explain_is_commitment(before, after))
        return compare_programs(facts, asked, record, out);
    const char *calls[PROCESS_CALLS];
    uint32_t count = process_calls(facts->process, asked, calls);
    return keel_explain_retrace(
        &(keel_retrace_t){.before = before,
                          .after = after,
                          .site = &asked->site,
                          .is_jitted_there = answer_jits_there(facts, asked),
                          .call = asked->call,
                          .earlier = calls,
                          .earlier_count = count},
        out);
}

// Each process compiles it once, whatever else differs from what an earlier one had.
static bool is_never_stored(const asked_t *asked, const answer_t *answer) {
    return asked->kind == KEEL_ASK_COMPILE && !asked->recompile &&
           strcmp(asked->miss, "uncacheable") == 0 && answer->has_record &&
           !answer->record.is_ours && !answer->explanation.unrelated &&
           answer->explanation.root_count;
}

static keel_status_t tell_never_stored(const asked_t *asked, keel_explanation_t *out) {
    double alike = out->alike;
    keel_explanation_deinitialize(out);
    keel_explanation_initialize(out);
    out->alike = alike;
    return add_root(out, KEEL_CAUSE_CACHE, asked->miss, asked->miss_note);
}

static keel_status_t explain_difference(const answer_facts_t *facts, const asked_t *asked,
                                        const keel_history_record_t *record,
                                        keel_explanation_t *out) {
    if (asked->kind == KEEL_ASK_RETRACE) return tell_retrace(facts, asked, record, out);
    if (!record) return add_root(out, KEEL_CAUSE_FIRST, "", "");
    if (is_same_key(asked, record))
        return add_root(out, KEEL_CAUSE_CACHE, asked->miss, asked->miss_note);
    return compare_candidate(facts, asked, record, out);
}

// Every operation has a counterpart: what follows from a size that drifted is long, but nothing was
// added or left out.
static bool is_whole(const keel_explanation_t *explanation) {
    return explanation->alike >= 1;
}

// Prefers the simpler explanation; of two equal ones, the change from the most recent program.
static bool is_better(const answer_t *a, const answer_t *b) {
    const keel_explanation_t *x = &a->explanation, *y = &b->explanation;
    if (x->unrelated != y->unrelated) return y->unrelated;
    if (x->root_total != y->root_total) return x->root_total < y->root_total;
    if (is_whole(x) != is_whole(y)) return is_whole(x);
    if (x->folded_total != y->folded_total) return x->folded_total < y->folded_total;
    return a->record.when > b->record.when;
}

// Operations to compare for one answer: enough for all candidates, except for the largest programs,
// which are compared only with the nearest.
static const uint64_t operations_limit = 1 << 21;

// One candidate may explain what another cannot.
static keel_status_t choose_candidate(const answer_facts_t *facts, const asked_t *asked,
                                      const keel_sketch_t *sketch,
                                      const keel_history_record_t *records, size_t count,
                                      answer_t *out) {
    keel_status_t failed = NULL;
    uint64_t operations = 0;
    bool any = false;
    for (size_t i = 0; i < count; ++i) {
        operations += (uint64_t)sketch->operations + records[i].sketch.operations;
        if (any && operations > operations_limit) break;
        answer_t answer = {.has_record = true, .record = records[i]};
        keel_explanation_initialize(&answer.explanation);
        keel_status_t status = explain_difference(facts, asked, &records[i], &answer.explanation);
        bool is_best = !status && (!any || is_better(&answer, out));
        answer_t worse = is_best ? *out : answer;
        if (is_best) *out = answer;
        answer_deinitialize(&worse);
        any |= !status;
        if (!failed)
            failed = status;
        else
            keel_status_ignore(status);
    }
    if (!any) return failed;
    keel_status_ignore(failed);
    return NULL;
}

// An earlier run had what this one compiles again; reported besides the differences within this
// run.
static keel_status_t add_lost_entry(process_t *process, const asked_t *asked,
                                    const keel_sketch_t *sketch, keel_explanation_t *out) {
    keel_arena_t arena;
    keel_history_record_t records[KEEL_HISTORY_CANDIDATES];
    keel_arena_initialize(&arena, 0);
    bool is_lost = find_candidates(process, asked, sketch, true, &arena, records) &&
                   is_same_key(asked, &records[0]) && out->root_count &&
                   out->roots[0].kind != KEEL_CAUSE_CACHE;
    keel_arena_deinitialize(&arena);
    return is_lost ? add_root(out, KEEL_CAUSE_CACHE, asked->miss, asked->miss_note) : NULL;
}

// The stack knows; a program has the lines of its first lowering, which a client may keep and
// compile again from another place.
static void fill_places(const asked_t *asked, keel_explanation_t *explanation) {
    keel_place_t asked_from =
        asked->stack.count ? keel_stack_top(&asked->stack) : asked->site.place;
    for (size_t i = 0; i < explanation->root_count; ++i) {
        keel_place_t *place = &explanation->roots[i].place;
        if (!*place->file) *place = asked_from;
    }
}

// ---- together ----------------------------------------------------------------------------------

static keel_status_t find_answer(const answer_facts_t *facts, const asked_t *asked,
                                 const keel_sketch_t *sketch, const keel_history_record_t *records,
                                 size_t count, answer_t *out) {
    keel_explanation_t *explanation = &out->explanation;
    if (count)
        KEEL_TRY(choose_candidate(facts, asked, sketch, records, count, out));
    else
        KEEL_TRY(explain_difference(facts, asked, NULL, explanation));
    if (is_never_stored(asked, out)) KEEL_TRY(tell_never_stored(asked, explanation));
    if (asked->recompile && asked->kind == KEEL_ASK_COMPILE)
        KEEL_TRY(add_lost_entry(facts->process, asked, sketch, explanation));
    fill_places(asked, explanation);
    return NULL;
}

// The first of its function, so not a recompile, even if the client's process thought so.
static keel_status_t tell_first(const asked_t *asked, keel_explanation_t *out) {
    KEEL_TRY(add_root(out, KEEL_CAUSE_FIRST, "", ""));
    fill_places(asked, out);
    out->unrelated = true;
    return NULL;
}

keel_status_t answer_find(const answer_facts_t *facts, const asked_t *asked, keel_arena_t *arena,
                          answer_t *out, bool *out_said) {
    *out_said = false;
    if (asked->kind == KEEL_ASK_NOTE) return NULL;
    keel_sketch_t sketch;
    keel_history_record_t records[KEEL_HISTORY_CANDIDATES];
    KEEL_TRY(sketch_of(facts->process, facts->kept, asked, &sketch));
    size_t count =
        find_candidates(facts->process, asked, &sketch, !asked->recompile, arena, records);
    count = drop_removed(facts, asked, records, count);
    bool is_same = count && is_same_key(asked, &records[0]);
    // What this run had is gone, so there is nothing to say about a load, and little about the
    // others.
    if (asked->kind == KEEL_ASK_LOAD && is_same) return NULL;
    if (asked->kind == KEEL_ASK_RETRACE) count = is_same;
    *out = (answer_t){.has_record = false};
    keel_explanation_initialize(&out->explanation);
    size_t left = asked->recompile
                      ? drop_other_closures(facts, asked, &sketch, arena, records, count)
                      : count;
    keel_status_t status = NULL;
    if (count && !left)
        status = tell_first(asked, &out->explanation);
    else
        status = find_answer(facts, asked, &sketch, records, left, out);
    *out_said = !status;
    out->is_another_function =
        !status && out->has_record && are_two_functions(facts, asked, &out->record);
    if (status) answer_deinitialize(out);
    return status;
}

void answer_deinitialize(answer_t *answer) {
    keel_explanation_deinitialize(&answer->explanation);
}

keel_status_t answer_note(process_t *process, kept_t *kept, const asked_t *asked, const char *run) {
    keel_history_record_t record = {.program = asked->program,
                                    .name = asked->name,
                                    .origin = asked->site.origin,
                                    .run = run,
                                    .key = &asked->key,
                                    .target = process->target,
                                    .seconds = process_took(process, asked),
                                    .when = asked->t,
                                    .is_ours = true};
    KEEL_TRY(sketch_of(process, kept, asked, &record.sketch));
    KEEL_TRY(process_note_names(process, &asked->program, asked->names));
    KEEL_TRY(process_note_call(process, asked));
    KEEL_TRY(process_note_callers(process, &asked->program, callers_of(asked)));
    return keel_history_add(process->history, &record);
}
