// The numbers of a program on the devices. A number stays there until its argument gets another
// one, and equal ones are sent once: a rate that many operations take is one transfer in each step,
// and what never changes is none.
#include "tensor/trace.h"

struct sent_t {
    keel_dtype_t dtype;
    uint32_t users; // arguments that have it; 0: the place is free
    uint8_t bytes[ELEMENT_BYTES];
    PJRT_Buffer **buffers;
};

keel_status_t sent_open(uint32_t count, size_t lanes, sent_numbers_t *out) {
    void *memory;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof(sent_t), &memory));
    out->data = memory;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof(uint32_t), &memory));
    out->places = memory;
    KEEL_TRY(keel_calloc((size_t)count * lanes + 1, sizeof(PJRT_Buffer *), &memory));
    out->buffers = memory;
    out->count = count;
    for (uint32_t i = 0; i < count; ++i) {
        out->data[i].buffers = out->buffers + i * lanes;
        out->places[i] = KEEL_NONE;
    }
    return NULL;
}

void sent_close(device_t *device, sent_numbers_t *sent) {
    for (uint32_t i = 0; i < sent->count; ++i)
        device_drop(device, sent->data[i].buffers);
    keel_free(sent->data);
    keel_free(sent->places);
    keel_free(sent->buffers);
}

static bool is_it(const sent_t *sent, const sent_t *wanted) {
    return sent->users && sent->dtype == wanted->dtype &&
           !memcmp(sent->bytes, wanted->bytes, sizeof wanted->bytes);
}

static void give_up(device_t *device, sent_numbers_t *sent, uint32_t which) {
    const uint32_t place = sent->places[which];
    sent->places[which] = KEEL_NONE;
    if (place == KEEL_NONE || --sent->data[place].users) return;
    device_drop(device, sent->data[place].buffers);
}

// The place of an equal one; otherwise a free one, of which there is one for each argument.
static uint32_t find(const sent_numbers_t *sent, const sent_t *wanted) {
    uint32_t place = KEEL_NONE;
    for (uint32_t i = 0; i < sent->count; ++i) {
        if (is_it(&sent->data[i], wanted)) return i;
        if (!sent->data[i].users) place = i;
    }
    return place;
}

static keel_status_t send(keel_context_t *context, const sent_t *wanted, sent_t *out) {
    const keel_shape_t scalar = {0};
    const layout_t layout = {wanted->dtype, &scalar, &context->shardings.data[SHARDING_WHOLE]};
    out->dtype = wanted->dtype;
    memcpy(out->bytes, wanted->bytes, sizeof out->bytes);
    return device_send(context->device, &layout, wanted->bytes, out->buffers);
}

keel_status_t sent_find(keel_context_t *context, sent_numbers_t *sent, uint32_t which,
                        const number_t *number, PJRT_Buffer ***out) {
    sent_t wanted = {.dtype = number->dtype};
    uint32_t place = sent->places[which];
    number_encode(number->dtype, number->value, wanted.bytes);
    if (place == KEEL_NONE || !is_it(&sent->data[place], &wanted)) {
        give_up(context->device, sent, which);
        place = find(sent, &wanted);
        if (!sent->data[place].users) KEEL_TRY(send(context, &wanted, &sent->data[place]));
        ++sent->data[place].users;
        sent->places[which] = place;
    }
    *out = sent->data[place].buffers;
    return NULL;
}
