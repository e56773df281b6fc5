// Numbers that an operation takes in no other form: in PyTorch an epsilon, a threshold, how far to
// roll; everywhere an axis. The advice for constants, to make an array of it, cannot be followed
// there.
#include "explain/diff.h"
#include "explain/lines.h"

// "add" of "aten__add.1/aten__add": the operation that was called. Empty if the client did not
// write names, as PyTorch/XLA does only with XLA_HLO_DEBUG=1.
static keel_str_t called(const keel_graph_t *graph, keel_op_id_t op) {
    keel_str_t name = op == KEEL_NONE ? KEEL_STR("") : keel_lines_primitive(graph, op);
    size_t start = 0, end;
    for (size_t i = 1; i < name.size && !start; ++i)
        if (name.data[i - 1] == '_' && name.data[i] == '_') start = i + 1;
    for (end = start; end < name.size && name.data[end] != '.' && name.data[end] != '/';)
        ++end;
    return start ? (keel_str_t){name.data + start, end - start} : KEEL_STR("");
}

// The operations with a form that takes a tensor in place of the number. Sorted by what they do:
// arithmetic, comparisons, choices, places, fillings.
static bool takes_tensors(keel_str_t name) {
    static const char *const names[] = {"add",          "sub",
                                        "rsub",         "mul",
                                        "div",          "pow",
                                        "fmod",         "remainder",
                                        "floor_divide", "lerp",
                                        "addcmul",      "addcdiv",
                                        "atan2",        "maximum",
                                        "minimum",      "lt",
                                        "le",           "gt",
                                        "ge",           "eq",
                                        "ne",           "clamp",
                                        "where",        "masked_fill",
                                        "bitwise_and",  "bitwise_or",
                                        "fill",         "full",
                                        "Constant",     "device_data",
                                        "index",        "index_put",
                                        "index_select", "index_fill",
                                        "index_copy",   "select",
                                        "unselect",     "generic_slice",
                                        "update_slice", "slice",
                                        "gather",       "scatter",
                                        "scatter_add",  "expand",
                                        "cast",         "normal",
                                        "bernoulli",    "repeat_interleave",
                                        "searchsorted", "logical_and",
                                        "logical_or",   "bitwise_xor",
                                        "__lshift__",   "__rshift__",
                                        "copysign"};
    return keel_str_is_among(name, names, sizeof names / sizeof *names);
}

// "reduce dimensions", "transpose permutation": the subject of an attribute is its name.
bool keel_diff_is_axis(const keel_difference_t *difference) {
    const keel_str_t subject = keel_str(difference->subject);
    static const char *const names[] = {" dimensions", " dimension", " broadcast_dimensions",
                                        " permutation", " iota_dimension"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (keel_str_ends(subject, keel_str(names[i]))) return true;
    return false;
}

void keel_diff_axes(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_difference_t *difference = &diff->roots[i].difference;
        if (difference->kind == KEEL_CAUSE_CONSTANT && !keel_note_advice(difference->note) &&
            keel_diff_is_axis(difference))
            keel_diff_note(diff, difference, KEEL_NOTE_AXIS);
    }
}

void keel_diff_settings(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_difference_t *difference = &diff->roots[i].difference;
        if (difference->kind != KEEL_CAUSE_CONSTANT || diff->roots[i].follows != KEEL_NONE ||
            keel_note_advice(difference->note))
            continue;
        keel_str_t now = called(&diff->after, difference->new_op);
        keel_str_t then = called(&diff->before, difference->old_op);
        keel_str_t name = now.size ? now : then;
        if (!name.size || takes_tensors(name) || (then.size && !keel_str_equal(then, name)))
            continue;
        bool is_passed = strcmp(difference->old_value, "an argument") == 0 ||
                         strcmp(difference->new_value, "an argument") == 0;
        keel_diff_note(diff, difference, is_passed ? KEEL_NOTE_NOUGHT : KEEL_NOTE_SETTING);
    }
}
