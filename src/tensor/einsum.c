// keel_einsum: letters for axes, by keel_dot.
#include "tensor/operation.h"

enum { LETTERS = 128 };

// The letters of one tensor.
typedef struct term_t {
    char letters[KEEL_MAX_RANK];
    int32_t count;
    int32_t places[LETTERS]; // of each letter, from 1; 0: it is not there
} term_t;

typedef struct einsum_t {
    keel_caller_t site;
    keel_context_t *context;
    const char *text;
    term_t terms[2], result;
} einsum_t;

static bool refuse(const einsum_t *einsum, const char *why) {
    context_fail(einsum->context, einsum->site, "einsum: \"%s\" %s", einsum->text, why);
    return false;
}

// Up to `end`, which *at is moved behind; "" is the end of the text.
static bool read_term(const einsum_t *einsum, const char **at, const char *end, term_t *out) {
    *out = (term_t){.count = 0};
    while (**at && !(*end && strncmp(*at, end, strlen(end)) == 0)) {
        char letter = *(*at)++;
        bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
        if (!is_letter) return refuse(einsum, "is not of the form ab,bc->ac");
        if (out->count == KEEL_MAX_RANK) return refuse(einsum, "has a term of more than 8 axes");
        if (out->places[(int)letter]) return refuse(einsum, "has a letter twice in one term");
        out->letters[out->count] = letter;
        out->places[(int)letter] = ++out->count;
    }
    if (*end && !**at) return refuse(einsum, "is not of the form ab,bc->ac");
    *at += strlen(end);
    return true;
}

static bool read_text(einsum_t *einsum) {
    const char *at = einsum->text;
    if (!read_term(einsum, &at, ",", &einsum->terms[0]) ||
        !read_term(einsum, &at, "->", &einsum->terms[1]))
        return false;
    if (!read_term(einsum, &at, "", &einsum->result)) return false;
    for (int32_t i = 0; i < einsum->result.count; ++i) {
        int letter = einsum->result.letters[i];
        if (!einsum->terms[0].places[letter] && !einsum->terms[1].places[letter])
            return refuse(einsum, "has a letter in its result that no operand has");
    }
    return true;
}

// Sums the axes that neither the other operand nor the result has.
static keel_tensor_t sum_alone(const einsum_t *einsum, keel_tensor_t x, term_t *own,
                               const term_t *other) {
    keel_axes_t axes = {.count = 0};
    term_t kept = {.count = 0};
    for (int32_t i = 0; i < own->count; ++i) {
        char letter = own->letters[i];
        if (!other->places[(int)letter] && !einsum->result.places[(int)letter]) {
            axes.items[axes.count++] = i;
            continue;
        }
        kept.letters[kept.count] = letter;
        kept.places[(int)letter] = ++kept.count;
    }
    *own = kept;
    return axes.count ? keel_reduce_at(einsum->site, KEEL_OP_SUM, x, axes) : x;
}

static keel_tensor_t product(const einsum_t *einsum, keel_tensor_t x, keel_tensor_t y) {
    keel_axes_t batch[2] = {{0}, {0}}, sum[2] = {{0}, {0}}, order = {.count = einsum->result.count};
    int32_t places[LETTERS] = {0}, count = 0;
    for (int32_t i = 0; i < einsum->terms[0].count; ++i) {
        int letter = einsum->terms[0].letters[i];
        int32_t other = einsum->terms[1].places[letter];
        if (!other) continue;
        keel_axes_t *pair = einsum->result.places[letter] ? batch : sum;
        pair[0].items[pair[0].count++] = i;
        pair[1].items[pair[1].count++] = other - 1;
        if (pair == batch) places[letter] = ++count;
    }
    for (int which = 0; which < 2; ++which)
        for (int32_t i = 0; i < einsum->terms[which].count; ++i) {
            int letter = einsum->terms[which].letters[i];
            if (!einsum->terms[!which].places[letter]) places[letter] = ++count;
        }
    keel_tensor_t dot = keel_dot_at(einsum->site, x, y, batch[0], batch[1], sum[0], sum[1]);
    for (int32_t i = 0; i < order.count; ++i)
        order.items[i] = places[(int)einsum->result.letters[i]] - 1;
    return keel_transpose_at(einsum->site, dot, order);
}

keel_tensor_t keel_einsum_at(keel_caller_t site, const char *axes, keel_tensor_t x,
                             keel_tensor_t y) {
    site = keel_tensor_part_of(site, "einsum");
    uint32_t nodes[2];
    einsum_t einsum = {.site = site, .text = axes ? axes : ""};
    einsum.context = ops_begin(site, "einsum", (keel_tensor_t[]){x, y}, 2, nodes);
    if (!einsum.context || !read_text(&einsum)) return (keel_tensor_t){0};
    for (int i = 0; i < 2; ++i) {
        char text[SHAPE_TEXT];
        if (einsum.terms[i].count == trace_node_shape(einsum.context, nodes[i])->rank) continue;
        return context_fail(einsum.context, site, "einsum: \"%s\" has %d axes for %s", axes,
                            (int)einsum.terms[i].count,
                            ops_describe(einsum.context, nodes[i], text));
    }
    x = sum_alone(&einsum, x, &einsum.terms[0], &einsum.terms[1]);
    y = sum_alone(&einsum, y, &einsum.terms[1], &einsum.terms[0]);
    return product(&einsum, x, y);
}
