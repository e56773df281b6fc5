// The numbers of a program on the devices. A number stays there until its argument gets another
// one, and equal ones are sent once: a rate that many operations take is one transfer in each step,
// and what never changes is none.
#include "tensor/trace.h"

struct sent_t {
    keel_dtype_t dtype;
    uint32_t users; // arguments that have it; 0: the place is vacant
    uint32_t next;  // in the bucket, or the next vacant one; KEEL_NONE: none
    uint8_t bytes[ELEMENT_BYTES];
    PJRT_Buffer **buffers;
};

keel_status_t sent_open(uint32_t count, size_t lanes, sent_numbers_t *out) {
    void *memory;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof(sent_t), &memory));
    out->data = memory;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof(uint32_t), &memory));
    out->places = memory;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof(uint32_t), &memory));
    out->buckets = memory;
    KEEL_TRY(keel_calloc((size_t)count * lanes + 1, sizeof(PJRT_Buffer *), &memory));
    out->buffers = memory;
    out->count = count;
    out->bucket_count = count + 1;
    out->vacant = count ? 0 : KEEL_NONE;
    for (uint32_t i = 0; i < count; ++i) {
        out->data[i].buffers = out->buffers + i * lanes;
        out->data[i].next = i + 1 < count ? i + 1 : KEEL_NONE;
        out->places[i] = KEEL_NONE;
    }
    memset(out->buckets, 0xff, out->bucket_count * sizeof *out->buckets);
    return NULL;
}

void sent_close(device_t *device, sent_numbers_t *sent) {
    for (uint32_t i = 0; i < sent->count; ++i)
        device_drop(device, sent->data[i].buffers);
    keel_free(sent->data);
    keel_free(sent->places);
    keel_free(sent->buckets);
    keel_free(sent->buffers);
}

static bool is_it(const sent_t *sent, const sent_t *wanted) {
    return sent->dtype == wanted->dtype &&
           !memcmp(sent->bytes, wanted->bytes, sizeof wanted->bytes);
}

static uint32_t *bucket_of(const sent_numbers_t *sent, const sent_t *wanted) {
    uint64_t hash = keel_quick_hash(keel_bytes(wanted->bytes, sizeof wanted->bytes));
    return &sent->buckets[(hash + wanted->dtype) % sent->bucket_count];
}

static void give_up(device_t *device, sent_numbers_t *sent, uint32_t which) {
    const uint32_t place = sent->places[which];
    sent->places[which] = KEEL_NONE;
    if (place == KEEL_NONE || --sent->data[place].users) return;
    device_drop(device, sent->data[place].buffers);
    uint32_t *link = bucket_of(sent, &sent->data[place]);
    while (*link != place)
        link = &sent->data[*link].next;
    *link = sent->data[place].next;
    sent->data[place].next = sent->vacant;
    sent->vacant = place;
}

// The place of an equal one; KEEL_NONE if there is none.
static uint32_t find_sent(const sent_numbers_t *sent, const sent_t *wanted) {
    uint32_t place = *bucket_of(sent, wanted);
    while (place != KEEL_NONE && !is_it(&sent->data[place], wanted))
        place = sent->data[place].next;
    return place;
}

// Each argument has given up the place that it had, so one is vacant.
static keel_status_t send(keel_context_t *context, sent_numbers_t *sent, const sent_t *wanted,
                          uint32_t *out) {
    const keel_shape_t scalar = {0};
    const layout_t layout = {wanted->dtype, &scalar, &context->shardings.data[SHARDING_WHOLE]};
    const uint32_t place = sent->vacant;
    sent_t *fresh = &sent->data[place];
    KEEL_TRY(device_send(context->device, &layout, wanted->bytes, fresh->buffers));
    sent->vacant = fresh->next;
    fresh->dtype = wanted->dtype;
    memcpy(fresh->bytes, wanted->bytes, sizeof fresh->bytes);
    uint32_t *bucket = bucket_of(sent, wanted);
    fresh->next = *bucket;
    *bucket = *out = place;
    return NULL;
}

keel_status_t sent_find(keel_context_t *context, sent_numbers_t *sent, uint32_t which,
                        const number_t *number, PJRT_Buffer ***out) {
    sent_t wanted = {.dtype = number->dtype};
    uint32_t place = sent->places[which];
    number_encode(number->dtype, number->value, wanted.bytes);
    if (place == KEEL_NONE || !is_it(&sent->data[place], &wanted)) {
        give_up(context->device, sent, which);
        place = find_sent(sent, &wanted);
        if (place == KEEL_NONE) KEEL_TRY(send(context, sent, &wanted, &place));
        ++sent->data[place].users;
        sent->places[which] = place;
    }
    *out = sent->data[place].buffers;
    return NULL;
}
