#include "explain/sizes.h"

#include <math.h>

// Larger numbers are not sizes but mark a dynamic dimension; sums of smaller ones do not overflow.
static bool is_size(int64_t value) {
    const int64_t limit = (int64_t)1 << 53;
    return value >= -limit && value <= limit;
}

static const keel_drift_t *find_drift(const keel_drift_t *drifts, uint32_t count, int64_t before,
                                      int64_t after) {
    for (uint32_t i = 0; i < count; ++i)
        if (drifts[i].before == before && drifts[i].after == after) return &drifts[i];
    return NULL;
}

void keel_sizes_add(keel_sizes_t *sizes, int64_t before, int64_t after, uint32_t root) {
    if (before == after || sizes->count == KEEL_SIZES_KEPT) return;
    if (!is_size(before) || !is_size(after)) return;
    if (find_drift(sizes->drifts, sizes->count, before, after)) return;
    sizes->drifts[sizes->count++] = (keel_drift_t){before, after, root};
}

static void add_count(keel_sizes_t *sizes, int64_t before, int64_t after, uint32_t root) {
    if (before == after || sizes->counts_count == KEEL_COUNTS_KEPT) return;
    if (find_drift(sizes->counts, sizes->counts_count, before, after)) return;
    sizes->counts[sizes->counts_count++] = (keel_drift_t){before, after, root};
}

void keel_sizes_add_total(keel_sizes_t *sizes, int64_t before, int64_t after, uint32_t root) {
    if (before == after || before <= 0 || after <= 0 || !is_size(before) || !is_size(after) ||
        sizes->totals_count == KEEL_TOTALS_KEPT ||
        find_drift(sizes->totals, sizes->totals_count, before, after))
        return;
    sizes->totals[sizes->totals_count++] = (keel_drift_t){before, after, root};
}

void keel_sizes_add_list(keel_sizes_t *sizes, int64_t before, int64_t after, uint32_t root) {
    if (before == after || sizes->lists_count == KEEL_LISTS_KEPT ||
        find_drift(sizes->lists, sizes->lists_count, before, after))
        return;
    sizes->lists[sizes->lists_count++] = (keel_drift_t){before, after, root};
}

void keel_sizes_add_fixed(keel_sizes_t *sizes, keel_ints_t dims) {
    for (uint32_t i = 0; i < dims.count && sizes->fixed_count < KEEL_FIXED_KEPT; ++i) {
        uint32_t at = 0;
        while (at < sizes->fixed_count && sizes->fixed[at] != dims.items[i])
            ++at;
        if (at == sizes->fixed_count && dims.items[i] > 1 && is_size(dims.items[i]))
            sizes->fixed[sizes->fixed_count++] = dims.items[i];
    }
}

// The product of the dimensions that `mask` chooses; 0 if it is not a size.
static int64_t product(keel_ints_t dims, uint32_t mask) {
    int64_t product = 1;
    for (uint32_t i = 0; i < dims.count; ++i) {
        if (!(mask & 1u << i)) continue;
        if (dims.items[i] <= 0 || dims.items[i] > INT32_MAX) return 0;
        product *= dims.items[i];
        if (!is_size(product)) return 0;
    }
    return product;
}

void keel_sizes_add_dims(keel_sizes_t *sizes, keel_ints_t before, keel_ints_t after,
                         uint32_t root) {
    enum { RANK = 5 };
    if (before.count != after.count) return;
    for (uint32_t i = 0; i < before.count; ++i)
        keel_sizes_add(sizes, before.items[i], after.items[i], root);
    if (before.count > RANK) return;
    for (uint32_t mask = 0; mask < 1u << before.count; ++mask) {
        if (!(mask & (mask - 1))) continue; // none, or a single one
        int64_t x = product(before, mask), y = product(after, mask);
        if (x && y) add_count(sizes, x, y, root);
    }
}

static bool is_multiple(int64_t before, int64_t after, const keel_drift_t *drift) {
    if (drift->before <= 0 || drift->after <= 0) return false;
    return before % drift->before == 0 && after % drift->after == 0 &&
           before / drift->before == after / drift->after;
}

// By how much it exceeds the drifted one, if that is the same in both programs; 0 if it is not, or
// if it does not exceed it.
static int64_t shift_of(int64_t before, int64_t after, const keel_drift_t *drift) {
    int64_t more = before - drift->before;
    return more == after - drift->after ? more : 0;
}

enum { NEAR = 2 };

// One less, one more: the mean of n - 1, a window of 3 without padding.
static bool is_near(int64_t before, int64_t after, const keel_drift_t *drift) {
    enum { SMALLEST = 4 };
    // Among the smallest sizes, all are near each other.
    if (before < SMALLEST || drift->before < SMALLEST) return false;
    int64_t more = shift_of(before, after, drift);
    return more && more >= -NEAR && more <= NEAR;
}

// The same for a size, however small, whose step was larger than a counter's.
static bool is_next(int64_t before, int64_t after, const keel_drift_t *drift) {
    int64_t more = shift_of(before, after, drift), step = drift->after - drift->before;
    return before > 0 && after > 0 && (more == 1 || more == -1) && (step > 1 || step < -1);
}

// Plus a constant, like a prompt before the tokens. Not if it grew by one or two, as many things
// do.
static bool is_shifted(int64_t before, int64_t after, const keel_drift_t *drift) {
    enum { STEP = 4 };
    int64_t step = drift->after - drift->before;
    return before > 0 && after > 0 && (step >= STEP || step <= -STEP) &&
           shift_of(before, after, drift);
}

// The number of pairs of n items, with or without pairs of an item with itself.
static bool is_pairs(int64_t before, int64_t after, const keel_drift_t *drift) {
    enum { SMALLEST = 4, LARGEST = 1 << 20 };
    int64_t n = drift->before, m = drift->after;
    if (n < SMALLEST || m < SMALLEST || n > LARGEST || m > LARGEST) return false;
    return (before == n * (n - 1) / 2 && after == m * (m - 1) / 2) ||
           (before == n * (n + 1) / 2 && after == m * (m + 1) / 2);
}

// Two numbers may be halved by accident, but hardly both grow from 8 to 11 parts.
static bool has_plain_ratio(const keel_drift_t *drift) {
    enum { PLAIN = 2 };
    int64_t a = drift->before, b = drift->after;
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return drift->before / a <= PLAIN || drift->after / a <= PLAIN;
}

// Two that drifted together, multiplied: tokens = batch * length.
static uint32_t explain_product(const keel_sizes_t *sizes, int64_t before, int64_t after) {
    for (uint32_t i = 0; i < sizes->count; ++i) {
        const keel_drift_t *a = &sizes->drifts[i];
        if (a->before <= 0 || a->after <= 0 || before % a->before || after % a->after) continue;
        // The quotient must be a multiple of the other.
        for (uint32_t j = i; j < sizes->count; ++j)
            if (is_multiple(before / a->before, after / a->after, &sizes->drifts[j]))
                return a->root;
    }
    return UINT32_MAX;
}

static uint32_t explain_by(const keel_drift_t *drifts, uint32_t count, int64_t before,
                           int64_t after) {
    const keel_drift_t *same = find_drift(drifts, count, before, after);
    if (same) return same->root;
    for (uint32_t i = 0; i < count; ++i)
        if (is_multiple(before, after, &drifts[i]) || is_near(before, after, &drifts[i]))
            return drifts[i].root;
    return UINT32_MAX;
}

// Rules that explain both numbers and sizes.
static uint32_t explain_whole(const keel_sizes_t *sizes, int64_t before, int64_t after) {
    if (!is_size(before) || !is_size(after)) return UINT32_MAX;
    uint32_t root = explain_by(sizes->drifts, sizes->count, before, after);
    if (root == UINT32_MAX) root = explain_product(sizes, before, after);
    if (root == UINT32_MAX) root = explain_by(sizes->counts, sizes->counts_count, before, after);
    return root;
}

// Half a length, as in pooling by hand: rounded down or up.
static bool is_share(int64_t before, int64_t after, const keel_drift_t *drift) {
    enum { PARTS = 4, SMALLEST = 4 };
    if (before < SMALLEST || after < SMALLEST) return false;
    for (int64_t parts = 2; parts <= PARTS; ++parts) {
        if (before == drift->before / parts && after == drift->after / parts) return true;
        if (before == (drift->before + parts - 1) / parts &&
            after == (drift->after + parts - 1) / parts)
            return true;
    }
    return false;
}

uint32_t keel_sizes_explain(const keel_sizes_t *sizes, int64_t before, int64_t after) {
    uint32_t root = explain_whole(sizes, before, after);
    if (root != UINT32_MAX || !is_size(before) || !is_size(after)) return root;
    for (uint32_t i = 0; i < sizes->count; ++i)
        if (is_share(before, after, &sizes->drifts[i])) return sizes->drifts[i].root;
    for (uint32_t i = 0; i < sizes->count; ++i)
        if (is_next(before, after, &sizes->drifts[i]) ||
            is_pairs(before, after, &sizes->drifts[i]) ||
            is_shifted(before, after, &sizes->drifts[i]))
            return sizes->drifts[i].root;
    const keel_drift_t *total = find_drift(sizes->totals, sizes->totals_count, before, after);
    return total ? total->root : UINT32_MAX;
}

uint32_t keel_sizes_explain_within(const keel_sizes_t *sizes, uint32_t root, int64_t before,
                                   int64_t after) {
    if (!is_size(before) || !is_size(after)) return UINT32_MAX;
    for (uint32_t i = 0; i < sizes->count; ++i) {
        const keel_drift_t *drift = &sizes->drifts[i];
        int64_t more = shift_of(before, after, drift);
        if (drift->root == root && more && more >= -NEAR && more <= NEAR) return root;
    }
    return UINT32_MAX;
}

// ---- arguments ---------------------------------------------------------------------------------

// One is a whole multiple of the other, or exceeds it by a constant; *out_leads says which is
// plainer.
static bool moves_with(int64_t before, int64_t after, const keel_drift_t *drift, bool *out_leads) {
    const keel_drift_t self = {before, after, 0};
    *out_leads = true;
    if (before == drift->before && after == drift->after) return true;
    if (before <= 0 || after <= 0 || drift->before <= 0 || drift->after <= 0) return false;
    bool is_telling = !has_plain_ratio(drift);
    if (is_telling && is_multiple(drift->before, drift->after, &self)) return true;
    int64_t more = shift_of(before, after, drift);
    if (more == 1 || more == -1) return true;
    *out_leads = more < 0;
    return (is_telling && is_multiple(before, after, drift)) || is_shifted(before, after, drift);
}

bool keel_sizes_move_together(keel_ints_t before, keel_ints_t after, keel_ints_t other_before,
                              keel_ints_t other_after, bool *out_leads) {
    *out_leads = true;
    if (before.count != after.count || other_before.count != other_after.count) return false;
    for (uint32_t i = 0; i < before.count; ++i) {
        bool is_found = before.items[i] == after.items[i], leads = true;
        for (uint32_t j = 0; !is_found && j < other_before.count; ++j) {
            const keel_drift_t drift = {other_before.items[j], other_after.items[j], 0};
            is_found = drift.before != drift.after && is_size(drift.before) &&
                       is_size(drift.after) && is_size(before.items[i]) &&
                       is_size(after.items[i]) &&
                       moves_with(before.items[i], after.items[i], &drift, &leads);
        }
        if (!is_found) return false;
        *out_leads = *out_leads && leads;
    }
    return true;
}

// ---- numbers -----------------------------------------------------------------------------------

static bool is_whole(double value, double tolerance) {
    double nearest = round(value);
    return nearest >= 1 && fabs(value - nearest) <= tolerance * nearest;
}

static bool is_equal(double a, double b, double tolerance) {
    double larger = fmax(fabs(a), fabs(b)); // infinite where a square overflowed
    return isfinite(larger) && fabs(a - b) <= tolerance * larger;
}

// Another size that the mean may also divide by. A learning rate is not such a part, though it may
// be scaled with the batch.
static bool is_part(double parts, double tolerance) {
    enum { FEW = 16 };
    int exponent;
    double nearest = round(parts);
    bool is_power_of_two = frexp(nearest, &exponent) == 0.5;
    return is_whole(parts, tolerance) && (nearest <= FEW || is_power_of_two);
}

static bool is_power_of_two(double value, double tolerance) {
    int exponent;
    return is_whole(value, tolerance) && frexp(round(value), &exponent) == 0.5;
}

// before = c * n and after = c * m with a whole c; or c / n and c / m, where c is 1 (a mean), 2
// (its gradient, of a square), or a small part of 1 (a mean over more than n). An equal ratio alone
// is not an explanation: 0.2 is to 0.1 as 8 to 4.
static bool scales(double before, double after, double n, double m, bool is_telling,
                   double tolerance) {
    double multiple = before / n, share = before * n;
    // A large number has no digits left after the point to tell whether it is whole.
    if (multiple * tolerance < 0.25 && is_equal(multiple, after / m, tolerance) &&
        is_whole(multiple, tolerance))
        return true;
    // The scale of an image, n / 8: only if nothing else grows by that ratio, and no rate is scaled
    // with the batch.
    if (is_telling && before >= 1 && after >= 1 && is_equal(multiple, after / m, tolerance) &&
        is_power_of_two(1 / multiple, tolerance))
        return true;
    return is_equal(share, after * m, tolerance) &&
           (is_equal(share, 1, tolerance) || is_equal(share, 2, tolerance) ||
            is_part(1 / share, tolerance));
}

static uint32_t explain_value_by(const keel_drift_t *drifts, uint32_t count, double before,
                                 double after, double tolerance) {
    if (before * after <= 0) return UINT32_MAX;
    double a = fabs(before), b = fabs(after);
    for (uint32_t i = 0; i < count; ++i) {
        double n = (double)drifts[i].before, m = (double)drifts[i].after;
        if (n <= 0 || m <= 0) continue;
        bool is_log =
            n > 1 && m > 1 && is_equal(a, log(n), tolerance) && is_equal(b, log(m), tolerance);
        bool is_telling = !has_plain_ratio(&drifts[i]);
        if (is_log || scales(a, b, n, m, is_telling, tolerance) ||
            scales(a * a, b * b, n, m, false, 2 * tolerance))
            return drifts[i].root;
    }
    return UINT32_MAX;
}

static bool are_whole(double before, double after) {
    return before == floor(before) && after == floor(after) && fabs(before) < 1e15 &&
           fabs(after) < 1e15;
}

static double tolerance_of(bool is_coarse) {
    return is_coarse ? 1e-2 : 1e-6;
}

// n - 1/2: the center of the last pixel.
static bool is_half_off(double before, double after, const keel_drift_t *drift) {
    enum { SMALLEST = 4 };
    double more = before - (double)drift->before;
    return fabs(more) == 0.5 && more == after - (double)drift->after &&
           (drift->before >= SMALLEST || drift->after >= SMALLEST);
}

static uint32_t explain_half(const keel_sizes_t *sizes, double before, double after) {
    for (uint32_t i = 0; i < sizes->count; ++i)
        if (is_half_off(before, after, &sizes->drifts[i])) return sizes->drifts[i].root;
    return UINT32_MAX;
}

// What people write: a few digits after the point.
static bool is_short(double value) {
    enum { DIGITS = 5 };
    double scaled = fabs(value);
    for (int i = 0; i < DIGITS; ++i, scaled *= 10)
        if (is_equal(scaled, round(scaled), 1e-7)) return true;
    return false;
}

// The share of it in a whole that does not drift: rows drawn from a total, and the rest. A library
// also scales from a smaller size to a larger one.
static bool is_of_whole(double before, double after, double whole, const keel_drift_t *drift,
                        bool is_derived, double tolerance) {
    double n = (double)drift->before, m = (double)drift->after;
    bool is_part = whole > n && whole > m;
    if (n <= 0 || m <= 0 || (!is_part && !is_derived)) return false;
    return (is_part && before == whole - n && after == whole - m) ||
           (is_equal(before, whole / n, tolerance) && is_equal(after, whole / m, tolerance)) ||
           (is_equal(before, n / whole, tolerance) && is_equal(after, m / whole, tolerance));
}

static uint32_t explain_ratio(const keel_sizes_t *sizes, double before, double after,
                              bool is_derived, double tolerance) {
    for (uint32_t i = 0; i < sizes->count; ++i)
        for (uint32_t j = 0; j < sizes->fixed_count; ++j)
            if (is_of_whole(before, after, (double)sizes->fixed[j], &sizes->drifts[i], is_derived,
                            tolerance))
                return sizes->drifts[i].root;
    return UINT32_MAX;
}

uint32_t keel_sizes_explain_value(const keel_sizes_t *sizes, double before, double after,
                                  bool is_coarse) {
    if (!isfinite(before) || !isfinite(after)) return UINT32_MAX;
    uint32_t root = UINT32_MAX;
    if (are_whole(before, after)) root = explain_whole(sizes, (int64_t)before, (int64_t)after);
    double tolerance = tolerance_of(is_coarse);
    if (root == UINT32_MAX)
        root = explain_value_by(sizes->drifts, sizes->count, before, after, tolerance);
    if (root == UINT32_MAX)
        root = explain_value_by(sizes->counts, sizes->counts_count, before, after, tolerance);
    if (root == UINT32_MAX) root = explain_half(sizes, before, after);
    if (root == UINT32_MAX && !is_coarse && !(is_short(before) && is_short(after)))
        root = explain_ratio(sizes, before, after, false, tolerance);
    return root;
}

uint32_t keel_sizes_explain_divisor(const keel_sizes_t *sizes, double before, double after) {
    for (uint32_t i = 0; i < sizes->lists_count; ++i)
        for (int more = 0; more <= 1; ++more) {
            double n = (double)sizes->lists[i].before + more;
            double m = (double)sizes->lists[i].after + more;
            if (n < 1 || m < 1) continue;
            if ((before == n && after == m) ||
                (is_equal(before * n, 1, 1e-6) && is_equal(after * m, 1, 1e-6)))
                return sizes->lists[i].root;
        }
    return UINT32_MAX;
}

// c + s n with a whole c and a power of ten s: a range minus a small amount for each part.
static bool is_affine(double before, double after, const keel_drift_t *drift) {
    double n = (double)drift->before, m = (double)drift->after, limit = 1e-6;
    for (double step = 0.1; step > 1e-7; step /= 10) {
        double slope = (after - before) / (m - n) < 0 ? -step : step, c = round(before - slope * n);
        if (fabs(before - slope * n - c) <= limit * fmax(fabs(before), 1) * 0.5 &&
            fabs(after - slope * m - c) <= limit * fmax(fabs(after), 1) * 0.5 &&
            fabs(after - before) > 8 * limit * fmax(fabs(after), 1))
            return true;
    }
    return false;
}

// Rounding errors add up: allows a few steps of the float's precision for each.
static bool is_of_steps(double before, double after, const keel_drift_t *drift) {
    enum { MANY = 1000, SINGLE = -23, DOUBLE = -52 };
    const int steps[] = {SINGLE, DOUBLE};
    double n = (double)drift->before, m = (double)drift->after;
    for (size_t i = 0; n > 0 && m > 0 && i < sizeof steps / sizeof *steps; ++i) {
        double each = ldexp(before / n, -steps[i]);
        if (each <= MANY && is_whole(each, 1e-6) &&
            is_equal(each, ldexp(after / m, -steps[i]), 1e-6))
            return true;
    }
    return false;
}

// c / n for a whole c that is not a size of the program: rows of the data for each of the batch.
// Numbers of few digits say too little.
static bool is_for_each(double before, double after, const keel_drift_t *drift) {
    double n = (double)drift->before, m = (double)drift->after, whole = before * n;
    return n > 0 && m > 0 && whole > n && whole > m && !(is_short(before) && is_short(after)) &&
           is_whole(whole, 1e-6) && is_equal(whole, after * m, 1e-6);
}

uint32_t keel_sizes_explain_derived(const keel_sizes_t *sizes, double before, double after,
                                    bool is_coarse) {
    uint32_t root = keel_sizes_explain_value(sizes, before, after, is_coarse);
    if (root != UINT32_MAX || !isfinite(before) || !isfinite(after)) return root;
    if (are_whole(before, after)) root = keel_sizes_explain(sizes, (int64_t)before, (int64_t)after);
    if (root == UINT32_MAX)
        root = explain_ratio(sizes, before, after, true, tolerance_of(is_coarse));
    for (uint32_t i = 0; root == UINT32_MAX && !is_coarse && i < sizes->count; ++i)
        if (is_affine(before, after, &sizes->drifts[i]) ||
            is_for_each(before, after, &sizes->drifts[i]) ||
            is_of_steps(before, after, &sizes->drifts[i]))
            root = sizes->drifts[i].root;
    return root;
}
