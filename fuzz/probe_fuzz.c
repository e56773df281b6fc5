// What a probe reads: the lines of its child, and the JSON of a probe on another machine. Whatever
// they contain, the result is within bounds and safe for a terminal.
//
// The JSON ends at the first zero byte; the child's lines follow.
#include <stdlib.h>

#include "probe/compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static void check_shown(const char *text) {
    for (; *text; ++text)
        check((unsigned char)*text >= 0x20 || *text == '\n');
}

static void take_lines(keel_probe_t *probe, keel_str_t rest) {
    while (rest.size) {
        const char *end = memchr(rest.data, '\n', rest.size);
        keel_str_t line = {rest.data, end ? (size_t)(end - rest.data) : rest.size};
        size_t taken = line.size + (end ? 1 : 0);
        check(!keel_probe_take_line(probe, line));
        rest = (keel_str_t){rest.data + taken, rest.size - taken};
    }
}

static void check_probe(const keel_probe_t *probe) {
    check(probe->device_count <= KEEL_PROBE_DEVICES_SHOWN);
    check(probe->extension_count <= KEEL_PROBE_EXTENSIONS);
    check(probe->struct_count <= KEEL_PROBE_STRUCTS);
    check(probe->finding_count <= KEEL_PROBE_FINDINGS);
    check_shown(probe->platform);
    check_shown(probe->attributes);
    for (size_t i = 0; i < probe->device_count; ++i) {
        check_shown(probe->devices[i].name);
        check_shown(probe->devices[i].memory_refusal);
    }
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

static void check_fit(const keel_probe_t *here, keel_bytes_t bytes) {
    keel_probe_other_t other;
    keel_probe_fit_t fit;
    keel_probe_other_initialize(&other);
    keel_probe_fit_initialize(&fit);
    keel_status_t status = keel_probe_read_other(bytes, &other);
    check(!status || keel_status_code(status) == KEEL_INVALID);
    if (!status) {
        check(!keel_probe_compare(here, NULL, &other, &fit));
        check(fit.block_count <= KEEL_PROBE_BLOCKS);
        for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
            check(!fit.hits || !fit.differs[i]);
        check(!fit.hits || (!fit.block_count && !fit.fields.root_count));
        for (size_t i = 0; i < fit.fields.root_count; ++i) {
            check_shown(fit.fields.roots[i].subject);
            check_shown(fit.fields.roots[i].old_value);
            check_shown(fit.fields.roots[i].new_value);
        }
    }
    keel_status_ignore(status);
    keel_probe_fit_deinitialize(&fit);
    keel_probe_other_deinitialize(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    size_t first = zero ? (size_t)(zero - data) : size;
    void *memory;
    check(!keel_calloc(1, sizeof(keel_probe_t), &memory));
    keel_probe_t *probe = memory;
    keel_probe_initialize(probe);
    if (zero) take_lines(probe, (keel_str_t){(const char *)zero + 1, size - first - 1});
    keel_probe_conclude(probe);
    check_probe(probe);
    check_fit(probe, keel_bytes(data, first));
    keel_probe_deinitialize(probe);
    keel_free(probe);
    return 0;
}
