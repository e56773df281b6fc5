#include "run/asides.h"

#include <stdlib.h>

#include "metrics/metrics.h"
#include "run/steps.h"

static keel_status_t add_op(keel_asides_t *asides, const char *name, uint64_t times,
                            keel_texts_t *texts) {
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
        KEEL_TRY(keel_texts_keep(texts, name, &asides->ops[at].name));
        ++asides->op_count;
    }
    asides->ops[at].times += times;
    return NULL;
}

static keel_status_t add_ops(keel_asides_t *asides, const json_t *event, keel_texts_t *texts) {
    const char *name;
    json_t *times;
    json_object_foreach(json_object_get(event, "ops"), name, times) {
        json_int_t number = json_integer_value(times);
        if (number > 0) KEEL_TRY(add_op(asides, name, (uint64_t)number, texts));
    }
    return NULL;
}

static keel_status_t add_misfit(keel_asides_t *asides, const json_t *event, const char *cwd,
                                keel_texts_t *texts) {
    keel_misfit_t misfit = {.name = "", .program = "", .shown = "", .message = ""};
    const char *message = keel_event_text(event, "message");
    if (!keel_metrics_is_out_of_memory(keel_event_text(event, "code"), message, &misfit.needed,
                                       &misfit.available) ||
        asides->misfit_count >= keel_limit(KEEL_LIMIT_REQUESTS))
        return NULL;
    const json_t *site = json_object_get(event, "site");
    void *grown = asides->misfits;
    KEEL_TRY(keel_realloc_array(asides->misfit_count + 1, sizeof *asides->misfits, &grown));
    asides->misfits = grown;
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(event, "name"), &misfit.name));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(event, "program"), &misfit.program));
    KEEL_TRY(keel_texts_keep(texts, message, &misfit.message));
    KEEL_TRY(keel_event_place(texts, keel_event_text(site, "file"), keel_event_line(site, "line"),
                              cwd, &misfit.shown));
    asides->misfits[asides->misfit_count++] = misfit;
    return NULL;
}

static keel_status_t add_unexplained(keel_asides_t *asides, const json_t *event,
                                     keel_texts_t *texts) {
    if (strcmp(keel_event_text(event, "what"), "explain") != 0) return NULL;
    if (asides->unexplained++) return NULL;
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(event, "name"), &asides->unexplained_name));
    return keel_texts_keep(texts, keel_event_text(event, "message"), &asides->unexplained_words);
}

static keel_status_t add_late(keel_asides_t *asides, const json_t *event, keel_texts_t *texts) {
    if (asides->late++) return NULL;
    KEEL_TRY(keel_event_keep_field(texts, event, "what", &asides->late_what));
    return keel_event_keep_field(texts, event, "value", &asides->late_value);
}

static keel_status_t add_load(keel_asides_t *asides, const json_t *event, const char *cwd,
                              keel_texts_t *texts) {
    const json_t *site = json_object_get(event, "site");
    const char *tier = keel_event_text(event, "tier");
    bool is_elsewhere = strcmp(tier, "elsewhere") == 0;
    if (!is_elsewhere && *keel_event_text(event, "by"))
        asides->by_client += keel_event_times(event);
    if (!is_elsewhere) return NULL;
    uint64_t before = asides->elsewhere;
    asides->elsewhere += keel_event_times(event);
    if (strcmp(keel_event_text(event, "format"), "executable") == 0)
        asides->elsewhere_unread += keel_event_times(event);
    if (before) return NULL;
    KEEL_TRY(keel_event_keep_field(texts, event, "name", &asides->elsewhere_name));
    KEEL_TRY(keel_event_keep_field(texts, event, "by", &asides->elsewhere_by));
    return keel_event_place(texts, keel_event_text(site, "file"), keel_event_line(site, "line"),
                            cwd, &asides->elsewhere_shown);
}

static keel_status_t add_unkept(keel_asides_t *asides, const json_t *event, keel_texts_t *texts) {
    json_int_t modules = json_integer_value(json_object_get(event, "modules"));
    json_int_t size = json_integer_value(json_object_get(event, "size"));
    if (modules <= 0 || size <= 0 || (uint64_t)size <= asides->unkept_size) return NULL;
    asides->unkept = (uint64_t)modules;
    asides->unkept_size = (uint64_t)size;
    return keel_event_keep_field(texts, event, "why", &asides->unkept_why);
}

keel_status_t keel_asides_add(keel_asides_t *asides, const json_t *event, const char *cwd,
                              keel_texts_t *texts) {
    const char *kind = keel_event_text(event, "event");
    if (strcmp(kind, "host_ops") == 0) return add_ops(asides, event, texts);
    if (strcmp(kind, "fallback") == 0) return add_unexplained(asides, event, texts);
    if (strcmp(kind, "compile_error") == 0) return add_misfit(asides, event, cwd, texts);
    if (strcmp(kind, "late") == 0) return add_late(asides, event, texts);
    if (strcmp(kind, "bytecode") == 0) return add_unkept(asides, event, texts);
    if (strcmp(kind, "load") == 0) return add_load(asides, event, cwd, texts);
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
