#define _GNU_SOURCE
#include <unistd.h>

#include "cli/diff.h"

enum { ROOTS_SHOWN = 8, VALUE_SHOWN = 120 };

// ---- text --------------------------------------------------------------------------------------

void cli_diff_value(const char *text, size_t longest, keel_buffer_t *out) {
    size_t size = strlen(text), end = size;
    if (longest && size > longest) {
        end = longest;
        while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
            --end; // not inside a character
    }
    const keel_str_t shown = {text, end};
    size_t length;
    for (size_t i = 0; i < end; i += length) {
        if (keel_utf8_shows(shown, i, &length))
            keel_buffer_append(out, text + i, length);
        else
            keel_buffer_byte(out, text[i] == '\n' || text[i] == '\t' ? ' ' : '?');
    }
    if (end < size) keel_buffer_text(out, "...");
}

void cli_diff_change(const keel_difference_t *difference, bool all, keel_buffer_t *out) {
    size_t longest = all ? 0 : VALUE_SHOWN;
    const char *const values[] = {difference->old_value, difference->new_value};
    cli_diff_value(difference->subject, longest, out);
    if (*values[0] || *values[1]) {
        if (*difference->subject) keel_buffer_text(out, ": ");
        cli_diff_value(*values[0] ? values[0] : "nothing", longest, out);
        keel_buffer_text(out, " -> ");
        cli_diff_value(*values[1] ? values[1] : "nothing", longest, out);
    }
    if (!*difference->note) return;
    keel_buffer_text(out, *difference->subject || *values[0] || *values[1] ? ", " : "");
    cli_diff_value(difference->note, longest, out);
}

static void line_of(const char *file, uint32_t line, keel_buffer_t *out) {
    char folder[4096];
    size_t size = getcwd(folder, sizeof folder) ? strlen(folder) : 0;
    bool here = size > 1 && strncmp(file, folder, size) == 0 && file[size] == '/';
    cli_diff_value(here ? file + size + 1 : file, 0, out);
    if (line) keel_buffer_format(out, ":%u", (unsigned)line);
}

void cli_diff_place(const keel_place_t *place, keel_buffer_t *out) {
    const char *file = place->file ? place->file : "";
    const char *caller = place->call_file ? place->call_file : "";
    if (*file) line_of(file, place->line, out);
    if (*file && place->function && *place->function) {
        keel_buffer_text(out, " in ");
        cli_diff_value(place->function, VALUE_SHOWN, out);
    }
    if (*caller) {
        keel_buffer_text(out, *file ? ", called at " : "called at ");
        line_of(caller, place->call_line, out);
    }
    if (place->library_file && *place->library_file) {
        keel_buffer_text(out, ", through ");
        line_of(keel_library_shown(place->library_file), place->library_line, out);
    }
    if (!place->scope || !*place->scope) return;
    keel_buffer_text(out, ", in scope ");
    cli_diff_value(place->scope, VALUE_SHOWN, out);
}

static void follow(const keel_explanation_t *explanation, uint32_t root, keel_buffer_t *out) {
    for (size_t i = 0; i < explanation->folded_count; ++i) {
        const keel_difference_t *folded = &explanation->folded[i];
        if (folded->follows != root) continue;
        keel_buffer_format(out, "     %s ", keel_cause_facts(folded->kind)->word);
        cli_diff_change(folded, true, out);
        if (folded->place.file && *folded->place.file) {
            keel_buffer_text(out, ", ");
            line_of(folded->place.file, folded->place.line, out);
        }
        keel_buffer_byte(out, '\n');
    }
}

static void root_text(const keel_explanation_t *explanation, uint32_t index, bool all,
                      keel_buffer_t *out) {
    const keel_difference_t *root = &explanation->roots[index];
    const keel_cause_facts_t *facts = keel_cause_facts(root->kind);
    keel_buffer_format(out, "%u. %s: %s\n   ", (unsigned)index + 1, facts->word, facts->sentence);
    size_t began = out->size;
    cli_diff_change(root, all, out);
    if (out->size > began) keel_buffer_text(out, "\n   ");
    began = out->size;
    cli_diff_place(&root->place, out);
    if (out->size > began) keel_buffer_text(out, "\n   ");
    if (root->folds)
        keel_buffer_format(out, "%u %s from it%s", (unsigned)root->folds,
                           root->folds == 1 ? "difference follows" : "differences follow",
                           all ? ":\n" : "");
    while (out->size && out->data[out->size - 1] == ' ')
        --out->size;
    if (out->size && out->data[out->size - 1] != '\n') keel_buffer_byte(out, '\n');
    if (all) follow(explanation, index, out);
}

void cli_diff_text(const keel_explanation_t *explanation, bool all, keel_buffer_t *out) {
    size_t shown = explanation->root_count;
    if (!all && shown > ROOTS_SHOWN) shown = ROOTS_SHOWN;
    for (uint32_t i = 0; i < shown; ++i)
        root_text(explanation, i, all, out);
    size_t more = explanation->root_total - shown;
    if (more)
        keel_buffer_format(out, "%zu more %s; %s\n", more, more == 1 ? "cause" : "causes",
                           shown == explanation->root_count ? "only the first are kept"
                                                            : "--all prints them");
    if (!all && explanation->folded_total) keel_buffer_text(out, "--all lists what follows\n");
    size_t unkept = explanation->folded_total - explanation->folded_count;
    if (all && unkept)
        keel_buffer_format(out, "%zu more differences follow; only the first %zu are kept\n",
                           unkept, explanation->folded_count);
}

// ---- JSON --------------------------------------------------------------------------------------

void cli_diff_list(const char *name, const keel_difference_t *list, size_t count, bool are_roots,
                   keel_json_t *json) {
    keel_json_array(json, name);
    for (size_t i = 0; i < count; ++i) {
        keel_json_break(json, "\n  ");
        keel_json_object(json, NULL);
        keel_difference_json(&list[i], are_roots, 0, json);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

void cli_diff_json(const keel_explanation_t *explanation, keel_json_t *json) {
    bool none = cli_diff_is_none(explanation);
    keel_json_bool(json, "unrelated", explanation->unrelated);
    keel_json_double(json, "alike", explanation->alike, 4);
    cli_diff_list("roots", explanation->roots, none ? 0 : explanation->root_count, true, json);
    keel_json_unsigned(json, "root_total", none ? 0 : explanation->root_total);
    cli_diff_list("folded", explanation->folded, explanation->folded_count, false, json);
    keel_json_unsigned(json, "folded_total", explanation->folded_total);
}

bool cli_diff_is_none(const keel_explanation_t *explanation) {
    if (explanation->unrelated) return false;
    for (size_t i = 0; i < explanation->root_count; ++i)
        if (explanation->roots[i].kind != KEEL_CAUSE_RETRACE) return false;
    return true;
}
