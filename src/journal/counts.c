// Reading the executions that an event counts. Older journals name all programs by digest.
#include <jansson.h>

#include "journal/journal.h"

static uint64_t numbering_of(const json_t *event) {
    return keel_event_count(event, "numbering") << 32;
}

uint64_t keel_event_program_number(const json_t *event) {
    uint64_t number = keel_event_count(event, "number");
    return number ? numbering_of(event) + number : 0;
}

keel_counts_t keel_event_counts(const json_t *event) {
    json_t *by_digest = json_object_get(event, "executes");
    return (keel_counts_t){.by_digest = by_digest,
                           .by_number = json_object_get(event, "counts"),
                           .digest = json_object_iter(by_digest),
                           .numbering = numbering_of(event)};
}

static uint64_t times_of(const json_t *value) {
    json_int_t number = json_integer_value(value);
    return number > 0 ? (uint64_t)number : 0;
}

bool keel_counts_next(keel_counts_t *counts, keel_counted_t *out) {
    if (counts->digest) {
        *out = (keel_counted_t){.digest = json_object_iter_key(counts->digest),
                                .times = times_of(json_object_iter_value(counts->digest))};
        counts->digest = json_object_iter_next(counts->by_digest, counts->digest);
        return true;
    }
    size_t at = counts->number;
    if (at + 1 >= json_array_size(counts->by_number)) return false;
    uint64_t number = times_of(json_array_get(counts->by_number, at));
    *out = (keel_counted_t){.number = counts->numbering + number,
                            .times = times_of(json_array_get(counts->by_number, at + 1))};
    counts->number += 2;
    return true;
}

uint64_t keel_event_executions(const json_t *event) {
    keel_counts_t counts = keel_event_counts(event);
    keel_counted_t counted;
    uint64_t sum = 0;
    while (keel_counts_next(&counts, &counted))
        sum += counted.times;
    return sum;
}
