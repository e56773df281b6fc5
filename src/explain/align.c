#include "explain/align.h"

typedef struct span_t {
    uint32_t from, to;
} span_t;

typedef struct align_t {
    const uint64_t *a, *b;
    uint32_t *to_b, *to_a;
    int32_t *furthest; // of all steps, one after another: step d has 2 d + 1
    int32_t edits;     // tried at most
    uint64_t work;     // diagonals that may still be tried
} align_t;

static void pair(align_t *align, uint32_t i, uint32_t j) {
    align->to_b[i] = j;
    align->to_a[j] = i;
}

// ---- Myers -------------------------------------------------------------------------------------

// How far along a the best path of d steps reaches, by diagonal (b is that less k): -d, -d + 2 ...
// d. One entry on either side is nowhere, so no diagonal is the first or the last.
static int32_t *reach(const align_t *align, int32_t d) {
    return align->furthest + (size_t)d * (size_t)d + 4 * (size_t)d + (size_t)d + 2;
}
static size_t reach_size(size_t edits) { // items, for so many edits
    return (edits + 1) * (edits + 1) + 4 * (edits + 1);
}
enum { NOWHERE = INT32_MIN / 2 };

static void walk_back(align_t *align, span_t a, span_t b, int32_t d, int32_t k) {
    for (;; --d) {
        const int32_t *last = d ? reach(align, d - 1) : NULL;
        bool down = d && last[k - 1] < last[k + 1]; // by a token of b, else by one of a
        int32_t start = !d ? 0 : down ? last[k + 1] : last[k - 1] + 1;
        for (int32_t x = reach(align, d)[k]; x > start; --x)
            pair(align, a.from + (uint32_t)x - 1, b.from + (uint32_t)(x - k) - 1);
        if (!d) return;
        k += down ? 1 : -1;
    }
}

// False if it takes more than `edits`, or if the work allowed is used up.
static bool shortest_edit(align_t *align, span_t a, span_t b, int32_t edits) {
    int32_t n = (int32_t)(a.to - a.from), m = (int32_t)(b.to - b.from);
    const uint64_t *left = align->a + a.from, *right = align->b + b.from;
    for (int32_t d = 0; d <= edits && d <= n + m; ++d) {
        if (align->work < (uint64_t)d) return false;
        align->work -= (uint64_t)d;
        int32_t *now = reach(align, d);
        const int32_t *last = d ? reach(align, d - 1) : NULL;
        now[-d - 2] = now[d + 2] = NOWHERE;
        for (int32_t k = -d; k <= d; k += 2) {
            int32_t x = 0;
            if (d) x = last[k + 1] > last[k - 1] + 1 ? last[k + 1] : last[k - 1] + 1;
            // Outside the square: a path that leads nowhere.
            while (x < n && x - k < m && left[x] == right[x - k])
                ++x;
            now[k] = x;
        }
        // A path that passes the end has been there.
        if (n - m > d || m - n > d || (d ^ (n - m)) & 1 || now[n - m] < n) continue;
        walk_back(align, a, b, d, n - m);
        return true;
    }
    return false;
}

// After shortest_edit tried that many edits in vain: takes the path that got furthest, and moves
// the spans past it. False if that path passed over more than it paired: with few kinds of tokens,
// some match by chance.
static bool take_furthest(align_t *align, span_t *a, span_t *b, int32_t edits) {
    int32_t n = (int32_t)(a->to - a->from), m = (int32_t)(b->to - b->from);
    int32_t furthest = -1, x = 0, diagonal = 0;
    for (int32_t k = -edits; k <= edits; k += 2) {
        int32_t reached = reach(align, edits)[k];
        if (reached > n || reached - k > m || 2 * reached - k <= furthest) continue;
        furthest = 2 * reached - k;
        x = reached;
        diagonal = k;
    }
    if (furthest - edits < 2 * edits) return false;
    walk_back(align, *a, *b, edits, diagonal);
    a->from += (uint32_t)x;
    b->from += (uint32_t)(x - diagonal);
    return true;
}

// ---- anchors -----------------------------------------------------------------------------------

enum { WINDOW = 4 };

typedef struct anchor_t {
    uint32_t i, j;
} anchor_t;

static uint64_t window_hash(const uint64_t *tokens, uint32_t at) {
    return keel_quick_hash(keel_bytes(tokens + at, WINDOW * sizeof *tokens));
}

static keel_status_t count_windows(keel_map_t *map, const uint64_t *tokens, span_t span) {
    for (uint32_t i = span.from; i + WINDOW <= span.to; ++i) {
        uint64_t hash = window_hash(tokens, i);
        keel_bytes_t key = keel_bytes(&hash, sizeof hash);
        uint64_t *known = keel_map_find(map, key);
        if (known)
            *known = UINT64_MAX;
        else
            KEEL_TRY(keel_map_put(map, key, i));
    }
    return NULL;
}

static keel_status_t find_anchors(const align_t *align, span_t a, span_t b, anchor_t *out,
                                  uint32_t *out_count) {
    keel_map_t in_a, in_b;
    keel_map_initialize(&in_a);
    keel_map_initialize(&in_b);
    keel_status_t status = count_windows(&in_a, align->a, a);
    if (!status) status = count_windows(&in_b, align->b, b);
    *out_count = 0;
    for (uint32_t i = a.from; !status && i + WINDOW <= a.to; ++i) {
        uint64_t hash = window_hash(align->a, i);
        const uint64_t *left = keel_map_find(&in_a, keel_bytes(&hash, sizeof hash));
        const uint64_t *right = keel_map_find(&in_b, keel_bytes(&hash, sizeof hash));
        if (*left == i && right && *right != UINT64_MAX)
            out[(*out_count)++] = (anchor_t){i, (uint32_t)*right};
    }
    keel_map_deinitialize(&in_a);
    keel_map_deinitialize(&in_b);
    return status;
}

// The longest run of anchors that rises on both sides (they rise in i already): patience sorting.
static keel_status_t longest_rising(anchor_t *anchors, uint32_t *inout_count) {
    uint32_t count = *inout_count, length = 0;
    void *memory = NULL;
    KEEL_TRY(keel_realloc_array(count ? 2 * (size_t)count : 1, sizeof(uint32_t), &memory));
    uint32_t *tails = memory, *before = tails + count;
    for (uint32_t at = 0; at < count; ++at) {
        uint32_t low = 0, high = length;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (anchors[tails[middle]].j < anchors[at].j)
                low = middle + 1;
            else
                high = middle;
        }
        before[at] = low ? tails[low - 1] : UINT32_MAX;
        tails[low] = at;
        if (low == length) ++length;
    }
    // Reads the chain from its end; a place that was read is not needed again.
    for (uint32_t at = length ? tails[length - 1] : UINT32_MAX, k = length; k > 0; --k) {
        tails[k - 1] = at;
        at = before[at];
    }
    for (uint32_t k = 0; k < length; ++k)
        anchors[k] = anchors[tails[k]];
    *inout_count = length;
    keel_free(memory);
    return NULL;
}

// ---- both --------------------------------------------------------------------------------------

static void strip(align_t *align, span_t *a, span_t *b) {
    while (a->from < a->to && b->from < b->to && align->a[a->from] == align->b[b->from])
        pair(align, a->from++, b->from++);
    while (a->from < a->to && b->from < b->to && align->a[a->to - 1] == align->b[b->to - 1])
        pair(align, --a->to, --b->to);
}

enum { STRETCH = 256 }; // edits

// Pairs what is mostly alike even if all of it needs more edits than are tried; the rest stays
// unpaired.
static void align_in_stretches(align_t *align, span_t a, span_t b) {
    int32_t edits = align->edits < STRETCH ? align->edits : STRETCH;
    while (!shortest_edit(align, a, b, edits) && align->work > STRETCH &&
           take_furthest(align, &a, &b, edits))
        strip(align, &a, &b);
}

static void align_gap(align_t *align, span_t a, span_t b) {
    strip(align, &a, &b);
    if (a.from == a.to || b.from == b.to || shortest_edit(align, a, b, align->edits)) return;
    align_in_stretches(align, a, b);
}

static keel_status_t align_between_anchors(align_t *align, span_t a, span_t b) {
    void *memory;
    KEEL_TRY(keel_alloc((size_t)(a.to - a.from + 1) * sizeof(anchor_t), &memory));
    anchor_t *anchors = memory;
    uint32_t count;
    keel_status_t status = find_anchors(align, a, b, anchors, &count);
    if (!status) status = longest_rising(anchors, &count);
    if (!status && !count) align_in_stretches(align, a, b);
    for (uint32_t k = 0; !status && count && k <= count; ++k) {
        span_t gap_a = {a.from, k < count ? anchors[k].i : a.to};
        span_t gap_b = {b.from, k < count ? anchors[k].j : b.to};
        if (gap_a.from <= gap_a.to && gap_b.from <= gap_b.to) align_gap(align, gap_a, gap_b);
        if (k == count) break;
        if (anchors[k].i < a.from || anchors[k].j < b.from) continue; // windows overlap
        pair(align, anchors[k].i, anchors[k].j);
        a.from = anchors[k].i + 1;
        b.from = anchors[k].j + 1;
    }
    keel_free(memory);
    return status;
}

enum { WORK = 64 }; // diagonals for each token

keel_status_t keel_align_within(const uint64_t *a, uint32_t a_count, const uint64_t *b,
                                uint32_t b_count, uint32_t edits, uint32_t *to_b, uint32_t *to_a) {
    memset(to_b, 0xff, a_count * sizeof *to_b);
    memset(to_a, 0xff, b_count * sizeof *to_a);
    align_t align = {.a = a, .b = b, .to_b = to_b, .to_a = to_a};
    span_t all_a = {0, a_count}, all_b = {0, b_count};
    strip(&align, &all_a, &all_b);
    if (all_a.from == all_a.to || all_b.from == all_b.to) return NULL;
    uint64_t most = (uint64_t)(all_a.to - all_a.from) + (all_b.to - all_b.from);
    align.work = (uint64_t)edits * edits + WORK * most;
    align.edits = (int32_t)(most < edits ? most : edits);
    void *memory = NULL;
    KEEL_TRY(keel_realloc_array(reach_size((size_t)align.edits), sizeof *align.furthest, &memory));
    align.furthest = memory;
    keel_status_t status = NULL;
    if (!shortest_edit(&align, all_a, all_b, align.edits))
        status = align_between_anchors(&align, all_a, all_b);
    keel_free(memory);
    return status;
}

keel_status_t keel_align(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count,
                         uint32_t *to_b, uint32_t *to_a) {
    return keel_align_within(a, a_count, b, b_count, KEEL_ALIGN_EDITS, to_b, to_a);
}

keel_status_t keel_align_gaps(const uint64_t *a, uint32_t a_count, const uint64_t *b,
                              uint32_t b_count, uint32_t edits, uint32_t *to_b, uint32_t *to_a) {
    uint32_t i = 0, j = 0;
    while (i < a_count || j < b_count) {
        uint32_t gap_a = i, gap_b = j;
        while (i < a_count && to_b[i] == UINT32_MAX)
            ++i;
        while (j < b_count && to_a[j] == UINT32_MAX)
            ++j;
        if (i > gap_a && j > gap_b) {
            KEEL_TRY(keel_align_within(a + gap_a, i - gap_a, b + gap_b, j - gap_b, edits,
                                       to_b + gap_a, to_a + gap_b));
            for (uint32_t k = gap_a; k < i; ++k)
                if (to_b[k] != UINT32_MAX) to_b[k] += gap_b;
            for (uint32_t k = gap_b; k < j; ++k)
                if (to_a[k] != UINT32_MAX) to_a[k] += gap_a;
        }
        if (i < a_count) ++i;
        if (j < b_count) ++j;
    }
    return NULL;
}
