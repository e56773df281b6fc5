#include "journal/line.h"
#include "analysis/answer.h"

// Lists are cut when they take too much; their totals are complete.
enum { LIST_LIMIT = 1 << 18 };

static void number(keel_buffer_t *line, const char *name, uint32_t value, uint32_t unknown) {
    if (value != unknown) keel_line_number(line, name, value);
}

static void difference(keel_buffer_t *line, const keel_difference_t *value, bool is_root) {
    size_t at = line->size + 1;
    keel_buffer_byte(line, '{');
    keel_line_text(line, "kind", keel_cause_facts(value->kind)->word);
    keel_line_known_text(line, "subject", value->subject);
    keel_line_known_text(line, "old", value->old_value);
    keel_line_known_text(line, "new", value->new_value);
    keel_line_known_text(line, "note", value->note);
    keel_line_known_text(line, "file", value->place.file);
    number(line, "line", value->place.line, 0);
    keel_line_known_text(line, "function", value->place.function);
    keel_line_known_text(line, "call_file", value->place.call_file);
    number(line, "call_line", value->place.call_line, 0);
    keel_line_known_text(line, "library_file", value->place.library_file);
    number(line, "library_line", value->place.library_line, 0);
    number(line, "old_op", value->old_op, KEEL_NONE);
    number(line, "new_op", value->new_op, KEEL_NONE);
    if (is_root)
        number(line, "folds", value->folds, 0);
    else
        number(line, "follows", value->follows, KEEL_NONE);
    keel_line_close(line, at);
}

// Begins an element of a list; false once the list has used its share.
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

static void against(keel_buffer_t *line, const keel_history_record_t *record) {
    size_t at = keel_line_open(line, "against");
    keel_line_digest(line, "program", &record->program);
    keel_line_known_text(line, "name", record->name);
    keel_line_known_text(line, "run", record->run);
    keel_line_real(line, "when", record->when);
    keel_line_true(line, "is_ours", record->is_ours);
    keel_line_close(line, at);
}

static const char *known(const char *text) {
    return text && *text ? text : NULL;
}

static void site(keel_buffer_t *line, const keel_place_t *place) {
    keel_line_site(line, &(keel_journal_site_t){.file = known(place->file),
                                                .line = place->line,
                                                .function = known(place->function),
                                                .call_file = known(place->call_file),
                                                .call_line = place->call_line,
                                                .library_file = known(place->library_file),
                                                .library_line = place->library_line});
}

void answer_line(const asked_t *asked, const answer_t *answer, keel_buffer_t *out) {
    keel_line_begin_at(out, "explain", asked->t, asked->pid);
    keel_line_subject(out, &(keel_journal_subject_t){.program = &asked->program,
                                                     .name = asked->name,
                                                     .key = &asked->key.digest});
    keel_line_text(out, "what", keel_ask_word(asked->kind));
    keel_line_real(out, "seconds", asked->seconds);
    keel_line_true(out, "recompile", asked->recompile);
    site(out, &asked->site.place);
    if (answer->has_record) against(out, &answer->record);
    explanation(out, &answer->explanation);
    keel_line_stack(out, &asked->stack);
    keel_buffer_text(out, "}\n");
}
