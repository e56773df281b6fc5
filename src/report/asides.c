#include "report/asides.h"

#include <inttypes.h>
#include <stdlib.h>

#include "explain/cause.h"
#include "metrics/metrics.h"
#include "report/flow.h"
#include "report/steps.h"
#include "report/write.h"

static keel_status_t add_op(keel_asides_t *asides, const char *name, uint64_t times,
                            keel_arena_t *texts) {
    enum { OPS = 1024 }; // PyTorch has some two thousand, a program a few
    size_t at = 0;
    while (at < asides->op_count && strcmp(asides->ops[at].name, name) != 0)
        ++at;
    if (at == asides->op_count) {
        if (at == OPS) return NULL;
        void *grown = asides->ops;
        KEEL_TRY(keel_realloc_array(at + 1, sizeof *asides->ops, &grown));
        asides->ops = grown;
        asides->ops[at] = (keel_host_op_sum_t){.name = ""};
        KEEL_TRY(keel_event_keep(texts, name, &asides->ops[at].name));
        ++asides->op_count;
    }
    asides->ops[at].times += times;
    return NULL;
}

static keel_status_t add_ops(keel_asides_t *asides, const json_t *event, keel_arena_t *texts) {
    const char *name;
    json_t *times;
    json_object_foreach(json_object_get(event, "ops"), name, times) {
        json_int_t number = json_integer_value(times);
        if (number > 0) KEEL_TRY(add_op(asides, name, (uint64_t)number, texts));
    }
    return NULL;
}

static keel_status_t add_misfit(keel_asides_t *asides, const json_t *event, const char *cwd,
                                keel_arena_t *texts) {
    keel_misfit_t misfit = {.name = "", .program = "", .shown = "", .message = ""};
    const char *message = keel_event_text(event, "message");
    if (!keel_metrics_is_out_of_memory(keel_event_text(event, "code"), message, &misfit.needed,
                                       &misfit.available))
        return NULL;
    const json_t *site = json_object_get(event, "site");
    void *grown = asides->misfits;
    KEEL_TRY(keel_realloc_array(asides->misfit_count + 1, sizeof *asides->misfits, &grown));
    asides->misfits = grown;
    KEEL_TRY(keel_event_keep(texts, keel_event_text(event, "name"), &misfit.name));
    KEEL_TRY(keel_event_keep(texts, keel_event_text(event, "program"), &misfit.program));
    KEEL_TRY(keel_event_keep(texts, message, &misfit.message));
    KEEL_TRY(keel_event_place(texts, keel_event_text(site, "file"), keel_event_line(site, "line"),
                              cwd, &misfit.shown));
    asides->misfits[asides->misfit_count++] = misfit;
    return NULL;
}

static keel_status_t add_unexplained(keel_asides_t *asides, const json_t *event,
                                     keel_arena_t *texts) {
    if (strcmp(keel_event_text(event, "what"), "explain") != 0) return NULL;
    if (asides->unexplained++) return NULL;
    KEEL_TRY(keel_event_keep(texts, keel_event_text(event, "name"), &asides->unexplained_name));
    return keel_event_keep(texts, keel_event_text(event, "message"), &asides->unexplained_words);
}

keel_status_t keel_asides_add(keel_asides_t *asides, const json_t *event, const char *cwd,
                              keel_arena_t *texts) {
    const char *kind = keel_event_text(event, "event");
    if (strcmp(kind, "host_ops") == 0) return add_ops(asides, event, texts);
    if (strcmp(kind, "fallback") == 0) return add_unexplained(asides, event, texts);
    if (strcmp(kind, "compile_error") == 0) return add_misfit(asides, event, cwd, texts);
    return NULL;
}

static int by_times(const void *a, const void *b) {
    const keel_host_op_sum_t *x = a, *y = b;
    if (x->times != y->times) return x->times < y->times ? 1 : -1;
    return strcmp(x->name, y->name);
}

void keel_asides_settle(keel_asides_t *asides) {
    if (asides->op_count) qsort(asides->ops, asides->op_count, sizeof *asides->ops, by_times);
}

void keel_asides_deinitialize(keel_asides_t *asides) {
    keel_free(asides->ops);
    keel_free(asides->misfits);
    *asides = (keel_asides_t){0};
}

// ---- telling -----------------------------------------------------------------------------------

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

// PyTorch/XLA cuts a step into several programs where it computes on the host, so that one in eight
// executions may be each step.
static bool is_told(const keel_host_op_sum_t *op, uint64_t executions, bool all) {
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

static void paragraph(keel_buffer_t *text, unsigned width, keel_buffer_t *out) {
    keel_flow_t flow = {.out = out, .width = width};
    keel_flow_end(&flow);
    keel_flow_line(&flow);
    keel_flow_buffer(&flow, text);
    keel_flow_end(&flow);
}

static void tell_misfit(const keel_misfit_t *misfit, unsigned width, keel_buffer_t *out) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_misfit_sentence(misfit, &text);
    keel_buffer_text(&text, ". Take a smaller batch, spread it over more devices, or compute "
                            "layers again in the backward pass (jax.checkpoint, "
                            "torch.utils.checkpoint); keel memory has the plugin's words.");
    paragraph(&text, width, out);
}

static void tell_op(const keel_host_op_sum_t *op, uint64_t executions, unsigned width,
                    keel_buffer_t *out) {
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
    keel_buffer_format(&text, ". %s", keel_host_op_advice(op->name));
    paragraph(&text, width, out);
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

static void tell_unexplained(const keel_asides_t *asides, unsigned width, keel_buffer_t *out) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_unexplained_sentence(asides, &text);
    keel_buffer_text(&text, ".");
    paragraph(&text, width, out);
}

void keel_asides_tell(const keel_asides_t *asides, uint64_t executions, bool all, unsigned width,
                      keel_buffer_t *out) {
    for (size_t i = 0; i < asides->misfit_count; ++i)
        tell_misfit(&asides->misfits[i], width, out);
    for (size_t i = 0; i < asides->op_count; ++i)
        if (is_told(&asides->ops[i], executions, all))
            tell_op(&asides->ops[i], executions, width, out);
    if (asides->unexplained) tell_unexplained(asides, width, out);
}

void keel_asides_json(const keel_asides_t *asides, keel_buffer_t *out) {
    keel_json_name(out, "host_ops");
    keel_buffer_byte(out, '{');
    for (size_t i = 0; i < asides->op_count; ++i) {
        keel_buffer_text(out, i ? ", " : "");
        keel_buffer_json_str(out, keel_str(asides->ops[i].name));
        keel_buffer_format(out, ": %" PRIu64, asides->ops[i].times);
    }
    keel_buffer_byte(out, '}');
    keel_json_name(out, "misfits");
    keel_buffer_byte(out, '[');
    for (size_t i = 0; i < asides->misfit_count; ++i) {
        const keel_misfit_t *misfit = &asides->misfits[i];
        keel_buffer_text(out, i ? ", {" : "{");
        keel_json_text(out, "program", misfit->program);
        keel_json_text(out, "name", misfit->name);
        keel_json_text(out, "shown", misfit->shown);
        keel_json_number(out, "needed", misfit->needed);
        keel_json_number(out, "available", misfit->available);
        keel_json_text(out, "message", misfit->message);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, ']');
    keel_json_number(out, "unexplained", asides->unexplained);
}
