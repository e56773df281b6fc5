// Schedules, computed on the device from a count of steps. Their numbers are arguments.
#include "model/model.h"

#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))
#define NUMBER(like, value) keel_number_at(site, (like), (value), #value)
#define CONSTANT(like, value) keel_constant_at(site, (like), (value))

static double at_least_one(double steps) {
    return steps > 1 ? steps : 1; // also of NaN
}

// From 1 at the end of the warm-up to `last` at the end.
static keel_tensor_t curve_of(keel_caller_t site, const keel_schedule_t *schedule,
                              keel_tensor_t t) {
    keel_tensor_t one = CONSTANT(t, 1), zero = CONSTANT(t, 0);
    double length = at_least_one(schedule->end - schedule->warmup);
    keel_tensor_t p =
        BINARY(DIVIDE, BINARY(SUBTRACT, t, NUMBER(t, schedule->warmup)), NUMBER(t, length));
    p = BINARY(MINIMUM, BINARY(MAXIMUM, p, zero), one);
    keel_tensor_t fall = NUMBER(t, 1 - schedule->last);
    if (schedule->curve == KEEL_CURVE_LINEAR)
        return BINARY(SUBTRACT, one, BINARY(MULTIPLY, fall, p));
    keel_tensor_t wave =
        keel_unary_at(site, KEEL_OP_COS, BINARY(MULTIPLY, p, CONSTANT(t, 3.141592653589793)));
    keel_tensor_t share = BINARY(MULTIPLY, BINARY(ADD, one, wave), CONSTANT(t, 0.5));
    return BINARY(ADD, NUMBER(t, schedule->last), BINARY(MULTIPLY, fall, share));
}

keel_tensor_t keel_rate_at(keel_caller_t site, keel_schedule_t schedule, keel_tensor_t t) {
    site = keel_tensor_part_of(site, "rate");
    if (keel_is_empty(t)) return t;
    if ((unsigned)schedule.curve > KEEL_CURVE_COSINE)
        return keel_tensor_fail(
            t.context, site,
            keel_status_make(KEEL_INVALID, "rate: there is no curve %d", (int)schedule.curve));
    t = keel_cast_at(site, t, keel_dtype(t) == KEEL_F64 ? KEEL_F64 : KEEL_F32);
    keel_tensor_t share = BINARY(DIVIDE, t, NUMBER(t, at_least_one(schedule.warmup)));
    keel_tensor_t rate =
        BINARY(MULTIPLY, NUMBER(t, schedule.peak), BINARY(MINIMUM, CONSTANT(t, 1), share));
    if (schedule.curve == KEEL_CURVE_CONSTANT) return rate;
    return BINARY(MULTIPLY, rate, curve_of(site, &schedule, t));
}
