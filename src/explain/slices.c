// The ends of a slice: which of them follow from a size, and how many elements it takes.
#include <math.h>

#include "explain/pair.h"

static const char *const ends[] = {"start_indices", "limit_indices"};
// HLO keeps both ends of a dimension together; 0 is left out.
static const char dimensions[] = "slice_dimensions";
static const char *const ends_of_dimension[] = {"start", "limit"};

static bool is_whole(double value) {
    return fabs(value) < 1e15 && value == floor(value);
}

// The two ends of a slice along one dimension, how many elements there are, and how many it takes.
typedef struct along_t {
    int64_t had[2], has[2]; // start and limit
    int64_t whole_before, whole_after, taken_before, taken_after;
} along_t;

static bool read_hlo_end(const keel_program_t *program, keel_attr_id_t attributes, uint32_t dim,
                         size_t end, int64_t *out) {
    keel_list_t items =
        keel_program_array(program, keel_program_dict_find(program, attributes, dimensions));
    if (dim >= items.count) return false;
    *out = keel_program_number(
        program, keel_program_dict_find(program, items.items[dim], ends_of_dimension[end]), 0);
    return true;
}

static bool read_end(keel_diff_t *diff, keel_attr_id_t before, keel_attr_id_t after, uint32_t dim,
                     size_t end, along_t *out) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    if (q->format == KEEL_FORMAT_HLO)
        return read_hlo_end(p, before, dim, end, &out->had[end]) &&
               read_hlo_end(q, after, dim, end, &out->has[end]);
    double had = 0, has = 0;
    uint64_t count;
    if (!keel_pair_numbers_at(diff, keel_program_dict_find(p, before, ends[end]),
                              keel_program_dict_find(q, after, ends[end]), dim, &had, &has,
                              &count) ||
        dim >= count || !is_whole(had) || !is_whole(has))
        return false;
    out->had[end] = (int64_t)had;
    out->has[end] = (int64_t)has;
    return true;
}

static bool read_along(keel_diff_t *diff, const keel_pair_t *pair, uint32_t dim, along_t *out) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    const keel_operation_t *a = &p->operations.data[pair->before];
    const keel_operation_t *b = &q->operations.data[pair->after];
    keel_list_t was = keel_program_operands(p, pair->before);
    keel_list_t is = keel_program_operands(q, pair->after);
    if (!was.count || !is.count || !a->result_count || !b->result_count) return false;
    keel_ints_t x = keel_diff_dims(p, keel_graph_type(&diff->before, was.items[0]));
    keel_ints_t y = keel_diff_dims(q, keel_graph_type(&diff->after, is.items[0]));
    keel_ints_t n = keel_diff_dims(p, keel_graph_type(&diff->before, a->first_result));
    keel_ints_t m = keel_diff_dims(q, keel_graph_type(&diff->after, b->first_result));
    if (dim >= x.count || dim >= y.count || dim >= n.count || dim >= m.count) return false;
    *out = (along_t){.whole_before = x.items[dim],
                     .whole_after = y.items[dim],
                     .taken_before = n.items[dim],
                     .taken_after = m.items[dim]};
    for (size_t end = 0; end < 2; ++end)
        if (!read_end(diff, a->attributes, b->attributes, dim, end, out)) return false;
    return true;
}

// If the dimension drifted, both ends are known: the same place, as far from the dimension's end,
// or the same part of it. If it did not, an end is what a drifted size leaves of it.
static bool is_known_end(const keel_diff_t *diff, const along_t *along, size_t end,
                         uint32_t *out_root) {
    int64_t had = along->had[end], has = along->has[end];
    if (had == has) return true;
    if (along->whole_before != along->whole_after)
        return along->whole_before - had == along->whole_after - has ||
               keel_sizes_is_part(had, has, along->whole_before, along->whole_after);
    *out_root =
        keel_sizes_explain(&diff->sizes, along->whole_before - had, along->whole_after - has);
    return *out_root != KEEL_NONE;
}

// If one end of a slice stays, or moves like a size, and its length is known to have drifted, the
// other end follows: the last n of a dimension.
static uint32_t explains_end(keel_diff_t *diff, const keel_pair_t *pair, const along_t *along) {
    uint32_t root = KEEL_NONE, source = keel_pair_source(diff, pair);
    if (is_known_end(diff, along, 0, &root) && is_known_end(diff, along, 1, &root)) {
        if (root != KEEL_NONE) return root;
        root = keel_sizes_explain(&diff->sizes, along->whole_before, along->whole_after);
        return root == KEEL_NONE && source ? source - 1 : root;
    }
    bool is_known = false;
    for (size_t end = 0; end < 2; ++end)
        is_known = is_known || along->had[end] == along->has[end] ||
                   keel_sizes_explain(&diff->sizes, along->had[end], along->has[end]) != KEEL_NONE;
    if (along->taken_before == along->taken_after || !is_known) return KEEL_NONE;
    return keel_sizes_explain(&diff->sizes, along->taken_before, along->taken_after);
}

uint32_t keel_pair_explain_slice(keel_diff_t *diff, const keel_pair_t *pair, keel_str_t name) {
    bool is_end =
        keel_str_is(name, ends[0]) || keel_str_is(name, ends[1]) || keel_str_is(name, dimensions);
    if (!is_end || !keel_str_is(keel_graph_name(&diff->after, pair->after), "slice"))
        return KEEL_NONE;
    const keel_program_t *q = diff->after.program;
    keel_value_id_t result = q->operations.data[pair->after].first_result;
    uint32_t root = KEEL_NONE,
             rank = keel_diff_dims(q, keel_graph_type(&diff->after, result)).count;
    for (uint32_t dim = 0; dim < rank; ++dim) {
        along_t along;
        if (!read_along(diff, pair, dim, &along)) return KEEL_NONE;
        if (along.had[0] == along.has[0] && along.had[1] == along.has[1]) continue;
        root = explains_end(diff, pair, &along);
        if (root == KEEL_NONE) return KEEL_NONE;
    }
    return root;
}

bool keel_pair_sized_by_start(keel_diff_t *diff, const keel_pair_t *pair, keel_str_t name,
                              keel_drift_t *out) {
    if (!keel_str_is(name, ends[0]) ||
        !keel_str_is(keel_graph_name(&diff->after, pair->after), "slice"))
        return false;
    const keel_program_t *q = diff->after.program;
    keel_value_id_t result = q->operations.data[pair->after].first_result;
    uint32_t rank = keel_diff_dims(q, keel_graph_type(&diff->after, result)).count;
    bool is_found = false;
    for (uint32_t dim = 0; dim < rank; ++dim) {
        along_t along;
        if (!read_along(diff, pair, dim, &along)) return false;
        if (along.had[0] == along.has[0]) continue;
        if (along.has[0] - along.had[0] != along.taken_before - along.taken_after) return false;
        if (!is_found) *out = (keel_drift_t){along.taken_before, along.taken_after, KEEL_NONE};
        is_found = true;
    }
    return is_found;
}
