#include "text/start.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "text/facts.h"
#include "text/write.h"

enum { PROGRAMS_SHOWN = 10, LONGEST = 4096 }; // bytes of a path

// ---- the whole ---------------------------------------------------------------------------------

static void row(keel_buffer_t *out, const char *label, double seconds, double whole) {
    keel_buffer_format(out, "  %-28s", label);
    size_t began = out->size;
    keel_write_seconds(out, seconds);
    if (whole > 0)
        keel_buffer_format(out, "%*s%3.0f %%",
                           (int)(12 + began > out->size ? 12 + began - out->size : 1), "",
                           seconds / whole * 100);
    keel_buffer_byte(out, '\n');
}

static void print_whole(const keel_start_t *start, keel_buffer_t *out) {
    const keel_start_parts_t *parts = &start->parts;
    keel_buffer_text(out, "\nThe first step had all its programs after ");
    keel_write_seconds(out, start->whole);
    if (start->processes > 1)
        keel_buffer_format(out, ", in the first of %" PRIu64 " processes", start->processes);
    keel_buffer_text(out, ":\n\n");
    bool has_client = start->client > 0;
    row(out, has_client ? "imports, before the client" : "imports, and the client",
        start->before - (has_client ? start->client : 0), start->whole);
    if (has_client) row(out, "making the client", start->client, start->whole);
    if (start->is_told) {
        row(out, "tracing", parts->traced, start->whole);
        row(out, "lowering", parts->lowered, start->whole);
    }
    if (parts->compiled > 0) row(out, "compiling", parts->compiled, start->whole);
    if (parts->loaded > 0) row(out, "loading", parts->loaded, start->whole);
    row(out, "Keel itself", parts->keels, start->whole);
    row(out, start->is_told ? "the script, executions" : "the script, tracing, executions",
        start->rest, start->whole);
}

// ---- programs ----------------------------------------------------------------------------------

static void cell(keel_buffer_t *out, double seconds) {
    char text[32];
    keel_format_took(&(keel_took_t){.times = 1, .unknown = seconds <= 0, .seconds = seconds}, text);
    keel_buffer_format(out, "%10s", text);
}

static void place(const keel_run_t *run, const keel_frame_t *line, keel_buffer_t *out) {
    char file[LONGEST];
    snprintf(file, sizeof file, "%.*s", KEEL_STR_ARGS(line->file));
    const char *shown = keel_library_shown(file);
    keel_write_foreign(out, shown == file ? keel_run_relative(file, run->cwd) : shown);
    keel_buffer_format(out, ":%u", line->line);
}

static void print_repeat(const keel_text_start_t *text, const keel_large_t *large,
                         keel_buffer_t *out) {
    const keel_large_repeat_t *repeat = &large->repeat;
    uint32_t left = large->operations - repeat->operations + repeat->operations / repeat->times;
    keel_buffer_text(out, "    ");
    place(text->run, &repeat->line, out);
    keel_buffer_format(
        out,
        " is unrolled %u times: %u of %u operations; with a loop of the program's own "
        "(a scan) there would be about %u\n",
        repeat->times, repeat->operations, large->operations, left);
}

static void print_arrays(const keel_text_start_t *text, const keel_large_t *large, bool all,
                         keel_buffer_t *out) {
    uint32_t shown = all || large->array_count < 3 ? large->array_count : 3;
    for (uint32_t i = 0; i < shown; ++i) {
        const keel_large_array_t *array = &large->arrays[i];
        keel_buffer_text(out, "    it carries an array of ");
        keel_write_size(out, array->bytes);
        keel_buffer_format(out, ", %s", array->type);
        if (array->line.file.size) keel_buffer_text(out, ", for ");
        if (array->line.file.size) place(text->run, &array->line, out);
        keel_buffer_text(out, "; passed as an argument it would not be part of the program\n");
    }
    if (large->array_total <= shown) return;
    keel_buffer_format(out, "    and %u more arrays; all of them have ",
                       large->array_total - shown);
    keel_write_size(out, large->array_bytes);
    keel_buffer_byte(out, '\n');
}

static void print_program(const keel_text_start_t *text, size_t number, bool all,
                          keel_buffer_t *out) {
    const keel_start_program_t *one = &text->start->programs[number];
    const keel_run_program_t *program = &text->run->programs[one->index];
    keel_buffer_text(out, "  ");
    cell(out, one->seconds);
    cell(out, one->parts.traced);
    cell(out, one->parts.lowered);
    cell(out, one->parts.compiled);
    cell(out, one->parts.loaded);
    keel_buffer_format(out, "%12" PRIu64 "  ", program->ops);
    keel_write_foreign(out, program->name);
    if (*program->site.shown) keel_buffer_text(out, "  ");
    keel_write_foreign(out, program->site.shown);
    keel_buffer_byte(out, '\n');
    if (number >= text->large_count || !text->is_known[number]) return;
    const keel_large_t *large = &text->large[number];
    if (large->has_repeat) print_repeat(text, large, out);
    print_arrays(text, large, all, out);
}

void keel_text_start(const keel_text_start_t *text, bool all, keel_buffer_t *out) {
    const keel_start_t *start = text->start;
    keel_write_run(out, text->run);
    print_whole(start, out);
    keel_buffer_format(out, "\n  %10s%10s%10s%10s%10s%12s  program, line\n", "in all", "traced",
                       "lowered", "compiled", "loaded", "operations");
    size_t shown =
        all || start->program_count < PROGRAMS_SHOWN ? start->program_count : PROGRAMS_SHOWN;
    for (size_t i = 0; i < shown; ++i)
        print_program(text, i, all, out);
    if (start->program_count > shown)
        keel_buffer_format(out, "  and %zu more; --all lists them\n", start->program_count - shown);
}

// ---- JSON --------------------------------------------------------------------------------------

static void parts_json(const keel_start_t *start, const keel_start_parts_t *parts,
                       keel_json_t *json) {
    if (start->is_told) {
        keel_text_seconds(json, "traced_seconds", parts->traced);
        keel_text_seconds(json, "lowered_seconds", parts->lowered);
    } else {
        keel_json_null(json, "traced_seconds");
        keel_json_null(json, "lowered_seconds");
    }
    keel_text_seconds(json, "compiled_seconds", parts->compiled);
    keel_text_seconds(json, "loaded_seconds", parts->loaded);
    keel_text_seconds(json, "overhead_seconds", parts->keels);
}

static void line_json(const keel_run_t *run, const keel_frame_t *line, keel_json_t *json) {
    keel_buffer_t shown;
    keel_buffer_initialize(&shown, 0);
    if (line->file.size) place(run, line, &shown);
    keel_json_string(json, "shown", keel_buffer_cstr(&shown));
    json->out->failed |= shown.failed;
    keel_buffer_deinitialize(&shown);
}

static void large_json(const keel_text_start_t *text, const keel_large_t *large,
                       keel_json_t *json) {
    if (large->has_repeat) {
        keel_json_object(json, "repeat");
        line_json(text->run, &large->repeat.line, json);
        keel_json_unsigned(json, "times", large->repeat.times);
        keel_json_unsigned(json, "operations", large->repeat.operations);
        keel_json_end_object(json);
    } else {
        keel_json_null(json, "repeat");
    }
    keel_json_array(json, "arrays");
    for (uint32_t i = 0; i < large->array_count; ++i) {
        keel_json_object(json, NULL);
        keel_json_string(json, "type", large->arrays[i].type);
        keel_json_unsigned(json, "bytes", large->arrays[i].bytes);
        line_json(text->run, &large->arrays[i].line, json);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
    keel_json_unsigned(json, "array_bytes", large->array_bytes);
}

static void program_json(const keel_text_start_t *text, size_t number, keel_json_t *json) {
    const keel_start_program_t *one = &text->start->programs[number];
    const keel_run_program_t *program = &text->run->programs[one->index];
    keel_json_object(json, NULL);
    keel_json_string(json, "program", program->program);
    keel_json_string(json, "name", program->name);
    keel_json_string(json, "shown", program->site.shown);
    keel_json_unsigned(json, "ops", program->ops);
    keel_json_unsigned(json, "times", one->times);
    keel_text_seconds(json, "seconds", one->seconds);
    parts_json(text->start, &one->parts, json);
    if (number < text->large_count && text->is_known[number])
        large_json(text, &text->large[number], json);
    keel_json_end_object(json);
}

void keel_text_start_json(const keel_text_start_t *text, keel_buffer_t *out) {
    const keel_start_t *start = text->start;
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_string(&json, "run", text->run->id);
    keel_json_unsigned(&json, "processes", start->processes);
    keel_text_seconds(&json, "seconds", start->whole);
    keel_text_seconds(&json, "before_seconds", start->before - start->client);
    if (start->client > 0)
        keel_text_seconds(&json, "client_seconds", start->client);
    else
        keel_json_null(&json, "client_seconds");
    parts_json(start, &start->parts, &json);
    keel_text_seconds(&json, "rest_seconds", start->rest);
    keel_json_array(&json, "programs");
    for (size_t i = 0; i < start->program_count; ++i)
        program_json(text, i, &json);
    keel_json_end_array(&json);
    keel_json_end_object(&json);
    keel_buffer_byte(out, '\n');
}
