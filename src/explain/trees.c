// Trees of arguments, by their names: "params" and "params['layers']" of
// "params['layers'][2]['w']".
#include "explain/diff.h"

static bool is_inside(keel_str_t name, keel_str_t tree) {
    return name.size > tree.size && memcmp(name.data, tree.data, tree.size) == 0 &&
           (name.data[tree.size] == '[' || name.data[tree.size] == '.');
}

// 0 if there are too many.
static int64_t count_elements(const keel_program_t *program, keel_type_id_t type) {
    keel_ints_t dims = keel_diff_dims(program, type);
    int64_t elements = 1;
    for (uint32_t i = 0; i < dims.count; ++i) {
        if (dims.items[i] < 0 || dims.items[i] > INT32_MAX || elements > INT32_MAX) return 0;
        elements *= dims.items[i];
    }
    return elements;
}

static int64_t count_all(const keel_program_t *program, const keel_argument_t *arguments,
                         uint32_t count, keel_str_t tree) {
    int64_t total = 0;
    for (uint32_t i = 0; i < count && total < INT64_MAX / 2; ++i)
        if (is_inside(arguments[i].name, tree)) total += count_elements(program, arguments[i].type);
    return total;
}

// The largest index below it, plus one; 0 if it is not a list.
static int64_t count_items(const keel_argument_t *arguments, uint32_t count, keel_str_t tree) {
    enum { DIGITS = 6 };
    int64_t items = 0;
    for (uint32_t i = 0; i < count; ++i) {
        keel_str_t name = arguments[i].name;
        if (!is_inside(name, tree) || name.data[tree.size] != '[') continue;
        int64_t index = 0;
        size_t at = tree.size + 1, begin = at;
        for (;
             at < name.size && at - begin < DIGITS && name.data[at] >= '0' && name.data[at] <= '9';
             ++at)
            index = 10 * index + name.data[at] - '0';
        if (at > begin && index >= items) items = index + 1;
    }
    return items;
}

static bool is_counted(keel_diff_t *diff, keel_str_t tree) {
    uint64_t hash = keel_quick_hash(keel_str_bytes(tree));
    for (uint32_t i = 0; i < diff->tree_count; ++i)
        if (diff->trees[i] == hash) return true;
    if (diff->tree_count == KEEL_DIFF_TREES) return true;
    diff->trees[diff->tree_count++] = hash;
    return false;
}

void keel_diff_note_trees(keel_diff_t *diff, keel_str_t name, uint32_t root) {
    for (size_t end = name.size; end-- > 1;) {
        keel_str_t tree = {name.data, end};
        if ((name.data[end] != '[' && name.data[end] != '.') || is_counted(diff, tree)) continue;
        keel_sizes_add_total(
            &diff->sizes,
            count_all(diff->before.program, diff->arguments_before, diff->before_count, tree),
            count_all(diff->after.program, diff->arguments_after, diff->after_count, tree), root);
        keel_sizes_add_list(&diff->sizes,
                            count_items(diff->arguments_before, diff->before_count, tree),
                            count_items(diff->arguments_after, diff->after_count, tree), root);
    }
}
