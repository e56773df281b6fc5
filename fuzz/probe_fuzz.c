// What a probe reads: the lines of its child, and the JSON of a probe on another machine. Whatever
// they contain, the result is within bounds and safe for a terminal.
//
// The JSON ends at the first zero byte; the child's lines follow.
#include <stdlib.h>

#include <jansson.h>

#include "probe/compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static void check_shown(const char *text) {
    keel_str_t str = keel_str(text);
    size_t length;
    for (size_t i = 0; i < str.size; i += length)
        check(keel_utf8_shows(str, i, &length) || text[i] == '\n');
}

static void check_facts(const json_t *at) {
    json_t *object = (json_t *)(uintptr_t)at;
    check(json_array_size(at) <= KEEL_PROBE_MEMBERS && json_object_size(at) <= KEEL_PROBE_MEMBERS);
    if (json_is_string(at)) check_shown(json_string_value(at));
    for (size_t i = 0; i < json_array_size(at); ++i)
        check_facts(json_array_get(at, i));
    for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i))
        check_facts(json_object_iter_value(i));
}

static void take_lines(keel_probe_t *probe, keel_str_t rest) {
    keel_str_t line;
    while (keel_str_line(&rest, &line))
        check(!keel_probe_take_line(probe, line));
}

static void check_probe(const keel_probe_t *probe) {
    check_facts(probe->facts);
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

static void check_fit(const keel_probe_t *here, keel_bytes_t bytes) {
    json_t *other = NULL;
    keel_probe_fit_t fit;
    keel_probe_fit_initialize(&fit);
    keel_status_t status = keel_probe_read_other(bytes, &other);
    check(!status || keel_status_code(status) == KEEL_INVALID);
    if (!status) {
        check(!keel_probe_compare(here, NULL, other, &fit));
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
    json_decref(other);
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
