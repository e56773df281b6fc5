#include "journal/line.h"
#include "analysis/answer.h"

static void differences(keel_json_t *line, const char *name, const keel_difference_t *list,
                        size_t count, bool are_roots) {
    keel_json_array(line, name);
    size_t began = line->out->size;
    for (size_t i = 0; i < count && keel_line_has_room(line, began); ++i) {
        keel_line_object(line, NULL);
        keel_difference_json(&list[i], are_roots, KEEL_LINE_TEXT_LIMIT, line);
        keel_json_end_object(line);
    }
    keel_json_end_array(line);
}

static void explanation(keel_json_t *line, const keel_explanation_t *value) {
    keel_json_bool(line, "unrelated", value->unrelated);
    keel_line_real(line, "alike", value->alike);
    differences(line, "roots", value->roots, value->root_count, true);
    keel_json_unsigned(line, "root_total", value->root_total);
    differences(line, "folded", value->folded, value->folded_count, false);
    keel_json_unsigned(line, "folded_total", value->folded_total);
}

static void against(keel_json_t *line, const answer_t *answer) {
    const keel_history_record_t *record = &answer->record;
    keel_line_object(line, "against");
    keel_line_digest(line, "program", &record->program);
    keel_line_known_text(line, "name", record->name);
    keel_line_known_text(line, "run", record->run);
    keel_line_real(line, "when", record->when);
    keel_json_bool(line, "is_ours", record->is_ours);
    if (answer->is_another_function) keel_json_bool(line, "is_another_function", true);
    keel_json_end_object(line);
}

static const char *text_or_null(const char *text) {
    return text && *text ? text : NULL;
}

static void site(keel_json_t *line, const keel_place_t *place) {
    keel_line_site(line, &(keel_journal_site_t){.file = text_or_null(place->file),
                                                .line = place->line,
                                                .function = text_or_null(place->function),
                                                .call_file = text_or_null(place->call_file),
                                                .call_line = place->call_line,
                                                .library_file = text_or_null(place->library_file),
                                                .library_line = place->library_line,
                                                .application = text_or_null(place->application),
                                                .script_file = text_or_null(place->script_file),
                                                .script_line = place->script_line});
}

void answer_line(const asked_t *asked, const answer_t *answer, keel_buffer_t *out) {
    keel_json_t line = keel_json(out, KEEL_JSON_COMPACT);
    keel_line_begin_at(&line, "explain", asked->t, asked->pid);
    keel_line_subject(&line, &(keel_journal_subject_t){.program = &asked->program,
                                                       .name = asked->name,
                                                       .key = &asked->key.digest});
    keel_line_text(&line, "what", keel_ask_word(asked->kind));
    keel_line_real(&line, "seconds", asked->seconds);
    keel_json_bool(&line, "recompile", asked->recompile);
    if (asked->kind == KEEL_ASK_RETRACE) {
        keel_line_known_text(&line, "miss", asked->miss);
        keel_line_known_text(&line, "miss_note", asked->miss_note);
    }
    site(&line, &asked->site.place);
    keel_line_known_text(&line, "origin", asked->site.origin);
    if (answer->has_record) against(&line, answer);
    explanation(&line, &answer->explanation);
    keel_line_stack(&line, &asked->stack);
    keel_line_end(&line);
}
