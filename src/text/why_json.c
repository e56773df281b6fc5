#include <stdio.h>

#include "text/facts.h"
#include "text/text.h"
#include "text/write.h"

static void place(keel_buffer_t *out, const keel_run_place_t *value) {
    keel_json_text(out, "file", value->file);
    keel_json_number(out, "line", value->line);
    keel_json_text(out, "function", value->function);
    keel_json_text(out, "call_file", value->call_file);
    keel_json_number(out, "call_line", value->call_line);
    keel_json_text(out, "library_file", value->library_file);
    keel_json_number(out, "library_line", value->library_line);
}

static void operation(keel_buffer_t *out, const char *field, uint32_t index) {
    if (index != KEEL_NONE) keel_json_number(out, field, index);
}

static void values(keel_buffer_t *out, const keel_run_difference_t *value) {
    keel_json_text(out, "subject", value->subject);
    keel_json_text(out, "old", value->old_value);
    keel_json_text(out, "new", value->new_value);
    keel_json_text(out, "note", value->note);
}

static void differences(keel_buffer_t *out, const char *field, const keel_run_difference_t *list,
                        size_t count) {
    keel_json_name(out, field);
    keel_buffer_byte(out, '[');
    for (size_t i = 0; i < count; ++i) {
        const keel_run_difference_t *one = &list[i];
        keel_buffer_text(out, i ? ",\n      {" : "\n      {");
        keel_json_text(out, "kind", keel_cause_facts(one->kind)->word);
        values(out, one);
        place(out, &one->place);
        operation(out, "old_op", one->old_op);
        operation(out, "new_op", one->new_op);
        if (one->folds) keel_json_number(out, "folds", one->folds);
        operation(out, "follows", one->follows);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, ']');
}

static void stack(keel_buffer_t *out, const keel_why_entry_t *entry) {
    keel_json_name(out, "stack");
    keel_buffer_byte(out, '[');
    for (size_t i = 0; i < entry->asked->stack_count; ++i) {
        keel_buffer_text(out, i ? ", {" : "{");
        keel_json_text(out, "file", entry->asked->stack[i].file);
        keel_json_number(out, "line", entry->asked->stack[i].line);
        keel_json_text(out, "function", entry->asked->stack[i].function);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, ']');
    if (*entry->asked->stack_skipped)
        keel_json_text(out, "stack_skipped", entry->asked->stack_skipped);
}

static void against(keel_buffer_t *out, const keel_why_entry_t *entry) {
    keel_json_name(out, "against");
    if (!*entry->asked->against_program) {
        keel_buffer_text(out, "null");
        return;
    }
    keel_buffer_byte(out, '{');
    keel_json_text(out, "program", entry->asked->against_program);
    keel_json_text(out, "name", entry->asked->against_name);
    keel_json_text(out, "run", entry->asked->against_run);
    keel_json_seconds(out, "when", entry->asked->against_when);
    keel_json_true(out, "is_ours", entry->asked->against_is_ours);
    keel_buffer_byte(out, '}');
}

// The cause: of the first root, flat, as far as there is one.
static void cause(keel_buffer_t *out, const keel_why_t *why, const keel_why_entry_t *entry) {
    static const keel_run_difference_t none = {
        .subject = "", .old_value = "", .new_value = "", .note = ""};
    const keel_run_difference_t *root = keel_why_cause(entry);
    const keel_cause_facts_t *facts = root ? keel_cause_facts(root->kind) : NULL;
    keel_json_text(out, "cause",
                   facts                     ? facts->sentence
                   : entry->asked->unrelated ? "the programs have almost nothing in common"
                                             : "unknown");
    keel_json_text(out, "kind", facts ? facts->word : entry->asked->unrelated ? "unrelated" : "");
    place(out, keel_why_place(entry));
    values(out, root ? root : &none);
    keel_json_name(out, "advice");
    keel_buffer_byte(out, '{');
    keel_json_text(out, "jax", facts ? keel_why_advice(why, entry, root, false) : "");
    keel_json_text(out, "torch", facts ? keel_why_advice(why, entry, root, true) : "");
    keel_buffer_byte(out, '}');
    char page[64] = "";
    if (facts) snprintf(page, sizeof page, "docs/causes/%s.md", facts->word);
    keel_json_text(out, "page", page);
}

static void entry_object(keel_buffer_t *out, const keel_why_t *why, const keel_why_entry_t *entry) {
    keel_buffer_byte(out, '{');
    keel_json_text(out, "program", entry->asked->program);
    keel_json_text(out, "name", entry->asked->name);
    keel_json_text(out, "key", entry->asked->key);
    cause(out, why, entry);
    keel_json_number(out, "step", entry->asked->step);
    keel_json_seconds(out, "t", entry->asked->t);
    keel_json_number(out, "pid", entry->asked->pid > 0 ? (uint64_t)entry->asked->pid : 0);
    keel_json_text(out, "what", entry->asked->what);
    keel_json_seconds(out, "seconds", entry->asked->seconds);
    keel_json_true(out, "recompile", entry->recompile);
    keel_json_text(out, "pattern", entry->pattern);
    keel_json_true(out, "unrelated", entry->asked->unrelated);
    keel_json_seconds(out, "alike", entry->asked->alike);
    against(out, entry);
    stack(out, entry);
    differences(out, "causes", entry->roots, entry->root_count);
    keel_json_number(out, "cause_total", entry->root_total);
    differences(out, "folded", entry->folded, entry->folded_count);
    keel_json_number(out, "folded_total", entry->folded_total);
    keel_buffer_byte(out, '}');
}

static void read_place(keel_buffer_t *out, const keel_reads_line_t *line) {
    place(out, &(keel_run_place_t){.file = line->file,
                                   .line = line->line,
                                   .function = line->function,
                                   .call_file = line->call_file,
                                   .call_line = line->call_line,
                                   .library_file = line->library_file,
                                   .library_line = line->library_line});
}

// As an entry, with what tells a cut beside it.
static void cut_object(keel_buffer_t *out, const keel_reads_line_t *line) {
    const keel_cause_facts_t *facts = keel_cause_facts(KEEL_CAUSE_HOST_READ);
    keel_buffer_t sentence;
    keel_buffer_initialize(&sentence, 0);
    keel_reads_sentence(line, &sentence);
    keel_buffer_byte(out, '{');
    keel_json_text(out, "program", line->program);
    keel_json_text(out, "name", line->name);
    keel_json_text(out, "key", "");
    keel_json_text(out, "cause", facts->sentence);
    keel_json_text(out, "kind", facts->word);
    read_place(out, line);
    values(out, &(keel_run_difference_t){.subject = "",
                                         .old_value = "",
                                         .new_value = "",
                                         .note = keel_buffer_cstr(&sentence)});
    keel_json_name(out, "advice");
    keel_buffer_byte(out, '{');
    keel_json_text(out, "jax", facts->jax);
    keel_json_text(out, "torch", keel_reads_advice(line->endless));
    keel_buffer_byte(out, '}');
    keel_json_text(out, "page", "docs/causes/host_read.md");
    keel_json_text(out, "what", "cut");
    keel_json_number(out, "times", line->cuts);
    keel_json_number(out, "pieces", line->pieces);
    keel_json_number(out, "reads", line->moved.count);
    keel_json_number(out, "bytes", line->moved.bytes);
    keel_json_seconds(out, "seconds", line->moved.seconds);
    keel_json_true(out, "recompile", false);
    keel_json_text(out, "pattern", "");
    keel_json_true(out, "unrelated", false);
    keel_buffer_text(out, ",\"against\":null,\"causes\":[],\"folded\":[]}");
    keel_buffer_deinitialize(&sentence);
}

void keel_text_why_json(const keel_why_t *why, bool all, keel_buffer_t *out) {
    size_t written = 0;
    keel_buffer_byte(out, '[');
    for (size_t i = 0; i < why->entry_count; ++i) {
        if (!all && !keel_why_is_shown(&why->entries[i])) continue;
        keel_buffer_text(out, written++ ? ",\n  " : "\n  ");
        entry_object(out, why, &why->entries[i]);
    }
    for (size_t i = 0; i < why->run.reads.cut_count; ++i) {
        keel_buffer_text(out, written++ ? ",\n  " : "\n  ");
        cut_object(out, &why->run.reads.lines[i]);
    }
    keel_buffer_text(out, written ? "\n]" : "]");
}
