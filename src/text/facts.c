#include "text/facts.h"

#include <inttypes.h>

#include "text/flow.h"
#include "text/write.h"

void keel_text_seconds(keel_json_t *json, const char *name, double seconds) {
    uint64_t micros = seconds > 0 && seconds < 1e12 ? (uint64_t)(seconds * 1e6 + 0.5) : 0;
    keel_json_double(json, name, (double)micros / 1e6, 6);
}

void keel_text_took(keel_json_t *json, const char *name, const keel_took_t *took) {
    if (took->unknown)
        keel_json_null(json, name);
    else
        keel_text_seconds(json, name, took->seconds);
}

// ---- host reads --------------------------------------------------------------------------------

void keel_reads_times(const keel_reads_t *reads, keel_buffer_t *out) {
    keel_write_counted(out, reads->cuts, "time");
}

void keel_reads_sentence(const keel_reads_line_t *line, keel_buffer_t *out) {
    if (line->endless) {
        keel_buffer_text(out, keel_note_text(KEEL_NOTE_ENDLESS));
        return;
    }
    keel_buffer_format(out, "a host read splits the step into %" PRIu64 " programs", line->pieces);
}

// The line calls an optimizer's step, as the programs show that are explained.
static bool steps_there(const keel_why_t *why, const keel_reads_line_t *line) {
    for (size_t i = 0; i < why->entry_count; ++i)
        for (size_t k = 0; k < why->entries[i].root_count; ++k) {
            const keel_run_place_t *place = &why->entries[i].roots[k].place;
            if (place->line == line->line && strcmp(place->file, line->file) == 0 &&
                place->library_file && strstr(place->library_file, "/torch/optim/"))
                return true;
        }
    return false;
}

const char *keel_reads_advice(const keel_why_t *why, const keel_reads_line_t *line) {
    bool endless = line ? line->endless : why->run.reads.endless;
    keel_framework_t framework;
    bool is_c = keel_why_framework(why, &framework) && framework == KEEL_FRAMEWORK_C;
    if (endless && is_c) return keel_case_advice(KEEL_CASE_STEP_ENDLESS);
    if (endless) return keel_note_advice(keel_note_text(KEEL_NOTE_ENDLESS));
    if (line && steps_there(why, line)) return keel_case_advice(KEEL_CASE_OPTIMIZER_READS);
    return keel_cause_facts(KEEL_CAUSE_HOST_READ)
        ->advice[is_c ? KEEL_FRAMEWORK_C : KEEL_FRAMEWORK_TORCH];
}

void keel_reads_moved(const keel_moved_t *moved, keel_buffer_t *out) {
    keel_write_counted(out, moved->count, "read");
    keel_buffer_text(out, ", ");
    keel_write_counted(out, moved->bytes, "byte");
    if (moved->is_untimed) return;
    keel_buffer_text(out, ", ");
    keel_write_seconds(out, moved->seconds);
    keel_buffer_text(out, " until the data arrived");
}

void keel_text_moved(keel_json_t *json, const keel_moved_t *moved) {
    if (moved->is_untimed)
        keel_json_null(json, "seconds");
    else
        keel_text_seconds(json, "seconds", moved->seconds);
}

void keel_barrier_sentence(const keel_why_barrier_t *barrier, keel_buffer_t *out) {
    keel_buffer_format(out, "a sync in mid-step splits the step into %" PRIu64 " programs",
                       barrier->pieces);
}

// ---- operations by themselves -------------------------------------------------------------------

void keel_eager_sentence(const keel_eager_lines_t *lines, keel_buffer_t *out) {
    const char *line = keel_eager_line(lines);
    keel_write_counted(out, lines->took.times, "small program");
    keel_buffer_text(out, " ran one by one, outside jit");
    if (keel_took_is_known(&lines->took)) keel_buffer_text(out, ", and");
    keel_write_cost(out, &lines->took);
    if (!*line) return;
    keel_buffer_text(out, ", most at ");
    keel_write_foreign(out, line);
}

const char *keel_eager_advice(void) {
    return "Jit the function that runs them, so that they become one program; for a new model, the "
           "function that makes it: jax.jit(model.init)(key, x), nnx.jit(lambda: Model(rngs))().";
}

// ---- what a warm-up asks for --------------------------------------------------------------------

void keel_script_write(const keel_run_place_t *asker, keel_buffer_t *out) {
    if (!asker->script_shown || !*asker->script_shown) return;
    keel_buffer_text(out, " for ");
    keel_write_foreign(out, asker->script_shown);
}

void keel_set_sentence(const keel_why_set_t *set, keel_buffer_t *out) {
    keel_write_counted(out, set->programs, set->is_of_sizes ? "size" : "program");
    if (*set->subject) {
        keel_buffer_text(out, " of `");
        keel_write_foreign(out, set->subject);
        keel_buffer_text(out, "`");
    }
    keel_buffer_text(out, set->last_step <= 1 ? ", all before step 1: "
                                              : ", all before any ran twice: ");
    keel_write_foreign(out, set->place.shown);
    keel_script_write(&set->place, out);
    keel_buffer_text(out, " (");
    keel_write_foreign(out, set->name);
    keel_buffer_text(out, ")");
    if (!keel_took_is_known(&set->took)) return;
    keel_buffer_text(out, ", ");
    keel_write_took(out, &set->took);
}

// ---- fixes --------------------------------------------------------------------------------------

void keel_fix_write(const keel_fix_t *fix, keel_buffer_t *out) {
    keel_write_foreign(out, fix->name);
    keel_buffer_byte(out, ' ');
    keel_write_foreign(out, fix->state);
    keel_buffer_text(out, ", ");
    keel_write_foreign(out, fix->client);
    keel_buffer_text(out, " (");
    keel_write_foreign(out, fix->reference);
    keel_buffer_text(out, *fix->why ? "): " : ")");
    keel_write_foreign(out, fix->why);
}

void keel_fixes_json(const keel_fixes_t *fixes, keel_json_t *json) {
    keel_json_array(json, "fixes");
    for (size_t i = 0; i < fixes->count; ++i) {
        const keel_fix_t *fix = &fixes->list[i];
        keel_json_object(json, NULL);
        keel_json_string(json, "name", fix->name);
        keel_json_string(json, "state", fix->state);
        keel_json_string(json, "label", fix->label);
        keel_json_string(json, "reference", fix->reference);
        keel_json_string(json, "client", fix->client);
        keel_json_string(json, "why", fix->why);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

// ---- asides ------------------------------------------------------------------------------------

const char *keel_host_op_advice(const char *name) {
    static const struct {
        const char *begins;
        keel_case_t advice;
    } rows[] = {
        {"aten::_local_scalar_dense", KEEL_CASE_HOST_SCALAR},
        {"aten::nonzero", KEEL_CASE_HOST_MASK},
        {"aten::masked_select", KEEL_CASE_HOST_MASK},
        {"aten::unique", KEEL_CASE_HOST_UNIQUE},
        {"aten::_unique", KEEL_CASE_HOST_UNIQUE},
        {"aten::bincount", KEEL_CASE_HOST_BINCOUNT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        if (strncmp(name, rows[i].begins, strlen(rows[i].begins)) == 0)
            return keel_case_advice(rows[i].advice);
    return keel_case_advice(KEEL_CASE_HOST_OP);
}

// If PyTorch/XLA computes on the host, it cuts a step into several programs, so one in eight
// executions may mean every step.
static bool is_op_shown(const keel_host_op_sum_t *op, uint64_t executions, bool all) {
    enum { SHARE = 8, LEAST = 3 };
    return all || (op->times >= LEAST && op->times >= executions / SHARE);
}

void keel_misfit_sentence(const keel_misfit_t *misfit, keel_buffer_t *out) {
    keel_write_foreign(out, *misfit->shown ? misfit->shown : "unknown line");
    if (*misfit->name) {
        keel_buffer_text(out, " (");
        keel_write_foreign(out, misfit->name);
        keel_buffer_byte(out, ')');
    }
    keel_buffer_text(out, " does not fit the device's memory");
    if (misfit->needed) {
        keel_buffer_text(out, ": it needs ");
        keel_write_size(out, misfit->needed);
    }
    if (misfit->needed && misfit->available) {
        keel_buffer_text(out, ", there are ");
        keel_write_size(out, misfit->available);
    }
}

static void misfit_paragraph(const keel_misfit_t *misfit, unsigned width, keel_buffer_t *out) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_misfit_sentence(misfit, &text);
    keel_buffer_text(
        &text,
        ". Take a smaller batch, spread it over more devices, or compute "
        "layers again in the backward pass (jax.checkpoint, "
        "torch.utils.checkpoint, keel_checkpoint); `keel memory` shows the plugin's message.");
    keel_flow_paragraph(&text, width, out);
}

// What an optimizer asks for on the host is no line of the user's.
static const char *op_advice(const keel_why_t *why, const char *name) {
    const char *reads = keel_case_advice(KEEL_CASE_OPTIMIZER_READS);
    for (size_t i = 0; strcmp(name, "aten::_local_scalar_dense") == 0 && i < why->run.reads.count;
         ++i)
        if (why->run.reads.lines[i].cuts &&
            keel_reads_advice(why, &why->run.reads.lines[i]) == reads)
            return reads;
    return keel_host_op_advice(name);
}

static void op_paragraph(const keel_why_t *why, const keel_host_op_sum_t *op, unsigned width,
                         keel_buffer_t *out) {
    uint64_t executions = why->run.known_executes;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_write_foreign(&text, op->name);
    keel_buffer_text(&text, " was computed on the host ");
    keel_write_counted(&text, op->times, "time");
    if (executions) {
        keel_buffer_text(&text, " in ");
        keel_write_counted(&text, executions, "execution");
        keel_buffer_text(&text, " of programs");
    }
    keel_buffer_format(&text, ". %s", op_advice(why, op->name));
    keel_flow_paragraph(&text, width, out);
}

void keel_unexplained_sentence(const keel_asides_t *asides, keel_buffer_t *out) {
    keel_write_counted(out, asides->unexplained, "program");
    keel_buffer_text(out, " could not be explained");
    if (*asides->unexplained_name)
        keel_buffer_text(out, asides->unexplained > 1 ? ", first " : ", ");
    keel_write_foreign(out, asides->unexplained_name);
    keel_buffer_text(out, ": ");
    keel_write_foreign(out, asides->unexplained_words);
}

static void unexplained_paragraph(const keel_asides_t *asides, unsigned width, keel_buffer_t *out) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_unexplained_sentence(asides, &text);
    keel_buffer_text(&text, ".");
    keel_flow_paragraph(&text, width, out);
}

void keel_elsewhere_sentence(const keel_asides_t *asides, keel_buffer_t *out) {
    keel_write_counted(out, asides->elsewhere, "executable");
    keel_buffer_text(out, asides->elsewhere == 1 ? " was loaded from elsewhere"
                                                 : " were loaded from elsewhere");
    keel_buffer_text(out, asides->elsewhere > 1 ? ", first " : ", ");
    keel_write_foreign(out, *asides->elsewhere_name ? asides->elsewhere_name : "a program");
    if (*asides->elsewhere_shown) keel_buffer_text(out, " at ");
    keel_write_foreign(out, asides->elsewhere_shown);
    keel_buffer_text(out, " (");
    keel_write_foreign(out, asides->elsewhere_by);
    keel_buffer_byte(out, ')');
    if (asides->elsewhere_unread)
        keel_buffer_format(out, "; %llu could not be read",
                           (unsigned long long)asides->elsewhere_unread);
}

static void elsewhere_paragraph(const keel_asides_t *asides, unsigned width, keel_buffer_t *out) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_elsewhere_sentence(asides, &text);
    keel_buffer_text(&text, ". Keel did not hand out these bytes: it shows the optimized program, "
                            "not the one that was traced.");
    keel_flow_paragraph(&text, width, out);
}

void keel_unkept_sentence(const keel_asides_t *asides, keel_buffer_t *out) {
    keel_buffer_text(out, "Python compiles ");
    keel_write_counted(out, asides->unkept, "module");
    keel_buffer_text(out, " (");
    keel_write_size(out, asides->unkept_size);
    keel_buffer_text(out, ") at each start because their bytecode is not kept: ");
    keel_write_foreign(out, asides->unkept_why);
}

void keel_late_sentence(const keel_asides_t *asides, keel_buffer_t *out) {
    keel_write_foreign(out, asides->late_what);
    keel_buffer_text(out, " was set too late to have an effect: ");
    keel_write_foreign(out, asides->late_value);
    if (asides->late > 1)
        keel_buffer_format(out, ", and %llu more", (unsigned long long)asides->late - 1);
}

static void late_paragraph(const keel_asides_t *asides, unsigned width, keel_buffer_t *out) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_late_sentence(asides, &text);
    keel_buffer_text(&text, ". Set it before the first use of a device.");
    keel_flow_paragraph(&text, width, out);
}

void keel_asides_tell(const keel_why_t *why, bool all, unsigned width, keel_buffer_t *out) {
    const keel_asides_t *asides = &why->run.asides;
    for (size_t i = 0; i < asides->misfit_count; ++i)
        misfit_paragraph(&asides->misfits[i], width, out);
    for (size_t i = 0; i < asides->op_count; ++i)
        if (is_op_shown(&asides->ops[i], why->run.known_executes, all))
            op_paragraph(why, &asides->ops[i], width, out);
    if (asides->unexplained) unexplained_paragraph(asides, width, out);
    if (asides->elsewhere) elsewhere_paragraph(asides, width, out);
    if (asides->late) late_paragraph(asides, width, out);
}

void keel_summed_sentence(const keel_run_t *run, keel_buffer_t *out) {
    keel_buffer_format(out,
                       "the first %zu compiles and loads are kept one by one; %" PRIu64
                       " more are in the totals only",
                       run->request_count, run->summed);
}

void keel_asides_json(const keel_asides_t *asides, keel_json_t *json) {
    keel_json_object(json, "host_ops");
    for (size_t i = 0; i < asides->op_count; ++i) {
        keel_json_key(json, keel_str(asides->ops[i].name));
        keel_json_unsigned(json, NULL, asides->ops[i].times);
    }
    keel_json_end_object(json);
    keel_json_array(json, "misfits");
    for (size_t i = 0; i < asides->misfit_count; ++i) {
        const keel_misfit_t *misfit = &asides->misfits[i];
        keel_json_object(json, NULL);
        keel_json_string(json, "program", misfit->program);
        keel_json_string(json, "name", misfit->name);
        keel_json_string(json, "shown", misfit->shown);
        keel_json_unsigned(json, "needed", misfit->needed);
        keel_json_unsigned(json, "available", misfit->available);
        keel_json_string(json, "message", misfit->message);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
    keel_json_unsigned(json, "unexplained", asides->unexplained);
    keel_json_unsigned(json, "loads_by_client", asides->by_client);
    keel_json_object(json, "elsewhere");
    keel_json_unsigned(json, "loads", asides->elsewhere);
    keel_json_unsigned(json, "unread", asides->elsewhere_unread);
    keel_json_string(json, "first", asides->elsewhere ? asides->elsewhere_name : "");
    keel_json_string(json, "by", asides->elsewhere ? asides->elsewhere_by : "");
    keel_json_end_object(json);
}
