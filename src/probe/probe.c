#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "probe/internal.h"

// ---- words -------------------------------------------------------------------------------------

static const struct {
    const char *name, *sentence;
} steps[KEEL_PROBE_STEP_COUNT] = {
#define STEP_ROW(name, text, sentence) {text, sentence},
    KEEL_PROBE_STEPS(STEP_ROW)
#undef STEP_ROW
};

const char *keel_probe_step_name(keel_probe_step_t step) {
    return steps[step].name;
}

const char *keel_probe_step_sentence(keel_probe_step_t step) {
    return steps[step].sentence;
}

keel_probe_step_t keel_probe_step_by_name(keel_str_t name) {
    int step = 0;
    while (step < KEEL_PROBE_STEP_COUNT && !keel_str_is(name, steps[step].name))
        ++step;
    return (keel_probe_step_t)step;
}

const char *keel_probe_state_name(keel_probe_state_t state) {
    static const char *const names[KEEL_PROBE_STATE_COUNT] = {
#define STATE_NAME(name, text) text,
        KEEL_PROBE_STATES(STATE_NAME)
#undef STATE_NAME
    };
    return names[state];
}

bool keel_probe_went_wrong(keel_probe_state_t state) {
    return state == KEEL_PROBE_FAILED || state == KEEL_PROBE_KILLED || state == KEEL_PROBE_HUNG;
}

const char *keel_probe_label_name(keel_probe_label_t label) {
    static const char *const names[KEEL_PROBE_LABEL_COUNT] = {
#define LABEL_NAME(name, text, sentence) text,
        KEEL_PROBE_LABELS(LABEL_NAME)
#undef LABEL_NAME
    };
    return names[label];
}

const char *keel_probe_verdict_name(keel_probe_verdict_t verdict) {
    static const char *const names[] = {"alive", "limping", "dead"};
    return names[verdict];
}

// ---- a probe -----------------------------------------------------------------------------------

void keel_probe_initialize(keel_probe_t *probe) {
    *probe = (keel_probe_t){.facts = json_pack("{s:{s:s,s:[]},s:[],s:i,s:i}", "plugin", "path", "",
                                               "extensions", "devices", "addressable_devices", 0,
                                               "all_devices", 0)};
    probe->out_of_memory = !probe->facts;
    keel_arena_initialize(&probe->arena, 0);
    keel_bundle_initialize(&probe->bundle);
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i)
        probe->steps[i].code = probe->steps[i].message = probe->steps[i].said = "";
}

void keel_probe_deinitialize(keel_probe_t *probe) {
    keel_bundle_deinitialize(&probe->bundle);
    json_decref(probe->facts);
    keel_arena_deinitialize(&probe->arena);
}

keel_status_t keel_probe_status(const keel_probe_t *probe) {
    if (!probe->out_of_memory) return NULL;
    return keel_status_make(KEEL_NO_MEMORY, "out of memory: the probe is incomplete");
}

keel_status_t probe_clean(keel_arena_t *arena, keel_str_t text, const char **out) {
    void *memory;
    KEEL_TRY(keel_arena_alloc(arena, text.size + 1, &memory));
    char *kept = memory;
    size_t used = 0, length;
    for (size_t i = 0; i < text.size; i += length) {
        bool shown = keel_utf8_shows(text, i, &length) || text.data[i] == '\n';
        memcpy(kept + used, shown ? text.data + i : "?", shown ? length : 1);
        used += shown ? length : 1;
    }
    kept[used] = 0;
    *out = kept;
    return NULL;
}

const char *probe_keep(keel_probe_t *probe, keel_str_t text) {
    const char *kept = "";
    keel_status_t status = probe_clean(&probe->arena, text, &kept);
    if (status) probe->out_of_memory = true;
    keel_status_ignore(status);
    return kept;
}

void keel_probe_add(keel_probe_t *probe, keel_probe_label_t label, keel_probe_verdict_t weight,
                    const char *next, const char *format, ...) {
    char text[1024];
    va_list list;
    if (weight > probe->verdict) probe->verdict = weight;
    if (probe->finding_count == KEEL_PROBE_FINDINGS) return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    for (char *at = text; *at; ++at)
        if (*at == '\n') *at = ' ';
    probe->findings[probe->finding_count++] =
        (keel_probe_finding_t){.label = label,
                               .weight = weight,
                               .text = probe_keep(probe, keel_str(text)),
                               .next = probe_keep(probe, keel_str(next))};
}
