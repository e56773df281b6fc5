#include "journal/line.h"

// A line has a limit, and one that outgrows it would end the journal: texts are cut, and lists end
// early where they take too much; their totals tell.
enum { TEXT_LIMIT = 1024, LIST_LIMIT = 1 << 18 };

// Leaves out what is not known: NULL and "".
static void text(keel_buffer_t *line, const char *name, const char *value) {
    if (!value || !*value) return;
    keel_str_t whole = keel_str(value);
    if (whole.size <= TEXT_LIMIT) {
        keel_line_text(line, name, value);
        return;
    }
    char cut[TEXT_LIMIT + 4];
    size_t size = TEXT_LIMIT;
    while (size && ((unsigned char)value[size] & 0xc0) == 0x80)
        --size; // not within a character
    memcpy(cut, value, size);
    memcpy(cut + size, "...", 4);
    keel_line_text(line, name, cut);
}

static void number(keel_buffer_t *line, const char *name, uint32_t value, uint32_t unknown) {
    if (value != unknown) keel_line_number(line, name, value);
}

static void difference(keel_buffer_t *line, const keel_difference_t *value, bool is_root) {
    size_t at = line->size + 1;
    keel_buffer_byte(line, '{');
    keel_line_text(line, "kind", keel_cause_facts(value->kind)->word);
    text(line, "subject", value->subject);
    text(line, "old", value->old_value);
    text(line, "new", value->new_value);
    text(line, "note", value->note);
    text(line, "file", value->place.file);
    number(line, "line", value->place.line, 0);
    text(line, "function", value->place.function);
    text(line, "call_file", value->place.call_file);
    number(line, "call_line", value->place.call_line, 0);
    number(line, "old_op", value->old_op, KEEL_NONE);
    number(line, "new_op", value->new_op, KEEL_NONE);
    if (is_root)
        number(line, "folds", value->folds, 0);
    else
        number(line, "follows", value->follows, KEEL_NONE);
    keel_line_close(line, at);
}

// Begins an element of a list; false where the list has taken its share.
static bool element(keel_buffer_t *line, size_t began, size_t index) {
    if (line->failed || line->size - began > LIST_LIMIT) return false;
    if (index) keel_buffer_byte(line, ',');
    return true;
}

static void differences(keel_buffer_t *line, const char *name, const keel_difference_t *list,
                        size_t count, bool are_roots) {
    keel_line_name(line, name);
    keel_buffer_byte(line, '[');
    size_t began = line->size;
    for (size_t i = 0; i < count && element(line, began, i); ++i)
        difference(line, &list[i], are_roots);
    keel_buffer_byte(line, ']');
}

static void explanation(keel_buffer_t *line, const keel_explanation_t *value) {
    keel_line_true(line, "unrelated", value->unrelated);
    keel_line_real(line, "alike", value->alike);
    differences(line, "roots", value->roots, value->root_count, true);
    keel_line_number(line, "root_total", value->root_total);
    differences(line, "folded", value->folded, value->folded_count, false);
    keel_line_number(line, "folded_total", value->folded_total);
}

static void against(keel_buffer_t *line, const keel_journal_explain_t *event) {
    if (!event->against.program) return;
    size_t at = keel_line_open(line, "against");
    keel_line_digest(line, "program", event->against.program);
    text(line, "name", event->against.name);
    text(line, "run", event->against.run);
    keel_line_real(line, "when", event->against.when);
    keel_line_true(line, "is_ours", event->against.is_ours);
    keel_line_close(line, at);
}

static void stack(keel_buffer_t *line, const keel_stack_t *value) {
    keel_line_name(line, "stack");
    keel_buffer_byte(line, '[');
    size_t began = line->size;
    for (uint32_t i = 0; i < value->count && element(line, began, i); ++i) {
        size_t at = line->size + 1;
        keel_buffer_byte(line, '{');
        text(line, "file", value->frames[i].file);
        number(line, "line", value->frames[i].line, 0);
        text(line, "function", value->frames[i].function);
        keel_line_close(line, at);
    }
    keel_buffer_byte(line, ']');
    number(line, "stack_left_out", value->left_out, 0);
    text(line, "stack_skipped", value->skipped);
}

void keel_journal_explain(keel_journal_t *journal, const keel_journal_explain_t *event) {
    keel_buffer_t line;
    if (!keel_line_begin(journal, &line, "explain")) return;
    keel_line_subject(&line, &event->subject);
    text(&line, "what", event->what);
    keel_line_real(&line, "seconds", event->seconds);
    keel_line_true(&line, "recompile", event->recompile);
    keel_line_site(&line, &event->site);
    against(&line, event);
    if (event->explanation) explanation(&line, event->explanation);
    if (event->stack) stack(&line, event->stack);
    keel_line_real(&line, "explain_seconds", event->explain_seconds);
    keel_line_finish(journal, &line);
}
