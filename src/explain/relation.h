// relation: whether one number is a simple function of another, given the old and the new value of
// both.
//
// A library computes numbers of its own from those that the user gave it: 1 - b1, 1 / (4 eps), the
// logarithm of a scale. If a function holds before and after, they are one cause.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_RELATION_H_
#define KEEL_EXPLAIN_RELATION_H_

#include "base/base.h"

typedef enum keel_relation_t {
    KEEL_RELATION_NONE,
    // A multiple or a part: two numbers may well be halved by accident.
    KEEL_RELATION_MULTIPLE,
    KEEL_RELATION_SCALED, // a multiple or a part of a function
    KEEL_RELATION_FUNCTION,
} keel_relation_t;

// A number that changed, `from` as it is written. `other` is rounded to 16 bits where `is_coarse`.
typedef struct keel_move_t {
    double before, after;
} keel_move_t;
keel_relation_t keel_relation_of(keel_move_t from, keel_move_t other, bool is_coarse);

#endif // KEEL_EXPLAIN_RELATION_H_
