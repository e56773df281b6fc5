// The rules by which optimizers move a parameter: include/keel/model.h has their formulas. Every
// number is an argument, so a changed one makes no new program; only what is 0 is left out.
#include "model/model.h"

#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))
#define NUMBER(like, value) keel_number_at(site, (like), (value), #value)

bool rules_need_first(const keel_optimizer_options_t *options) {
    return options->rule != KEEL_RULE_SGD || options->beta1 != 0;
}

bool rules_need_second(const keel_optimizer_options_t *options) {
    return options->rule == KEEL_RULE_ADAMW;
}

// 1 - beta^t: what is missing in a mean that began with 0.
static keel_tensor_t bias(keel_caller_t site, keel_tensor_t beta, keel_tensor_t t) {
    return BINARY(SUBTRACT, keel_constant_at(site, t, 1), BINARY(POWER, beta, t));
}

rates_t rules_rates(keel_caller_t site, const keel_optimizer_options_t *options, keel_tensor_t t) {
    rates_t rates = {.rate = keel_rate_at(site, options->rate, t),
                     .beta1 = NUMBER(t, options->beta1)};
    if (options->rule == KEEL_RULE_SGD) return rates;
    rates.beta2 = NUMBER(t, options->beta2);
    rates.rest1 = NUMBER(t, 1 - options->beta1);
    rates.rest2 = NUMBER(t, 1 - options->beta2);
    if (options->rule == KEEL_RULE_LION) return rates;
    rates.epsilon = NUMBER(t, options->epsilon);
    rates.bias1 = bias(site, rates.beta1, t);
    rates.bias2 = bias(site, rates.beta2, t);
    return rates;
}

void rules_assign(keel_caller_t site, keel_tensor_t is_due, keel_tensor_t variable,
                  keel_tensor_t next) {
    next = keel_cast_at(site, next, keel_dtype(variable));
    if (!keel_is_empty(is_due)) next = keel_select_at(site, is_due, next, variable);
    keel_assign_at(site, variable, next);
}

// x * a + y * b
static keel_tensor_t blend(keel_caller_t site, keel_tensor_t x, keel_tensor_t a, keel_tensor_t y,
                           keel_tensor_t b) {
    return BINARY(ADD, BINARY(MULTIPLY, x, a), BINARY(MULTIPLY, y, b));
}

static keel_tensor_t sgd(keel_caller_t site, const rates_t *r, const slot_t *slot) {
    if (keel_is_empty(slot->first)) return slot->gradient;
    keel_tensor_t first = BINARY(ADD, BINARY(MULTIPLY, slot->first, r->beta1), slot->gradient);
    rules_assign(site, r->is_due, slot->first, first);
    return first;
}

static keel_tensor_t adamw(keel_caller_t site, const rates_t *r, const slot_t *slot) {
    keel_tensor_t g = slot->gradient;
    keel_tensor_t first = blend(site, slot->first, r->beta1, g, r->rest1);
    keel_tensor_t second = blend(site, slot->second, r->beta2, BINARY(MULTIPLY, g, g), r->rest2);
    rules_assign(site, r->is_due, slot->first, first);
    rules_assign(site, r->is_due, slot->second, second);
    keel_tensor_t root = keel_unary_at(site, KEEL_OP_SQRT, BINARY(DIVIDE, second, r->bias2));
    return BINARY(DIVIDE, BINARY(DIVIDE, first, r->bias1), BINARY(ADD, root, r->epsilon));
}

static keel_tensor_t lion(keel_caller_t site, const rates_t *r, const slot_t *slot) {
    keel_tensor_t g = slot->gradient;
    keel_tensor_t mean = blend(site, slot->first, r->beta1, g, r->rest1);
    rules_assign(site, r->is_due, slot->first, blend(site, slot->first, r->beta2, g, r->rest2));
    return keel_unary_at(site, KEEL_OP_SIGN, mean);
}

void rules_step(keel_caller_t site, const keel_optimizer_options_t *options, const rates_t *rates,
                const slot_t *slot) {
    static keel_tensor_t (*const rules[])(keel_caller_t, const rates_t *, const slot_t *) = {
        [KEEL_RULE_SGD] = sgd, [KEEL_RULE_ADAMW] = adamw, [KEEL_RULE_LION] = lion};
    keel_tensor_t x = keel_cast_at(site, slot->x, keel_dtype(slot->gradient));
    keel_tensor_t move = rules[options->rule](site, rates, slot), rate = rates->rate;
    double decay = options->decay * slot->decay;
    if (decay != 0) move = BINARY(ADD, move, BINARY(MULTIPLY, x, NUMBER(x, decay)));
    if (slot->rate != 1) rate = BINARY(MULTIPLY, rate, NUMBER(rate, slot->rate));
    rules_assign(site, rates->is_due, slot->x, BINARY(SUBTRACT, x, BINARY(MULTIPLY, move, rate)));
}
