// A probe: its words and its findings.
#include "probe/probe.h"

#include <stdio.h>

#define NAME(step, needs, take, name, sentence) name,
#define SENTENCE(step, needs, take, name, sentence) sentence,
#define STATE(state, name, word) name,
#define WORD(state, name, word) word,
const char *const keel_probe_step_names[] = {KEEL_PROBE_STEPS(NAME)};
const char *const keel_probe_step_sentences[] = {KEEL_PROBE_STEPS(SENTENCE)};
const char *const keel_probe_state_names[] = {KEEL_PROBE_STATES(STATE)};
const char *const keel_probe_state_words[] = {KEEL_PROBE_STATES(WORD)};
const char *const keel_probe_verdict_names[] = {"alive", "limping", "dead"};

void keel_probe_initialize(keel_probe_t *probe) {
    *probe = (keel_probe_t){0};
    keel_bundle_initialize(&probe->bundle);
    keel_buffer_initialize(&probe->target, 0);
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i)
        probe->steps[i].code = probe->steps[i].message = probe->steps[i].said = "";
}

void keel_probe_deinitialize(keel_probe_t *probe) {
    keel_bundle_deinitialize(&probe->bundle);
    keel_buffer_deinitialize(&probe->target);
}

void keel_probe_add(keel_probe_t *probe, const char *label, keel_probe_verdict_t weight,
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
                               .text = keel_bundle_keep(&probe->bundle, keel_str(text)),
                               .next = keel_bundle_keep(&probe->bundle, keel_str(next))};
}
