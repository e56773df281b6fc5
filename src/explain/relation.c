#include "explain/relation.h"

#include <math.h>

// ---- the functions -----------------------------------------------------------------------------

static double reciprocal(double x) {
    return 1 / x;
}
static double rest(double x) {
    return 1 - x;
}
static double successor(double x) {
    return 1 + x;
}
static double square(double x) {
    return x * x;
}
static double reciprocal_square(double x) {
    return 1 / (x * x);
}
static double reciprocal_root(double x) {
    return 1 / sqrt(x);
}
static double reciprocal_rest(double x) {
    return 1 / (1 - x);
}
static double odds(double x) {
    return x / (1 - x);
}
static double odds_against(double x) {
    return (1 - x) / x;
}
static double log_odds(double x) {
    return log(x / (1 - x));
}
static double rest_of_square(double x) {
    return 1 - x * x;
}
static double root_of_rest(double x) {
    return sqrt(1 - x);
}
static double root_of_rest_of_square(double x) {
    return sqrt(1 - x * x);
}
static double log_rest(double x) {
    return log(1 - x);
}
static double exp_of_negative(double x) {
    return exp(-x);
}

typedef double real_function_t(double);

// The first ones also hold for numbers of few bits.
enum { PLAIN = 4 };
static real_function_t *const functions[] = {rest,
                                             reciprocal,
                                             square,
                                             sqrt,
                                             successor,
                                             reciprocal_square,
                                             reciprocal_root,
                                             reciprocal_rest,
                                             odds,
                                             odds_against,
                                             log_odds,
                                             rest_of_square,
                                             root_of_rest,
                                             root_of_rest_of_square,
                                             exp,
                                             exp_of_negative,
                                             log,
                                             log1p,
                                             log_rest};

// ---- how they are compared ---------------------------------------------------------------------

static bool is_close(double a, double b, double tolerance) {
    double larger = fmax(fabs(a), fabs(b));
    return isfinite(larger) && fabs(a - b) <= tolerance * larger;
}

static bool is_few(double value, double tolerance) {
    enum { FEW = 16, LARGEST = 1 << 20 };
    int exponent;
    double nearest = round(value);
    return nearest >= 1 && nearest <= LARGEST && is_close(value, nearest, tolerance) &&
           (nearest <= FEW || frexp(nearest, &exponent) == 0.5);
}

// A small multiple, or such a part.
static bool is_plain_factor(double factor, double tolerance) {
    factor = fabs(factor);
    return is_few(factor, tolerance) || is_few(1 / factor, tolerance);
}

// Factors that normalize densities.
static bool is_factor(double factor, double tolerance) {
    static const double units[] = {1,
                                   3.141592653589793,
                                   1.7724538509055159,
                                   1.4142135623730951,
                                   2.5066282746310002,
                                   0.6931471805599453};
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i)
        if (is_plain_factor(factor / units[i], tolerance) ||
            is_plain_factor(factor * units[i], tolerance))
            return true;
    return false;
}

// 0 if it is not one.
static double factor_of(double before, double after, double from_before, double from_after,
                        double tolerance) {
    if (!isfinite(from_before) || !isfinite(from_after) || from_before == 0 || from_after == 0)
        return 0;
    double factor = before / from_before;
    return is_close(factor, after / from_after, tolerance) ? factor : 0;
}

// c + k log x for any c: log of 2 pi or of another scale. Numbers of few digits say too little once
// c is removed.
static bool is_log(keel_move_t from, keel_move_t other) {
    static const double factors[] = {1, 0.5, 2};
    double step = other.after - other.before, limit = 5e-7 * fmax(fabs(other.after), 1);
    double ratio = log(from.after / from.before);
    if (!isfinite(ratio) || fabs(step) < 1e5 * limit * 0.1) return false;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; ++i)
        if (fabs(fabs(step) - factors[i] * fabs(ratio)) <= limit) return true;
    return false;
}

keel_relation_t keel_relation_of(keel_move_t from, keel_move_t other, bool is_coarse) {
    double tolerance = is_coarse ? 4e-3 : 5e-7;
    size_t count = is_coarse ? PLAIN : sizeof functions / sizeof *functions;
    if (!isfinite(other.before) || !isfinite(other.after) || other.before == 0 || other.after == 0)
        return KEEL_RELATION_NONE;
    // If the two are nearly equal, anything is a function of them.
    if (is_close(from.before, from.after, 8 * tolerance) ||
        is_close(other.before, other.after, 8 * tolerance))
        return KEEL_RELATION_NONE;
    double factor = factor_of(other.before, other.after, from.before, from.after, tolerance);
    if (factor != 0 && is_plain_factor(factor, tolerance)) return KEEL_RELATION_MULTIPLE;
    bool is_scaled = !is_coarse && is_log(from, other);
    for (size_t i = 0; i < count; ++i) {
        factor = factor_of(other.before, other.after, functions[i](from.before),
                           functions[i](from.after), tolerance);
        if (factor == 0) continue;
        if (is_close(fabs(factor), 1, tolerance)) return KEEL_RELATION_FUNCTION;
        is_scaled = is_scaled || (!is_coarse && is_factor(factor, tolerance));
    }
    return is_scaled ? KEEL_RELATION_SCALED : KEEL_RELATION_NONE;
}
