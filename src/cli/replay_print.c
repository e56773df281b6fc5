// What a replay found: a line for each program as it is done, and what it comes to.
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/diff.h"
#include "cli/replay.h"

static void print_buffer(keel_buffer_t *out) {
    fwrite(keel_buffer_cstr(out), 1, out->size, stdout);
    fflush(stdout);
    keel_buffer_deinitialize(out);
}

static const char *file_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// ---- the head ----------------------------------------------------------------------------------

static void put_side(const replay_t *replay, const replay_side_t *side, keel_buffer_t *out) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(&side->build, hex);
    keel_buffer_format(out, "%s, build %.12s", side->plugin, hex);
    if (strcmp(hex, replay->recorded_build) == 0) keel_buffer_text(out, ", the run's");
}

void replay_print_head(const replay_t *replay) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_buffer_format(&out, "run %s: %zu program%s for %s\n", replay->run.id, replay->count,
                       replay->count == 1 ? "" : "s", replay->target.name);
    keel_buffer_text(&out, "before: ");
    if (replay->before.compiler)
        put_side(replay, &replay->before, &out);
    else
        keel_buffer_format(&out, "as recorded, by %s, build %.12s, which is %s",
                           *replay->recorded_plugin ? file_of(replay->recorded_plugin) : "a plugin",
                           replay->recorded_build,
                           keel_plugin_is_jaxs_own(replay->recorded_plugin) ? "not a plugin"
                                                                            : "not here");
    keel_buffer_text(&out, "\nafter:  ");
    put_side(replay, &replay->after, &out);
    keel_buffer_format(&out, "\n\n%-28s %19s %21s %21s  %s\n", "program", "compile", "code",
                       "memory", "results");
    print_buffer(&out);
}

// ---- a program ---------------------------------------------------------------------------------

static void format_value(replay_measure_t measure, const replay_figures_t *figures, char out[24]) {
    char size[16];
    if (!figures->is_known[measure]) {
        snprintf(out, 24, "-");
    } else if (measure == REPLAY_TIME || measure == REPLAY_RUN) {
        keel_format_seconds(figures->value[measure], out);
    } else {
        keel_format_size((uint64_t)figures->value[measure], size);
        snprintf(out, 24, "%s", size);
    }
}

// "151 ms -> 160 ms", with a mark if it grew too much.
static void put_figures(const replay_t *replay, const replay_figures_t *before,
                        const replay_figures_t *after, replay_measure_t measure, int width,
                        keel_buffer_t *out) {
    char old[24], new[24], both[64];
    format_value(measure, before, old);
    format_value(measure, after, new);
    bool grew = replay_grew(&replay->limits, before, after, measure);
    snprintf(both, sizeof both, "%s -> %s%s", old, new, grew ? "!" : "");
    keel_buffer_format(out, " %*s", width, both);
}

static void put_difference(const replay_difference_t *difference, keel_buffer_t *out) {
    if (difference->is_unlike)
        keel_buffer_text(out, "other types or sizes");
    else if (!isfinite(difference->relative))
        keel_buffer_format(out, "differ: result %zu is a number on one side only",
                           difference->result);
    else
        keel_buffer_format(out, "differ by %.2g at most, %llu of %llu values", difference->relative,
                           (unsigned long long)difference->differing,
                           (unsigned long long)difference->elements);
}

static void put_results(const replay_program_t *program, keel_buffer_t *out) {
    if (program->results == REPLAY_EQUAL) keel_buffer_text(out, "equal");
    if (program->results == REPLAY_DIFFERENT) put_difference(&program->difference, out);
    if (program->results != REPLAY_NOT_RUN) return;
    keel_buffer_text(out, "not run: ");
    cli_diff_value(program->why_not_run ? program->why_not_run : "", 200, out);
}

void replay_print_program(const replay_t *replay, const replay_program_t *program) {
    const replay_figures_t *before = replay_base(program), *after = &program->figures[REPLAY_AFTER];
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    size_t began = out.size;
    cli_diff_value(program->name, 28, &out);
    while (out.size < began + 28 && !out.failed)
        keel_buffer_byte(&out, ' ');
    if (program->outcome == REPLAY_COMPILED) {
        put_figures(replay, before, after, REPLAY_TIME, 19, &out);
        put_figures(replay, before, after, REPLAY_CODE, 21, &out);
        put_figures(replay, before, after, REPLAY_MEMORY, 21, &out);
        keel_buffer_text(&out, "  ");
        put_results(program, &out);
    } else {
        keel_buffer_text(&out, program->outcome == REPLAY_FAILED ? " FAILED: " : " left out: ");
        cli_diff_value(program->why ? program->why : "out of memory", 400, &out);
    }
    if (*program->shown) {
        keel_buffer_text(&out, "  ");
        cli_diff_value(program->shown, 0, &out);
    }
    keel_buffer_byte(&out, '\n');
    print_buffer(&out);
}

// ---- keys --------------------------------------------------------------------------------------

// What differs in a key, on one line; programs of one client mostly have the same.
static keel_status_t moved_text(const replay_program_t *program, keel_buffer_t *out) {
    for (size_t i = 0; i < program->moved.root_count; ++i) {
        if (i) keel_buffer_text(out, "; ");
        cli_diff_change(&program->moved.roots[i], false, out);
    }
    if (!program->moved.root_count) keel_buffer_text(out, "the run did not record its parts");
    return keel_buffer_status(out);
}

static bool is_first(const replay_t *replay, size_t at, const char *text, size_t *out_count) {
    bool is_first = true;
    *out_count = 0;
    for (size_t i = 0; i < replay->count; ++i) {
        keel_buffer_t other;
        if (!replay_recompiles(replay->programs[i])) continue;
        keel_buffer_initialize(&other, 0);
        keel_status_ignore(moved_text(replay->programs[i], &other));
        bool is_same = strcmp(keel_buffer_cstr(&other), text) == 0;
        is_first &= !(is_same && i < at);
        *out_count += is_same;
        keel_buffer_deinitialize(&other);
        if (!is_first) break;
    }
    return is_first;
}

static void put_keys(const replay_t *replay, const replay_sum_t *sum, keel_buffer_t *out) {
    keel_buffer_text(out, "\nkeys: ");
    if (!sum->keyed)
        keel_buffer_text(out, "none could be compared\n");
    else if (!sum->recompile)
        keel_buffer_format(out, "all %zu are those of the run; nothing would compile again\n",
                           sum->keyed);
    else
        keel_buffer_format(out, "%zu of %zu programs would compile again\n", sum->recompile,
                           sum->keyed);
    for (size_t i = 0; i < replay->count; ++i) {
        const replay_program_t *program = replay->programs[i];
        keel_buffer_t text;
        size_t count;
        if (!replay_recompiles(program)) continue;
        keel_buffer_initialize(&text, 0);
        keel_status_ignore(moved_text(program, &text));
        if (is_first(replay, i, keel_buffer_cstr(&text), &count)) {
            keel_buffer_format(out, "  %zu: ", count);
            keel_buffer_append(out, text.data, text.size);
            keel_buffer_byte(out, '\n');
        }
        keel_buffer_deinitialize(&text);
    }
}

// ---- the end -----------------------------------------------------------------------------------

static void put_total(const replay_t *replay, const replay_sum_t *sum, keel_buffer_t *out) {
    keel_buffer_format(out, "%-28s", "total");
    put_figures(replay, &sum->before, &sum->after, REPLAY_TIME, 19, out);
    put_figures(replay, &sum->before, &sum->after, REPLAY_CODE, 21, out);
    put_figures(replay, &sum->before, &sum->after, REPLAY_MEMORY, 21, out);
    keel_buffer_byte(out, '\n');
}

static void put_count(size_t count, const char *what, keel_buffer_t *out) {
    if (count) keel_buffer_format(out, ", %zu %s", count, what);
}

void replay_print_end(const replay_t *replay, const replay_sum_t *sum) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    put_total(replay, sum, &out);
    put_keys(replay, sum, &out);
    keel_buffer_format(&out, "%zu program%s", replay->count, replay->count == 1 ? "" : "s");
    put_count(sum->failed, "FAILED", &out);
    put_count(sum->grew, "grew (marked !)", &out);
    put_count(sum->different, "with other results", &out);
    put_count(sum->within, "with other results, within the tolerance", &out);
    put_count(sum->equal, "with equal results", &out);
    put_count(sum->not_run, "not run", &out);
    put_count(sum->left_out, "left out", &out);
    keel_buffer_byte(&out, '\n');
    print_buffer(&out);
}

// ---- JSON --------------------------------------------------------------------------------------

static void figures_json(const char *name, const replay_figures_t *figures, keel_json_t *json) {
    static const char *const names[REPLAY_MEASURE_COUNT] = {[REPLAY_TIME] = "seconds",
                                                            [REPLAY_CODE] = "code",
                                                            [REPLAY_MEMORY] = "memory",
                                                            [REPLAY_RUN] = "run_seconds"};
    keel_json_object(json, name);
    for (int i = 0; i < REPLAY_MEASURE_COUNT; ++i) {
        bool is_time = i == REPLAY_TIME || i == REPLAY_RUN;
        if (figures->is_known[i] && is_time) keel_json_double(json, names[i], figures->value[i], 6);
        if (figures->is_known[i] && !is_time)
            keel_json_unsigned(json, names[i], (uint64_t)figures->value[i]);
    }
    keel_json_end_object(json);
}

static void key_json(const replay_program_t *program, keel_json_t *json) {
    keel_json_object(json, "key");
    if (program->has_key) keel_json_digest(json, "recorded", &program->recorded_key);
    if (program->is_keyed) keel_json_digest(json, "now", &program->key.digest);
    if (program->is_keyed && program->has_key)
        keel_json_bool(json, "same", !replay_recompiles(program));
    if (replay_recompiles(program))
        cli_diff_list("differs", program->moved.roots, program->moved.root_count, true, json);
    keel_json_end_object(json);
}

static void results_json(const replay_program_t *program, keel_json_t *json) {
    static const char *const states[] = {
        [REPLAY_NOT_RUN] = "not run", [REPLAY_EQUAL] = "equal", [REPLAY_DIFFERENT] = "different"};
    const replay_difference_t *difference = &program->difference;
    keel_json_object(json, "results");
    keel_json_string(json, "state", states[program->results]);
    if (program->results == REPLAY_NOT_RUN) keel_json_known(json, "why", program->why_not_run, 0);
    if (program->results == REPLAY_DIFFERENT && isfinite(difference->relative))
        // As text, because a difference may be far below what a number with few decimals shows.
        keel_buffer_format(keel_json_value(json, "relative"), "%.9g", difference->relative);
    else if (program->results == REPLAY_DIFFERENT)
        keel_json_null(json, "relative");
    if (program->results == REPLAY_DIFFERENT) {
        keel_json_unsigned(json, "result", difference->result);
        keel_json_unsigned(json, "differing", difference->differing);
    }
    if (program->results != REPLAY_NOT_RUN)
        keel_json_unsigned(json, "values", difference->elements);
    keel_json_end_object(json);
}

static void program_json(const replay_t *replay, const replay_program_t *program,
                         keel_json_t *json) {
    static const char *const outcomes[] = {
        [REPLAY_LEFT_OUT] = "left out", [REPLAY_FAILED] = "failed", [REPLAY_COMPILED] = "compiled"};
    const replay_figures_t *base = replay_base(program), *after = &program->figures[REPLAY_AFTER];
    keel_json_break(json, "\n ");
    keel_json_object(json, NULL);
    keel_json_string(json, "program", program->digest);
    keel_json_string(json, "name", program->name);
    keel_json_known(json, "line", program->shown, 0);
    keel_json_unsigned(json, "asked", program->asked);
    keel_json_string(json, "state", outcomes[program->outcome]);
    keel_json_known(json, "why", program->why, 0);
    key_json(program, json);
    figures_json("recorded", &program->figures[REPLAY_RUN_OWN], json);
    if (base == &program->figures[REPLAY_BEFORE]) figures_json("before", base, json);
    figures_json("after", after, json);
    keel_json_array(json, "grew");
    for (int i = 0; i < REPLAY_MEASURE_COUNT; ++i)
        if (replay_grew(&replay->limits, base, after, (replay_measure_t)i))
            keel_json_string(json, NULL, replay_measure_words[i]);
    keel_json_end_array(json);
    results_json(program, json);
    keel_json_end_object(json);
}

static void side_json(const char *name, const replay_side_t *side, keel_json_t *json) {
    keel_json_object(json, name);
    keel_json_string(json, "plugin", side->plugin);
    keel_json_digest(json, "build", &side->build);
    keel_json_end_object(json);
}

static void sum_json(const replay_sum_t *sum, keel_json_t *json) {
    keel_json_object(json, "sum");
    keel_json_unsigned(json, "recompile", sum->recompile);
    keel_json_unsigned(json, "failed", sum->failed);
    keel_json_unsigned(json, "grew", sum->grew);
    keel_json_bool(json, "total_grew", sum->total_grew);
    keel_json_unsigned(json, "different", sum->different);
    keel_json_unsigned(json, "within_tolerance", sum->within);
    keel_json_unsigned(json, "equal", sum->equal);
    keel_json_unsigned(json, "not_run", sum->not_run);
    keel_json_unsigned(json, "left_out", sum->left_out);
    figures_json("before", &sum->before, json);
    figures_json("after", &sum->after, json);
    keel_json_end_object(json);
}

int replay_print_json(const replay_t *replay, const replay_sum_t *sum) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_json_t json = keel_json(&out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_unsigned(&json, "replay", 1); // the form of this JSON
    keel_json_string(&json, "run", replay->run.id);
    keel_json_string(&json, "target", replay->target.name);
    if (replay->before.compiler) side_json("before", &replay->before, &json);
    side_json("after", &replay->after, &json);
    keel_json_string(&json, "recorded_build", replay->recorded_build);
    keel_json_bool(&json, "passes", replay_verdict(replay, sum) == CLI_OK);
    sum_json(sum, &json);
    keel_json_array(&json, "programs");
    for (size_t i = 0; i < replay->count; ++i)
        program_json(replay, replay->programs[i], &json);
    keel_json_end_array(&json);
    keel_json_end_object(&json);
    return cli_answer(&out);
}
