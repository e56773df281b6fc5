// A probe: its words, its findings, and the messages of its child:
//
//   {"begin": "load"}                  a step begins
//   {"end": "load", "ns": 12, ...}     it is over: "code" and "error", or "skipped"; "bundle":
//   facts
//   {"lost": 1}                        the child had no memory for a message
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "probe/internal.h"

// ---- words -------------------------------------------------------------------------------------

static const char *const steps[][2] = {
#define STEP(name, text, sentence) {text, sentence},
    KEEL_PROBE_STEPS(STEP)
#undef STEP
};

const char *keel_probe_step_name(keel_probe_step_t step) {
    return steps[step][0];
}

const char *keel_probe_step_sentence(keel_probe_step_t step) {
    return steps[step][1];
}

static const char *const states[][2] = {
#define STATE(name, text, word) {text, word},
    KEEL_PROBE_STATES(STATE)
#undef STATE
};

const char *keel_probe_state_name(keel_probe_state_t state) {
    return states[state][0];
}

const char *keel_probe_state_word(keel_probe_state_t state) {
    return states[state][1];
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
    *probe = (keel_probe_t){0};
    keel_bundle_initialize(&probe->bundle);
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i)
        probe->steps[i].code = probe->steps[i].message = probe->steps[i].said = "";
}

void keel_probe_deinitialize(keel_probe_t *probe) {
    keel_bundle_deinitialize(&probe->bundle);
}

keel_status_t keel_probe_status(const keel_probe_t *probe) {
    if (!probe->out_of_memory) return NULL;
    return keel_status_make(KEEL_NO_MEMORY, "out of memory: the probe is incomplete");
}

const char *probe_keep(keel_probe_t *probe, keel_str_t text) {
    const char *kept = "";
    keel_status_t status =
        keel_bundle_clean(&probe->bundle.arena, text, KEEL_BUNDLE_VALUE_LIMIT, &kept);
    if (status) probe->out_of_memory = true;
    keel_status_ignore(status);
    return kept;
}

void probe_note(keel_probe_t *probe, keel_bundle_section_t section, const char *name,
                const char *value) {
    keel_status_t status =
        keel_bundle_add(&probe->bundle, section, keel_str(name), keel_str(value));
    if (status) probe->out_of_memory = true;
    keel_status_ignore(status);
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
    probe->findings[probe->finding_count++] =
        (keel_probe_finding_t){.label = label,
                               .weight = weight,
                               .text = probe_keep(probe, keel_str(text)),
                               .next = probe_keep(probe, keel_str(next))};
}

// ---- messages ----------------------------------------------------------------------------------

static const char *text_of(const json_t *line, const char *name) {
    const char *text = json_string_value(json_object_get(line, name));
    return text ? text : "";
}

static bool take_step(keel_probe_t *probe, const json_t *line) {
    const char *begun = text_of(line, "begin"), *over = text_of(line, "end");
    int step = 0;
    while (step < KEEL_PROBE_STEP_COUNT && strcmp(*begun ? begun : over, steps[step][0]) != 0)
        ++step;
    if (step == KEEL_PROBE_STEP_COUNT) return false;
    keel_probe_outcome_t *outcome = &probe->steps[step];
    json_int_t nanoseconds = json_integer_value(json_object_get(line, "ns"));
    const char *error = text_of(line, "error"), *skipped = text_of(line, "skipped");
    outcome->state = *begun                           ? KEEL_PROBE_BEGUN
                     : json_object_get(line, "error") ? KEEL_PROBE_FAILED
                     : *skipped                       ? KEEL_PROBE_SKIPPED
                                                      : KEEL_PROBE_OK;
    outcome->nanoseconds = nanoseconds > 0 ? (uint64_t)nanoseconds : 0;
    outcome->code = probe_keep(probe, keel_str(text_of(line, "code")));
    outcome->message = probe_keep(probe, keel_str(*error ? error : skipped));
    // Keel's own failure, not the plugin's.
    if (strcmp(outcome->code, keel_code_word(KEEL_NO_MEMORY)) == 0) probe->out_of_memory = true;
    return true;
}

keel_status_t keel_probe_take_line(keel_probe_t *probe, keel_str_t text) {
    json_t *line = json_loadb(text.data, text.size, 0, NULL);
    const json_t *bundle = json_object_get(line, "bundle");
    bool lost = json_object_get(line, "lost"), known = take_step(probe, line) || lost;
    if (lost) probe->out_of_memory = true;
    keel_status_t status = bundle ? keel_bundle_take(bundle, &probe->bundle) : NULL;
    json_decref(line);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    if (!known && (!bundle || status)) ++probe->broken_lines;
    keel_status_ignore(status);
    return NULL;
}
