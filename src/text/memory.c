#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "text/facts.h"
#include "text/rehearsed.h"
#include "text/text.h"
#include "text/write.h"

enum { PROGRAMS_SHOWN = 20 };

static void cell(keel_buffer_t *out, uint64_t bytes) {
    char text[16];
    keel_format_size(bytes, text);
    keel_buffer_format(out, "%12s", text);
}

static void told(keel_buffer_t *out, uint64_t bytes) {
    if (bytes)
        cell(out, bytes);
    else
        keel_buffer_format(out, "%12s", "-");
}

static uint64_t percent(uint64_t part, uint64_t whole) {
    double value = (double)part * 100 / (double)whole + 0.5;
    return value < 1e18 ? (uint64_t)value : UINT64_MAX;
}

static void digest(keel_buffer_t *out, const char *text) {
    char start[13];
    snprintf(start, sizeof start, "%s", text);
    size_t began = out->size;
    keel_write_foreign(out, start);
    keel_buffer_format(out, "%*s", (int)(14 + began - out->size), "");
}

static void name(const keel_memory_program_t *program, keel_buffer_t *out) {
    keel_write_foreign(out, *program->name ? program->name : "a program without a name");
    if (!*program->shown) return;
    keel_buffer_text(out, "  ");
    keel_write_foreign(out, program->shown);
}

// ---- will it fit -------------------------------------------------------------------------------

static void print_share(uint64_t bytes, uint64_t limit, keel_buffer_t *out) {
    if (!limit) return;
    keel_buffer_text(out, bytes > limit ? "too large: " : "");
    keel_write_size(out, bytes);
    keel_buffer_format(out, " are %" PRIu64 " %% of the ", percent(bytes, limit));
    keel_write_size(out, limit);
    keel_buffer_text(out, " that a device has\n");
}

static void print_fit(const keel_run_t *run, keel_buffer_t *out) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_fit_sentence(run, &text);
    if (text.size && !run->asides.misfit_count) {
        keel_buffer_byte(out, '\n');
        keel_buffer_append(out, text.data, text.size);
        keel_buffer_byte(out, '\n');
    }
    out->failed |= text.failed;
    keel_buffer_deinitialize(&text);
    uint64_t limit = keel_memory_limit(&run->memory), whole = run->rehearsal.target.memory;
    if (!limit || limit >= whole) return;
    keel_buffer_text(out, "A client's allocator takes ");
    keel_write_size(out, limit);
    keel_buffer_text(out, " of the ");
    keel_write_size(out, whole);
    keel_buffer_text(out, " of a device.\n");
}

static void print_misfits(const keel_run_t *run, keel_buffer_t *out) {
    for (size_t i = 0; i < run->asides.misfit_count; ++i) {
        const keel_misfit_t *misfit = &run->asides.misfits[i];
        keel_buffer_byte(out, '\n');
        keel_misfit_sentence(misfit, out);
        keel_buffer_text(out, "\n  ");
        keel_write_foreign(out, misfit->message);
        keel_buffer_byte(out, '\n');
    }
}

// ---- a run -------------------------------------------------------------------------------------

// What is not known is a dash.
static void needed(keel_buffer_t *out, bool is_known, uint64_t bytes) {
    if (is_known)
        cell(out, bytes);
    else
        keel_buffer_format(out, "%12s", "-");
}

static void most(keel_buffer_t *out, const keel_memory_program_t *program) {
    char size[16], text[20];
    keel_format_size(program->most, size);
    snprintf(text, sizeof text, "%s%s", program->is_known ? "" : "> ", size);
    keel_buffer_format(out, "%12s", text);
}

// A rehearsal knows what else is alive, and so more than what a program needs alone.
static void print_program_rows(const keel_run_t *run, keel_buffer_t *out) {
    bool is_rehearsal = keel_is_rehearsal(run);
    keel_buffer_format(out, "\n%-14s", "program");
    if (is_rehearsal)
        keel_buffer_format(out, "%12s%12s", "at most", "before");
    else
        keel_buffer_format(out, "%12s", "total");
    keel_buffer_format(out, "%12s%12s%12s%12s%12s", "arguments", "outputs", "aliased",
                       "temporaries", "code");
    keel_buffer_format(out, is_rehearsal ? "  name, line\n" : "%12s  name, line\n", "peak");
    size_t shown = 0;
    for (; shown < run->memory.program_count && shown < PROGRAMS_SHOWN; ++shown) {
        const keel_memory_program_t *program = &run->memory.programs[shown];
        bool is_known = program->is_known;
        digest(out, program->program);
        if (is_rehearsal) most(out, program);
        if (is_rehearsal)
            needed(out, program->has_run, program->living);
        else
            needed(out, is_known, program->total);
        needed(out, is_known, program->arguments);
        needed(out, is_known, program->outputs);
        needed(out, is_known, program->aliased);
        needed(out, is_known, program->temporaries);
        needed(out, is_known, program->code);
        if (!is_rehearsal) told(out, program->peak);
        keel_buffer_text(out, "  ");
        name(program, out);
        keel_buffer_byte(out, '\n');
    }
    size_t more = run->memory.program_count - shown;
    if (more)
        keel_buffer_format(out, "  and %zu more program%s; --json lists them all\n", more,
                           more == 1 ? "" : "s");
}

static void print_memory_table(const keel_run_t *run, keel_buffer_t *out) {
    if (*run->memory.programs_unknown) {
        keel_buffer_text(
            out, "\nIt is not known what programs need, because the plugin does not report it: ");
        keel_write_foreign(out, run->memory.programs_unknown);
        keel_buffer_byte(out, '\n');
    } else if (!run->memory.program_count) {
        keel_buffer_text(out, run->has_client ? "\nNo program was compiled or loaded, or it was "
                                                "stored by an older Keel without these figures.\n"
                                              : "\nNo client was made in this run.\n");
    }
    if (!run->memory.program_count) return;
    print_program_rows(run, out);
    if (keel_is_rehearsal(run)) {
        print_fit(run, out);
        return;
    }
    if (!keel_memory_limit(&run->memory)) return;
    keel_buffer_text(out, "\nThe largest program: ");
    print_share(run->memory.programs[0].total, keel_memory_limit(&run->memory), out);
}

static void print_device_table(const keel_run_t *run, keel_buffer_t *out) {
    if (*run->memory.devices_unknown && !keel_is_rehearsal(run)) {
        keel_buffer_text(
            out,
            "\nIt is not known what devices have in use, because the plugin does not report it: ");
        keel_write_foreign(out, run->memory.devices_unknown);
        keel_buffer_byte(out, '\n');
    }
    if (!run->memory.device_count) return;
    keel_buffer_format(out, "\n%-14s%12s%12s%12s%12s  kind\n", "device", "last", "most", "limit",
                       "share");
    for (size_t i = 0; i < run->memory.device_count; ++i) {
        const keel_memory_device_t *device = &run->memory.devices[i];
        size_t began = out->size;
        keel_write_foreign(out, device->device);
        keel_buffer_format(out, "%*s", out->size - began < 14 ? (int)(14 + began - out->size) : 1,
                           "");
        cell(out, device->in_use);
        cell(out, device->most);
        told(out, device->limit);
        if (device->limit)
            keel_buffer_format(out, "%10" PRIu64 " %%", percent(device->most, device->limit));
        else
            keel_buffer_format(out, "%12s", "-");
        keel_buffer_text(out, "  ");
        keel_write_foreign(out, device->kind);
        keel_buffer_byte(out, '\n');
    }
}

// ---- a program ---------------------------------------------------------------------------------

static void print_size_row(keel_buffer_t *out, const char *label, uint64_t bytes,
                           const char *note) {
    keel_buffer_format(out, "  %-12s", label);
    cell(out, bytes);
    keel_buffer_format(out, "%s%s\n", *note ? "  " : "", note);
}

static void print_living(const keel_memory_program_t *program, keel_buffer_t *out) {
    if (program->has_run)
        print_size_row(out, "before", program->living,
                       "in use on its fullest device when it began, with its arguments");
    print_size_row(out, program->is_known ? "at most" : "at least", program->most,
                   program->has_run ? "on that device while it ran, with the code of all programs"
                                    : "alone on a device, because it did not run");
}

static void one(const keel_run_t *run, const keel_memory_program_t *program, keel_buffer_t *out) {
    name(program, out);
    keel_buffer_text(out, "\n  ");
    keel_write_foreign(out, program->program);
    keel_buffer_format(out, ", run %s\n", run->id);
    if (keel_is_rehearsal(run)) {
        print_living(program, out);
        if (!program->is_known) {
            keel_buffer_text(out,
                             "It was not compiled, so what it needs besides its arguments is not "
                             "known.\n");
            return;
        }
    }
    print_size_row(out, "arguments", program->arguments, "");
    print_size_row(out, "outputs", program->outputs, "");
    print_size_row(out, "aliased", program->aliased, "outputs that reuse arguments' memory");
    print_size_row(out, "temporaries", program->temporaries, "");
    print_size_row(out, "code", program->code, "");
    print_size_row(out, "total", program->total,
                   "on each device: all of them, less what is aliased");
    if (program->peak) print_size_row(out, "peak", program->peak, "as the plugin reports it");
    if (program->host) print_size_row(out, "host", program->host, "on the host");
    if (keel_is_rehearsal(run)) {
        print_share(program->most, keel_run_fit(run).limit, out);
        return;
    }
    if (!keel_memory_limit(&run->memory)) {
        keel_buffer_text(out, "No device reports its memory");
        keel_buffer_text(out, *run->memory.devices_unknown ? ": " : "");
        keel_write_foreign(out, run->memory.devices_unknown);
        keel_buffer_text(out, "; whether it fits cannot be known in advance.\n");
        return;
    }
    print_share(program->total, keel_memory_limit(&run->memory), out);
}

void keel_text_memory(const keel_run_t *run, const keel_memory_program_t *program,
                      keel_buffer_t *out) {
    if (program) {
        one(run, program, out);
        return;
    }
    keel_write_run(out, run);
    print_misfits(run, out);
    print_memory_table(run, out);
    print_device_table(run, out);
}

// ---- JSON --------------------------------------------------------------------------------------

static void need(keel_json_t *json, const char *name, const keel_memory_program_t *program,
                 uint64_t bytes) {
    if (program->is_known)
        keel_json_unsigned(json, name, bytes);
    else
        keel_json_null(json, name);
}

static void rehearsed_fields(const keel_memory_program_t *program, keel_json_t *json) {
    if (program->has_run)
        keel_json_unsigned(json, "before", program->living);
    else
        keel_json_null(json, "before");
    keel_json_unsigned(json, "most", program->most);
    keel_json_bool(json, "at_least", !program->is_known);
}

static void program_fields(const keel_run_t *run, const keel_memory_program_t *program,
                           keel_json_t *json) {
    keel_json_string(json, "program", program->program);
    keel_json_string(json, "identity", program->identity);
    keel_json_string(json, "name", program->name);
    keel_json_string(json, "shown", program->shown);
    need(json, "total", program, program->total);
    need(json, "arguments", program, program->arguments);
    need(json, "outputs", program, program->outputs);
    need(json, "aliased", program, program->aliased);
    need(json, "temporaries", program, program->temporaries);
    need(json, "code", program, program->code);
    keel_json_unsigned(json, "host", program->host);
    keel_json_unsigned(json, "peak", program->peak);
    if (keel_is_rehearsal(run)) rehearsed_fields(program, json);
    uint64_t limit =
        keel_is_rehearsal(run) ? keel_run_fit(run).limit : keel_memory_limit(&run->memory);
    uint64_t bytes = keel_is_rehearsal(run) ? program->most : program->total;
    if (limit && (program->is_known || bytes > limit))
        keel_json_bool(json, "fits", bytes <= limit);
    else
        keel_json_null(json, "fits");
}

static void device_object(const keel_memory_device_t *device, keel_json_t *json) {
    keel_json_object(json, NULL);
    keel_json_string(json, "device", device->device);
    keel_json_string(json, "kind", device->kind);
    keel_json_unsigned(json, "in_use", device->in_use);
    keel_json_unsigned(json, "most", device->most);
    keel_json_unsigned(json, "peak", device->peak);
    keel_json_unsigned(json, "limit", device->limit);
    keel_json_end_object(json);
}

static void whole(const keel_run_t *run, const keel_memory_program_t *program, keel_json_t *json) {
    keel_json_object(json, NULL);
    keel_json_string(json, "run", run->id);
    keel_json_unsigned(json, "limit",
                       keel_is_rehearsal(run) ? keel_run_fit(run).limit
                                              : keel_memory_limit(&run->memory));
    keel_json_string(json, "devices_unknown", run->memory.devices_unknown);
    keel_rehearsal_json(run, json);
    if (program) {
        program_fields(run, program, json);
        keel_json_end_object(json);
        return;
    }
    keel_json_string(json, "programs_unknown", run->memory.programs_unknown);
    keel_json_array(json, "programs");
    for (size_t i = 0; i < run->memory.program_count; ++i) {
        keel_json_break(json, "\n  ");
        keel_json_object(json, NULL);
        program_fields(run, &run->memory.programs[i], json);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
    keel_json_array(json, "devices");
    for (size_t i = 0; i < run->memory.device_count; ++i) {
        keel_json_break(json, "\n  ");
        device_object(&run->memory.devices[i], json);
    }
    keel_json_end_array(json);
    keel_asides_json(&run->asides, json);
    keel_json_end_object(json);
}

void keel_text_memory_json(const keel_run_t *run, const keel_memory_program_t *program,
                           keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    whole(run, program, &json);
}
