#include <stdio.h>

#include "base/json.h"
#include "text/facts.h"
#include "text/remotes.h"
#include "text/text.h"

static void write_place(keel_json_t *json, const keel_run_place_t *value) {
    keel_json_string(json, "file", value->file);
    keel_json_unsigned(json, "line", value->line);
    keel_json_string(json, "function", value->function);
    keel_json_string(json, "call_file", value->call_file);
    keel_json_unsigned(json, "call_line", value->call_line);
    keel_json_str(json, "library_file", keel_str(value->library_file));
    keel_json_unsigned(json, "library_line", value->library_line);
    keel_json_string(json, "scope", value->scope ? value->scope : "");
}

// The line that asked, where an application is between the user's own and the program.
static void write_script(keel_json_t *json, const keel_run_place_t *asker) {
    if (!asker->script_file || !*asker->script_file) return;
    keel_json_string(json, "application", asker->application);
    keel_json_string(json, "script_file", asker->script_file);
    keel_json_unsigned(json, "script_line", asker->script_line);
}

static void operation(keel_json_t *json, const char *field, uint32_t index) {
    if (index != KEEL_NONE) keel_json_unsigned(json, field, index);
}

static void write_change(keel_json_t *json, const keel_run_difference_t *value) {
    keel_json_string(json, "subject", value->subject);
    keel_json_string(json, "old", value->old_value);
    keel_json_string(json, "new", value->new_value);
    keel_json_string(json, "note", value->note);
}

static bool is_of_c(const keel_why_t *why) {
    keel_framework_t framework;
    return keel_why_framework(why, &framework) && framework == KEEL_FRAMEWORK_C;
}

// What to do about a root, for all clients that it may be of.
static void write_advice(keel_json_t *json, const keel_why_t *why, const keel_why_entry_t *entry,
                         const keel_run_difference_t *root) {
    static const char *const names[] = {"jax", "torch", "c"};
    keel_json_object(json, "advice");
    for (int i = 0; i < (is_of_c(why) ? KEEL_FRAMEWORK_COUNT : KEEL_FRAMEWORK_C); ++i)
        keel_json_string(json, names[i],
                         root ? keel_why_advice(why, entry, root, (keel_framework_t)i) : "");
    keel_json_end_object(json);
}

// `entry`: whose causes they are; NULL if they follow from them.
static void differences(keel_json_t *json, const char *field, const keel_run_difference_t *list,
                        size_t count, const keel_why_t *why, const keel_why_entry_t *entry) {
    keel_json_array(json, field);
    for (size_t i = 0; i < count; ++i) {
        const keel_run_difference_t *one = &list[i];
        keel_json_break(json, "\n      ");
        keel_json_object(json, NULL);
        keel_json_string(json, "kind", keel_cause_facts(one->kind)->word);
        write_change(json, one);
        write_place(json, &one->place);
        operation(json, "old_op", one->old_op);
        operation(json, "new_op", one->new_op);
        if (one->folds) keel_json_unsigned(json, "folds", one->folds);
        operation(json, "follows", one->follows);
        if (entry) write_advice(json, why, entry, one);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

static void write_stack(keel_json_t *json, const keel_why_entry_t *entry) {
    keel_json_array(json, "stack");
    for (size_t i = 0; i < entry->asked->stack_count; ++i) {
        keel_json_object(json, NULL);
        keel_json_string(json, "file", entry->asked->stack[i].file);
        keel_json_unsigned(json, "line", entry->asked->stack[i].line);
        keel_json_string(json, "function", entry->asked->stack[i].function);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
    if (*entry->asked->stack_skipped)
        keel_json_string(json, "stack_skipped", entry->asked->stack_skipped);
}

static void against(keel_json_t *json, const keel_why_entry_t *entry) {
    if (!*entry->asked->against_program) {
        keel_json_null(json, "against");
        return;
    }
    keel_json_object(json, "against");
    keel_json_string(json, "program", entry->asked->against_program);
    keel_json_string(json, "name", entry->asked->against_name);
    keel_json_string(json, "run", entry->asked->against_run);
    keel_text_seconds(json, "when", entry->asked->against_when);
    keel_json_bool(json, "is_ours", entry->asked->against_is_ours);
    keel_json_end_object(json);
}

// The cause: the fields of the first root, if there is one.
static void cause(keel_json_t *json, const keel_why_t *why, const keel_why_entry_t *entry) {
    static const keel_run_difference_t none = {
        .subject = "", .old_value = "", .new_value = "", .note = ""};
    const keel_run_difference_t *root = keel_why_cause(entry);
    const keel_cause_facts_t *facts = root ? keel_cause_facts(root->kind) : NULL;
    keel_json_string(json, "cause",
                     facts                     ? facts->sentence
                     : entry->asked->unrelated ? "the programs have almost nothing in common"
                                               : "unknown");
    keel_json_string(json, "kind",
                     facts                     ? facts->word
                     : entry->asked->unrelated ? "unrelated"
                                               : "");
    write_place(json, keel_why_place(entry));
    write_script(json, &entry->asked->site);
    write_change(json, root ? root : &none);
    write_advice(json, why, entry, root);
    char page[64] = "";
    if (facts) snprintf(page, sizeof page, "docs/causes/%s.md", facts->word);
    keel_json_string(json, "page", page);
}

static void entry_object(keel_json_t *json, const keel_why_t *why, const keel_why_entry_t *entry) {
    keel_json_object(json, NULL);
    keel_json_string(json, "program", entry->asked->program);
    keel_json_string(json, "name", entry->asked->name);
    keel_json_string(json, "key", entry->asked->key);
    cause(json, why, entry);
    keel_json_unsigned(json, "step", entry->asked->step);
    keel_json_unsigned(json, "last_step", entry->asked->last_step);
    keel_json_unsigned(json, "times", entry->asked->took.times);
    keel_text_seconds(json, "t", entry->asked->t);
    keel_json_unsigned(json, "pid", entry->asked->pid > 0 ? (uint64_t)entry->asked->pid : 0);
    keel_json_string(json, "what", entry->asked->what);
    keel_tier_json(&why->run, entry->asked->tier, entry->asked->key, json);
    keel_text_took(json, "seconds", &entry->asked->took);
    keel_json_bool(json, "recompile", entry->recompile);
    keel_json_string(json, "pattern", entry->set ? "set" : entry->pattern);
    keel_json_bool(json, "unrelated", entry->asked->unrelated);
    keel_text_seconds(json, "alike", entry->asked->alike);
    against(json, entry);
    write_stack(json, entry);
    differences(json, "causes", entry->roots, entry->root_count, why, entry);
    keel_json_unsigned(json, "cause_total", entry->root_total);
    differences(json, "folded", entry->folded, entry->folded_count, why, NULL);
    keel_json_unsigned(json, "folded_total", entry->folded_total);
    keel_json_end_object(json);
}

static void read_place(keel_json_t *json, const keel_reads_line_t *line) {
    write_place(json, &(keel_run_place_t){.file = line->file,
                                          .line = line->line,
                                          .function = line->function,
                                          .call_file = line->call_file,
                                          .call_line = line->call_line,
                                          .library_file = line->library_file,
                                          .library_line = line->library_line});
}

// Like an entry, with the fields of a cut.
static void cut_object(keel_json_t *json, const keel_why_t *why, const keel_reads_line_t *line) {
    const keel_cause_facts_t *facts = keel_cause_facts(KEEL_CAUSE_HOST_READ);
    keel_buffer_t sentence;
    keel_buffer_initialize(&sentence, 0);
    keel_reads_sentence(line, &sentence);
    keel_json_object(json, NULL);
    keel_json_string(json, "program", line->program);
    keel_json_string(json, "name", line->name);
    keel_json_string(json, "key", "");
    keel_json_string(json, "cause", facts->sentence);
    keel_json_string(json, "kind", facts->word);
    read_place(json, line);
    write_change(json, &(keel_run_difference_t){.subject = "",
                                                .old_value = "",
                                                .new_value = "",
                                                .note = keel_buffer_cstr(&sentence)});
    keel_json_object(json, "advice");
    keel_json_string(json, "jax", facts->advice[KEEL_FRAMEWORK_JAX]);
    bool is_c = is_of_c(why);
    keel_json_string(json, "torch",
                     is_c ? facts->advice[KEEL_FRAMEWORK_TORCH] : keel_reads_advice(why, line));
    if (is_c) keel_json_string(json, "c", keel_reads_advice(why, line));
    keel_json_end_object(json);
    keel_json_string(json, "page", "docs/causes/host_read.md");
    keel_json_string(json, "what", "cut");
    keel_json_unsigned(json, "times", line->cuts);
    keel_json_unsigned(json, "pieces", line->pieces);
    keel_json_unsigned(json, "reads", line->moved.count);
    keel_json_unsigned(json, "bytes", line->moved.bytes);
    keel_text_moved(json, &line->moved);
    keel_json_bool(json, "recompile", false);
    keel_json_string(json, "pattern", "");
    keel_json_bool(json, "unrelated", false);
    json->style = KEEL_JSON_COMPACT;
    keel_json_null(json, "against");
    keel_json_array(json, "causes");
    keel_json_end_array(json);
    keel_json_array(json, "folded");
    keel_json_end_array(json);
    keel_json_end_object(json);
    json->style = KEEL_JSON_SPACED;
    keel_buffer_deinitialize(&sentence);
}

// Likewise.
static void barrier_object(keel_json_t *json, const keel_why_barrier_t *barrier) {
    const char *advice = keel_case_advice(KEEL_CASE_BARRIER);
    keel_buffer_t sentence;
    keel_buffer_initialize(&sentence, 0);
    keel_barrier_sentence(barrier, &sentence);
    keel_json_object(json, NULL);
    keel_json_string(json, "program", barrier->program);
    keel_json_string(json, "name", barrier->name);
    keel_json_string(json, "key", "");
    keel_json_string(json, "cause", "a sync in mid-step splits the step");
    keel_json_string(json, "kind", "barrier");
    write_place(json, barrier->place);
    write_change(json, &(keel_run_difference_t){.subject = "",
                                                .old_value = "",
                                                .new_value = "",
                                                .note = keel_buffer_cstr(&sentence)});
    keel_json_object(json, "advice");
    keel_json_string(json, "jax", advice);
    keel_json_string(json, "torch", advice);
    keel_json_end_object(json);
    keel_json_string(json, "page", "docs/torch.md");
    keel_json_string(json, "what", "cut");
    keel_json_unsigned(json, "times", barrier->times);
    keel_json_unsigned(json, "pieces", barrier->pieces);
    keel_json_unsigned(json, "reads", 0);
    keel_json_unsigned(json, "bytes", 0);
    keel_text_took(json, "seconds", &barrier->took);
    keel_json_bool(json, "recompile", false);
    keel_json_string(json, "pattern", "");
    keel_json_bool(json, "unrelated", false);
    keel_json_null(json, "against");
    keel_json_array(json, "causes");
    keel_json_end_array(json);
    keel_json_array(json, "folded");
    keel_json_end_array(json);
    keel_json_end_object(json);
    keel_buffer_deinitialize(&sentence);
}

void keel_text_why_json(const keel_why_t *why, bool all, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_array(&json, NULL);
    for (size_t i = 0; i < why->entry_count; ++i) {
        if (!all && !keel_why_is_shown(&why->entries[i])) continue;
        keel_json_break(&json, "\n  ");
        entry_object(&json, why, &why->entries[i]);
    }
    for (size_t i = 0; i < why->run.reads.cut_count; ++i) {
        keel_json_break(&json, "\n  ");
        cut_object(&json, why, &why->run.reads.lines[i]);
    }
    for (size_t i = 0; i < why->barrier_count; ++i) {
        keel_json_break(&json, "\n  ");
        barrier_object(&json, &why->barriers[i]);
    }
    keel_json_break(&json, "\n");
    keel_json_end_array(&json);
}
