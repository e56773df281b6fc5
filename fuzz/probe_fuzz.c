// What a probe reads: the messages of its child, one a line. Whatever they contain, the result is
// within bounds and safe for a terminal. (What it reads of other probes is a bundle.)
#include <stdlib.h>

#include "probe/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static void check_shown(const char *text) {
    keel_str_t str = keel_str(text);
    size_t length;
    for (size_t i = 0; i < str.size; i += length)
        check(keel_utf8_shows(str, i, &length));
}

static void take_lines(keel_probe_t *probe, keel_str_t rest) {
    keel_str_t line;
    while (keel_str_line(&rest, &line))
        check(!keel_probe_take_line(probe, line));
}

static void check_probe(const keel_probe_t *probe) {
    for (size_t i = 0; i < probe->bundle.count; ++i)
        check_shown(probe->bundle.facts[i].value);
    check(probe->finding_count <= KEEL_PROBE_FINDINGS);
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i) {
        check(probe->steps[i].state < KEEL_PROBE_STATE_COUNT);
        check_shown(probe->steps[i].message);
    }
    for (size_t i = 0; i < probe->finding_count; ++i) {
        check_shown(probe->findings[i].text);
        check(*probe->findings[i].next);
        check(probe->findings[i].weight <= probe->verdict);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    void *memory;
    check(!keel_calloc(1, sizeof(keel_probe_t), &memory));
    keel_probe_t *probe = memory;
    keel_probe_initialize(probe);
    take_lines(probe, (keel_str_t){(const char *)data, size});
    keel_probe_conclude(probe);
    check_probe(probe);
    keel_probe_deinitialize(probe);
    keel_free(probe);
    return 0;
}
