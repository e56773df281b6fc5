#include <stdio.h>

#include "cli/diff.h"
#include "text/facts.h"
#include "text/write.h"

enum { SHOWN = 20, DIGITS = 12 };

// ---- text --------------------------------------------------------------------------------------

static void digest_text(const keel_run_program_t *program, keel_buffer_t *out) {
    char digits[DIGITS + 1];
    snprintf(digits, sizeof digits, "%s", program->program);
    cli_diff_value(digits, 0, out);
}

static void name_text(const keel_run_program_t *program, keel_buffer_t *out) {
    cli_diff_value(*program->name ? program->name : "(no name)", 80, out);
    keel_buffer_byte(out, ' ');
    digest_text(program, out);
}

static void alone_text(const cli_diff_run_t *run, bool whole, keel_buffer_t *out) {
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < run->stats.program_count; ++i)
        count += run->state[i] == CLI_DIFF_ALONE;
    if (!count) return;
    keel_buffer_format(out, "%zu only in %s:\n", count, run->id);
    for (size_t i = 0; i < run->stats.program_count && (whole || shown < SHOWN); ++i) {
        if (run->state[i] != CLI_DIFF_ALONE) continue;
        const keel_run_program_t *program = &run->stats.programs[i];
        keel_buffer_text(out, "  ");
        name_text(program, out);
        if (*program->site.shown) keel_buffer_text(out, ", ");
        cli_diff_value(program->site.shown, 0, out);
        keel_buffer_byte(out, '\n');
        ++shown;
    }
    if (shown < count) keel_buffer_format(out, "  %zu more; --all prints them\n", count - shown);
}

static void further_text(const keel_difference_t *root, keel_buffer_t *out) {
    keel_buffer_format(out, "\n    also %s, ", keel_cause_facts(root->kind)->word);
    cli_diff_change(root, true, out);
    if (*root->note) keel_buffer_text(out, ", ");
    cli_diff_value(root->note, 0, out);
}

static void pair_text(const cli_diff_runs_t *all, const cli_diff_pair_t *pair, bool whole,
                      keel_buffer_t *out) {
    const keel_run_program_t *old = &all->runs[0].stats.programs[pair->old];
    const keel_run_program_t *new = &all->runs[1].stats.programs[pair->new];
    const keel_explanation_t *explanation = &pair->explanation;
    keel_buffer_text(out, "  ");
    name_text(old, out);
    keel_buffer_text(out, " -> ");
    if (strcmp(old->name, new->name) == 0)
        digest_text(new, out);
    else
        name_text(new, out);
    keel_buffer_text(out, ": ");
    if (explanation->unrelated) {
        keel_buffer_text(out, "nothing in common");
    } else if (explanation->root_count) {
        const keel_difference_t *root = &explanation->roots[0];
        keel_buffer_format(out, "%s, ", keel_cause_facts(root->kind)->word);
        cli_diff_change(root, whole, out);
        size_t began = out->size;
        keel_buffer_text(out, ", ");
        size_t place = out->size;
        cli_diff_place(&root->place, out);
        if (out->size == place && !out->failed) out->size = began;
        size_t told = whole ? explanation->root_count : 1;
        for (size_t i = 1; i < told; ++i)
            further_text(&explanation->roots[i], out);
        size_t more = explanation->root_total - told;
        if (more)
            keel_buffer_format(out, "; and %zu more %s", more, more == 1 ? "cause" : "causes");
    }
    keel_buffer_byte(out, '\n');
}

static size_t count_pairs(const cli_diff_runs_t *all, bool same) {
    size_t count = 0;
    for (size_t i = 0; i < all->pair_count; ++i)
        count += all->pairs[i].same == same;
    return count;
}

static void pairs_text(const cli_diff_runs_t *all, bool same, bool whole, keel_buffer_t *out) {
    size_t count = count_pairs(all, same), shown = 0;
    if (!count) return;
    keel_buffer_format(out, same ? "%zu the same under a different key\n" : "%zu changed:\n",
                       count);
    size_t listed = 0;
    for (size_t i = 0; i < all->pair_count; ++i) {
        const cli_diff_pair_t *pair = &all->pairs[i];
        bool silent = same && cli_diff_is_none(&pair->explanation);
        if (pair->same != same || silent) continue;
        ++listed;
        if (!whole && shown == SHOWN) continue;
        pair_text(all, pair, whole, out);
        ++shown;
    }
    if (shown < listed) keel_buffer_format(out, "  %zu more; --all prints them\n", listed - shown);
}

static void moved_text(const keel_explanation_t *moved, bool whole, keel_buffer_t *out) {
    if (!moved->root_total) return;
    keel_buffer_text(out, "For all programs:\n");
    for (size_t i = 0; i < moved->root_count; ++i) {
        keel_buffer_format(out, "  %s, ", keel_cause_facts(moved->roots[i].kind)->word);
        cli_diff_change(&moved->roots[i], whole, out);
        keel_buffer_byte(out, '\n');
    }
    if (moved->root_total > moved->root_count)
        keel_buffer_format(out, "  %zu more\n", moved->root_total - moved->root_count);
}

// "" if the devices were there.
static const char *target_of(const cli_diff_run_t *run) {
    return run->stats.rehearsal.target.name;
}

void cli_diff_runs_text(const cli_diff_runs_t *all, bool whole, keel_buffer_t *out) {
    for (int i = 0; i < 2; ++i) {
        keel_buffer_format(out, "%c: run %s, ", "AB"[i], all -> runs[i].id);
        if (*target_of(&all->runs[i])) {
            keel_buffer_text(out, "rehearsed on ");
            cli_diff_value(target_of(&all->runs[i]), 0, out);
            keel_buffer_text(out, ", ");
        }
        keel_write_counted(out, all->runs[i].stats.program_count, "program");
        keel_buffer_byte(out, '\n');
        if (!all->runs[i].stats.asides.late) continue;
        keel_buffer_text(out, "   ");
        keel_late_sentence(&all->runs[i].stats.asides, out);
        keel_buffer_byte(out, '\n');
    }
    moved_text(&all->moved, whole, out);
    keel_buffer_format(out, "%zu in both, under the same key\n", all->shared);
    pairs_text(all, true, whole, out);
    pairs_text(all, false, whole, out);
    alone_text(&all->runs[0], whole, out);
    alone_text(&all->runs[1], whole, out);
}

// ---- JSON --------------------------------------------------------------------------------------

static void program_json(const char *name, const keel_run_program_t *program, keel_json_t *json) {
    keel_json_object(json, name);
    keel_json_string(json, "program", program->program);
    keel_json_string(json, "identity", program->identity);
    keel_json_string(json, "name", program->name);
    keel_json_unsigned(json, "ops", program->ops);
    if (*program->site.file) {
        keel_json_string(json, "file", program->site.file);
        keel_json_unsigned(json, "line", program->site.line);
    }
    keel_json_end_object(json);
}

static void alone_json(const char *name, const cli_diff_run_t *run, keel_json_t *json) {
    keel_json_array(json, name);
    for (size_t i = 0; i < run->stats.program_count; ++i) {
        if (run->state[i] != CLI_DIFF_ALONE) continue;
        keel_json_break(json, "\n  ");
        program_json(NULL, &run->stats.programs[i], json);
    }
    keel_json_end_array(json);
}

static void pairs_json(const cli_diff_runs_t *all, keel_json_t *json) {
    keel_json_array(json, "pairs");
    for (size_t i = 0; i < all->pair_count; ++i) {
        const cli_diff_pair_t *pair = &all->pairs[i];
        keel_json_break(json, "\n ");
        keel_json_object(json, NULL);
        program_json("a", &all->runs[0].stats.programs[pair->old], json);
        program_json("b", &all->runs[1].stats.programs[pair->new], json);
        keel_json_bool(json, "same", pair->same);
        cli_diff_json(&pair->explanation, json);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

void cli_diff_runs_json(const cli_diff_runs_t *all, bool same, keel_buffer_t *out) {
    static const char *const letters[] = {"a", "b"}, *const alone[] = {"only_a", "only_b"};
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_bool(&json, "same", same);
    for (int i = 0; i < 2; ++i) {
        keel_json_object(&json, letters[i]);
        keel_json_string(&json, "run", all->runs[i].id);
        if (*target_of(&all->runs[i]))
            keel_json_string(&json, "target", target_of(&all->runs[i]));
        else
            keel_json_null(&json, "target");
        keel_json_unsigned(&json, "programs", all->runs[i].stats.program_count);
        keel_json_end_object(&json);
    }
    cli_diff_list("moved", all->moved.roots, all->moved.root_count, true, &json);
    keel_json_unsigned(&json, "moved_total", all->moved.root_total);
    keel_json_unsigned(&json, "shared", all->shared);
    pairs_json(all, &json);
    for (int i = 0; i < 2; ++i)
        alone_json(alone[i], &all->runs[i], &json);
    keel_json_end_object(&json);
}
