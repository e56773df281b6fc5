#include "journal/line.h"
#include "analysis/answer.h"

// The arguments without a name that a root is about: its own, and those that came or went with it.
static void arguments(keel_json_t *line, const keel_explanation_t *value, size_t root) {
    enum { MOST = 64 };
    const keel_difference_t *difference = &value->roots[root];
    if (!difference->argument) return;
    keel_json_array(line, "arguments");
    keel_json_unsigned(line, NULL, difference->argument - 1);
    for (size_t i = 0, count = 1; i < value->folded_count && count < MOST; ++i) {
        const keel_difference_t *other = &value->folded[i];
        if (other->follows != root || other->kind != difference->kind || !other->argument) continue;
        keel_json_unsigned(line, NULL, other->argument - 1);
        ++count;
    }
    keel_json_end_array(line);
}

static void differences(keel_json_t *line, const keel_explanation_t *value, bool are_roots) {
    const keel_difference_t *list = are_roots ? value->roots : value->folded;
    size_t count = are_roots ? value->root_count : value->folded_count, began = line->out->size;
    keel_json_array(line, are_roots ? "roots" : "folded");
    for (size_t i = 0; i < count && keel_line_has_room(line, began); ++i) {
        keel_line_object(line, NULL);
        keel_difference_json(&list[i], are_roots, KEEL_LINE_TEXT_LIMIT, line);
        if (are_roots) arguments(line, value, i);
        keel_json_end_object(line);
    }
    keel_json_end_array(line);
}

static void explanation(keel_json_t *line, const keel_explanation_t *value) {
    keel_json_bool(line, "unrelated", value->unrelated);
    keel_line_real(line, "alike", value->alike);
    differences(line, value, true);
    keel_json_unsigned(line, "root_total", value->root_total);
    differences(line, value, false);
    keel_json_unsigned(line, "folded_total", value->folded_total);
    if (value->stops) keel_json_bool(line, "stops", true);
    if (!value->left_count) return;
    keel_json_array(line, "left");
    for (size_t i = 0; i < value->left_count; ++i)
        keel_json_unsigned(line, NULL, value->left[i]);
    keel_json_end_array(line);
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

// Each line once.
static void made(keel_json_t *line, const asked_t *asked) {
    enum { MOST = 8 };
    const keel_place_t *known[MOST];
    size_t count = 0;
    for (uint32_t i = 0; i < asked->made_count && count < MOST; ++i) {
        const keel_place_t *place = &asked->made[i].place;
        size_t at = 0;
        while (at < count &&
               (known[at]->line != place->line || strcmp(known[at]->file, place->file) != 0))
            ++at;
        if (at < count || !*place->file) continue;
        if (!count) keel_json_array(line, "made");
        known[count++] = place;
        keel_json_object(line, NULL);
        keel_line_known_text(line, "file", place->file);
        keel_json_unsigned(line, "line", place->line);
        keel_line_known_text(line, "function", place->function);
        keel_json_end_object(line);
    }
    if (count) keel_json_end_array(line);
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
    made(&line, asked);
    keel_line_end(&line);
}
