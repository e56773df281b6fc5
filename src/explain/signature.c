#define _GNU_SOURCE
#include <stdio.h>

#include "explain/groups.h"

// ---- arguments ---------------------------------------------------------------------------------

static keel_attr_id_t item_of(const keel_program_t *program, keel_attr_id_t array, uint32_t i) {
    keel_list_t items = keel_program_array(program, array);
    return i < items.count ? items.items[i] : KEEL_NONE;
}

static keel_status_t list_arguments(keel_graph_t *graph, keel_argument_t **out,
                                    uint32_t *out_count) {
    const keel_program_t *program = graph->program;
    const keel_function_t *function = &program->functions.data[program->entry];
    bool is_hlo = program->format == KEEL_FORMAT_HLO;
    const keel_block_t *block = keel_program_body(program, program->entry);
    *out_count = is_hlo ? keel_parameters_list(graph, NULL) : block ? block->argument_count : 0;
    void *memory;
    KEEL_TRY(keel_arena_array(graph->arena, *out_count ? *out_count : 1, sizeof **out, &memory));
    *out = memory;
    if (is_hlo) keel_parameters_list(graph, *out);
    if (is_hlo) KEEL_TRY(keel_parameters_donated(graph, *out, *out_count));
    for (uint32_t i = 0; !is_hlo && i < *out_count; ++i)
        (*out)[i] =
            (keel_argument_t){.value = block->first_argument + i,
                              .type = keel_graph_type(graph, block->first_argument + i),
                              .attributes = item_of(program, function->argument_attributes, i),
                              .name = keel_program_argument_name(program, block, i),
                              .counterpart = KEEL_NONE,
                              .replacement = KEEL_NONE,
                              .weighed = KEEL_NONE,
                              .op = KEEL_NONE};
    return NULL;
}

static void pair(keel_diff_t *diff, uint32_t before, uint32_t after) {
    diff->arguments_before[before].counterpart = after;
    diff->arguments_after[after].counterpart = before;
}

static keel_status_t pair_by_name(keel_diff_t *diff) {
    keel_map_t names;
    keel_map_initialize(&names);
    keel_status_t status = NULL;
    for (uint32_t i = diff->before_count; !status && i-- > 0;)
        if (diff->arguments_before[i].name.size)
            status = keel_map_put(&names, keel_str_bytes(diff->arguments_before[i].name), i);
    for (uint32_t j = 0; !status && j < diff->after_count; ++j) {
        keel_str_t name = diff->arguments_after[j].name;
        const uint64_t *i = name.size ? keel_map_find(&names, keel_str_bytes(name)) : NULL;
        if (i && diff->arguments_before[*i].counterpart == KEEL_NONE &&
            diff->arguments_after[j].counterpart == KEEL_NONE)
            pair(diff, (uint32_t)*i, j);
    }
    keel_map_deinitialize(&names);
    return status;
}

static bool is_same_type(keel_diff_t *diff, uint32_t before, uint32_t after) {
    return keel_graph_type_hash(&diff->before, diff->arguments_before[before].type) ==
           keel_graph_type_hash(&diff->after, diff->arguments_after[after].type);
}

// If an argument was passed to both programs, it was not renamed to the other one.
static bool is_known_apart(const keel_diff_t *diff, uint32_t before, uint32_t after) {
    return keel_names_passing(diff->names_after, diff->arguments_before[before].name) ==
               KEEL_PASSED ||
           keel_names_passing(diff->names_before, diff->arguments_after[after].name) == KEEL_PASSED;
}

// Two keys of one dict, "labels['dose']" and "labels['weight']": in one process the function that
// reads them is the same, so neither was renamed to the other.
static bool is_other_key(const keel_diff_t *diff, uint32_t before, uint32_t after) {
    keel_str_t was = diff->arguments_before[before].name, is = diff->arguments_after[after].name;
    size_t same = 0;
    while (same < was.size && same < is.size && was.data[same] == is.data[same])
        ++same;
    size_t key = same;
    while (key > 0 && was.data[key - 1] != '\'' && was.data[key - 1] != '[')
        --key;
    return !diff->is_of_another_run && key > 0 && was.data[key - 1] == '\'';
}

// Pairs what was not paired by name, in order: an argument that was renamed keeps its type. If
// neither side has names and the numbers of arguments agree, the place is enough.
static void pair_the_rest(keel_diff_t *diff) {
    bool same_count = diff->before_count == diff->after_count;
    enum { TRIED = 256 }; // thousands of arguments would take quadratic time
    uint32_t j = 0;
    for (uint32_t i = 0; i < diff->before_count; ++i) {
        const keel_argument_t *argument = &diff->arguments_before[i];
        if (argument->counterpart != KEEL_NONE) continue;
        if (same_count && diff->arguments_after[i].counterpart == KEEL_NONE &&
            (!argument->name.size || (is_same_type(diff, i, i) && !is_known_apart(diff, i, i) &&
                                      !is_other_key(diff, i, i)))) {
            pair(diff, i, i);
            continue;
        }
        if (argument->name.size) continue;
        for (uint32_t k = j; k < diff->after_count && k - j < TRIED; ++k) {
            if (diff->arguments_after[k].counterpart != KEEL_NONE ||
                diff->arguments_after[k].name.size || !is_same_type(diff, i, k))
                continue;
            pair(diff, i, k);
            j = k + 1;
            break;
        }
    }
}

static const char *subject_of(keel_diff_t *diff, const keel_argument_t *argument, uint32_t number) {
    if (!argument->name.size) return keel_diff_text(diff, "argument %u", number);
    keel_str_t name = argument->name;
    if (!keel_arguments_have_names(diff)) name = keel_names_find(diff->names_after, name);
    return keel_diff_text(diff, "%.*s", KEEL_STR_ARGS(name));
}

// "params" of "params['w']": the parameter that an argument is part of.
static keel_str_t parameter_of(keel_str_t name) {
    size_t end = 0;
    while (end < name.size && name.data[end] != '[' && name.data[end] != '.')
        ++end;
    return (keel_str_t){name.data, end};
}

// False for a name that is not a path: "keel_number(0.1)", "kept at decode.c:10".
static bool is_path(keel_str_t name) {
    keel_str_t root = parameter_of(name);
    for (size_t i = 0; i < root.size; ++i)
        if (root.data[i] == ' ' || root.data[i] == '(') return false;
    return root.size;
}

// ---- the difference of an argument -------------------------------------------------------------

// The argument's own place, or the line that called the traced function.
static keel_place_t argument_place(keel_diff_t *diff, bool is_after, uint32_t number) {
    keel_op_id_t op = (is_after ? diff->arguments_after : diff->arguments_before)[number].op;
    return op == KEEL_NONE ? diff->site : keel_diff_place(diff, is_after, op);
}

// Of one that differs, or is new.
static keel_place_t place_made(keel_diff_t *diff, bool is_after, uint32_t number) {
    keel_place_t place;
    if (is_after && keel_diff_made_at(diff, number, &place)) return place;
    return argument_place(diff, is_after, number);
}

// In HLO a scalar may be one.
static bool is_random_key(const keel_program_t *program, const keel_argument_t *argument) {
    if (argument->op != KEEL_NONE) return !keel_diff_dims(program, argument->type).count;
    return keel_key_is_type(program, argument->type);
}

// ---- types -------------------------------------------------------------------------------------

static bool is_pair_before(keel_ints_t a, keel_ints_t b, uint32_t end) {
    for (uint32_t i = 0; i < end; ++i)
        if (a.items[i] == a.items[end] && b.items[i] == b.items[end]) return true;
    return false;
}

// Equal for all arguments whose sizes changed in the same way, however often and in any order.
static uint64_t dims_key(keel_ints_t a, keel_ints_t b) {
    const uint64_t prime = 0x9e3779b97f4a7c15u;
    if (a.count != b.count) return ((uint64_t)a.count << 32 | b.count) * prime;
    uint64_t key = 1;
    for (uint32_t i = 0; i < a.count; ++i)
        if (a.items[i] != b.items[i] && !is_pair_before(a, b, i))
            key += (((uint64_t)a.items[i] * prime) ^ (uint64_t)b.items[i]) * prime;
    return key;
}

// The kind of a random key, by its number of words; NULL for any other value.
static const char *generator_of(const keel_program_t *program, const keel_argument_t *argument) {
    if (argument->op != KEEL_NONE || !is_random_key(program, argument)) return NULL;
    keel_ints_t dims = keel_diff_dims(program, argument->type);
    return dims.items[dims.count - 1] == 2 ? KEEL_THREEFRY : KEEL_RBG;
}

// Keys of two generators: the same dimensions except for the words of a key.
static bool is_other_generator(const keel_diff_t *diff, const keel_argument_t *a,
                               const keel_argument_t *b) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    const char *was = generator_of(p, a), *is = generator_of(q, b);
    keel_ints_t x = keel_diff_dims(p, a->type), y = keel_diff_dims(q, b->type);
    return was && is && strcmp(was, is) != 0 && x.count == y.count &&
           memcmp(x.items, y.items, (x.count - 1) * sizeof *x.items) == 0;
}

static keel_status_t compare_types(keel_diff_t *diff, keel_groups_t *groups, uint32_t i,
                                   uint32_t j) {
    const keel_argument_t *a = &diff->arguments_before[i], *b = &diff->arguments_after[j];
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_ints_t x = keel_diff_dims(p, a->type), y = keel_diff_dims(q, b->type);
    if (is_same_type(diff, i, j)) {
        keel_sizes_add_fixed(&diff->sizes, x);
        return NULL;
    }
    uint64_t from = keel_diff_element_hash(&diff->before, a->type);
    uint64_t to = keel_diff_element_hash(&diff->after, b->type);
    bool same_dims = keel_ints_equal(x, y);
    keel_difference_t difference =
        keel_diff_of_call(diff, KEEL_CAUSE_SHAPE, subject_of(diff, b, j), "", "");
    if (!b->name.size) difference.argument = j + 1;
    keel_diff_types(diff, a->type, b->type, &difference);
    difference.place = place_made(diff, true, j);
    uint32_t root = KEEL_NONE;
    if (is_other_generator(diff, a, b)) {
        difference.kind = KEEL_CAUSE_OPTION;
        difference.old_value = generator_of(p, a);
        difference.new_value = generator_of(q, b);
        difference.note = keel_note_text(KEEL_NOTE_GENERATOR);
        KEEL_TRY(keel_groups_add(diff, groups, 1, &difference, &root));
        diff->roots[root].is_random = true;
    } else if (!same_dims) {
        KEEL_TRY(keel_groups_add(diff, groups, dims_key(x, y), &difference, &root));
        if (x.count != y.count && diff->rank_root == KEEL_NONE) diff->rank_root = root;
        diff->roots[root].is_random = is_random_key(q, b);
        if (x.count == y.count && !diff->roots[root].argument) diff->roots[root].argument = j + 1;
        keel_sizes_add_dims(&diff->sizes, x, y, root);
        if (is_path(b->name)) keel_diff_note_trees(diff, b->name, root);
    }
    if (from != to) {
        difference.kind = KEEL_CAUSE_DTYPE;
        // It is one cause whatever the pairs of dtypes are (x64 mode changes two at once).
        KEEL_TRY(keel_groups_add(diff, groups, 0, &difference, &root));
    }
    if (same_dims && from == to) { // layouts of HLO shapes
        difference.kind = KEEL_CAUSE_LAYOUT;
        KEEL_TRY(keel_groups_add(diff, groups, 0, &difference, &root));
    }
    diff->taint[b->value] = root + 1;
    return NULL;
}

// ---- attributes --------------------------------------------------------------------------------

static bool starts_with_any(keel_str_t name, const char *const *prefixes, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (keel_str_starts(name, keel_str(prefixes[i]))) return true;
    return false;
}

typedef enum attribute_kind {
    ATTRIBUTE_IGNORED,
    ATTRIBUTE_SHARDING,
    ATTRIBUTE_DONATION,
    ATTRIBUTE_LAYOUT,
    ATTRIBUTE_MEMORY,
    ATTRIBUTE_OTHER,
} attribute_kind_t;

static attribute_kind_t attribute_kind(keel_str_t name) {
    static const char *const shardings[] = {"mhlo.sharding", "sdy.sharding", "sharding", "xla.sdy"};
    static const char *const donations[] = {"tf.aliasing_output", "jax.buffer_donor"};
    static const char *const layouts[] = {"mhlo.layout_mode", "layout"};
    static const char *const ignored[] = {"jax.result_info", "jax.arg_info", "parameter_number",
                                          "mhlo.is_same_data_across_replicas"};
#define ANY(list) starts_with_any(name, list, sizeof(list) / sizeof *(list))
    if (ANY(shardings)) return ATTRIBUTE_SHARDING;
    if (ANY(donations)) return ATTRIBUTE_DONATION;
    if (ANY(layouts)) return ATTRIBUTE_LAYOUT;
    if (keel_str_is(name, "mhlo.memory_kind")) return ATTRIBUTE_MEMORY;
    return ANY(ignored) ? ATTRIBUTE_IGNORED : ATTRIBUTE_OTHER;
#undef ANY
}

static bool is_donated(const keel_program_t *program, const keel_argument_t *argument) {
    if (argument->op != KEEL_NONE) return argument->is_donated;
    keel_attr_id_t dict = argument->attributes;
    return keel_program_dict_find(program, dict, "tf.aliasing_output") != KEEL_NONE ||
           keel_program_dict_find(program, dict, "jax.buffer_donor") != KEEL_NONE;
}

// Two dictionaries that are compared, and what they belong to.
typedef struct dicts_t {
    keel_attr_id_t before, after;
    const char *subject;
    keel_place_t place;
    bool is_result;
    uint32_t shape_root; // that changed the rank of the value; NONE
} dicts_t;

// What clients write for an argument that nobody sharded: JAX an empty mesh; PyTorch/XLA
// "replicated", which is an empty message.
static bool is_unsharded(const keel_program_t *program, keel_attr_id_t sharding) {
    if (keel_program_attr(program, sharding)->kind != KEEL_ATTR_DICT) return false;
    if (program->format == KEEL_FORMAT_HLO) return !keel_program_entries(program, sharding).count;
    keel_attr_id_t mesh = keel_program_dict_find(program, sharding, "mesh");
    if (keel_program_attr(program, mesh)->kind != KEEL_ATTR_SYMBOL) return false;
    return keel_str_is(keel_program_str(program, keel_program_attr(program, mesh)->a),
                       "empty_mesh");
}

// The sharding of an argument in JAX's form; NONE if it has none.
static keel_attr_id_t sharding_of_argument(const keel_program_t *program, uint32_t index) {
    const keel_function_t *entry = &program->functions.data[program->entry];
    return keel_program_dict_find(program, item_of(program, entry->argument_attributes, index),
                                  "sdy.sharding");
}

bool keel_explain_is_commitment(const keel_program_t *before, const keel_program_t *after) {
    if (before->format != KEEL_FORMAT_MLIR || after->format != KEEL_FORMAT_MLIR ||
        before->entry == KEEL_NONE || after->entry == KEEL_NONE)
        return false;
    const keel_block_t *x = keel_program_body(before, before->entry);
    const keel_block_t *y = keel_program_body(after, after->entry);
    for (uint32_t i = 0; x && y && i < x->argument_count && i < y->argument_count; ++i) {
        keel_attr_id_t a = sharding_of_argument(before, i), b = sharding_of_argument(after, i);
        if ((a == KEEL_NONE) != (b == KEEL_NONE) &&
            (a == KEEL_NONE ? is_unsharded(after, b) : is_unsharded(before, a)))
            return true;
    }
    return false;
}

// Until jax.device_put commits an array to a device, JAX may move it to where it is needed; then it
// writes an empty mesh. That is only a place: the program computes the same.
static keel_status_t tell_commitment(keel_diff_t *diff, keel_groups_t *groups, const dicts_t *dicts,
                                     bool was_committed) {
    static const char *const words[] = {"not committed", "committed to a device"};
    if (dicts->is_result) return NULL;
    keel_difference_t difference = keel_diff_of_call(diff, KEEL_CAUSE_SHARDING, dicts->subject,
                                                     words[was_committed], words[!was_committed]);
    difference.note = keel_note_text(KEEL_NOTE_COMMITTED);
    difference.place = dicts->place;
    uint32_t root;
    return keel_groups_add(diff, groups, was_committed, &difference, &root);
}

static keel_status_t compare_attribute(keel_diff_t *diff, keel_groups_t *groups,
                                       const dicts_t *dicts, keel_str_t name, keel_attr_id_t x,
                                       keel_attr_id_t y) {
    static const keel_cause_t causes[] = {[ATTRIBUTE_SHARDING] = KEEL_CAUSE_SHARDING,
                                          [ATTRIBUTE_DONATION] = KEEL_CAUSE_DONATION,
                                          [ATTRIBUTE_LAYOUT] = KEEL_CAUSE_LAYOUT,
                                          [ATTRIBUTE_MEMORY] = KEEL_CAUSE_SHARDING,
                                          [ATTRIBUTE_OTHER] = KEEL_CAUSE_OPTION};
    attribute_kind_t kind = attribute_kind(name);
    if (kind == ATTRIBUTE_IGNORED || kind == ATTRIBUTE_DONATION) return NULL;
    if (kind == ATTRIBUTE_SHARDING) {
        bool was_lone = is_unsharded(diff->before.program, x);
        bool is_lone = is_unsharded(diff->after.program, y);
        if (diff->after.program->format == KEEL_FORMAT_MLIR &&
            ((was_lone && y == KEEL_NONE) || (is_lone && x == KEEL_NONE)))
            return tell_commitment(diff, groups, dicts, was_lone);
        if (was_lone) x = KEEL_NONE;
        if (is_lone) y = KEEL_NONE;
    }
    uint64_t a = keel_graph_attr_hash(&diff->before, x), b = keel_graph_attr_hash(&diff->after, y);
    if (a == b) return NULL;
    const char *subject = dicts->subject;
    if (kind == ATTRIBUTE_OTHER)
        subject = keel_diff_text(diff, "%s %.*s", subject, (int)name.size, name.data);
    keel_difference_t difference = keel_diff_of_call(diff, causes[kind], subject,
                                                     keel_diff_attr(diff, diff->before.program, x),
                                                     keel_diff_attr(diff, diff->after.program, y));
    bool reads_same = strcmp(difference.old_value, difference.new_value) == 0;
    keel_diff_attrs(diff, x, y, &difference);
    if (kind == ATTRIBUTE_MEMORY && !keel_diff_memory(diff, x, y, &difference)) return NULL;
    difference.place = dicts->place;
    // A sharding has one entry for each dimension: for another rank it differs but reads the same.
    if (dicts->shape_root != KEEL_NONE && reads_same)
        return keel_diff_fold(diff, dicts->shape_root, &difference);
    // By what is shown, as replicated arguments of two ranks have two attributes.
    uint64_t key = keel_graph_join(keel_quick_hash(keel_str_bytes(keel_str(difference.old_value))),
                                   keel_quick_hash(keel_str_bytes(keel_str(difference.new_value))));
    uint32_t root;
    return keel_groups_add(diff, groups, key, &difference, &root);
}

static keel_status_t compare_dicts(keel_diff_t *diff, keel_groups_t *groups, const dicts_t *dicts) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_list_t x = keel_program_entries(p, dicts->before),
                y = keel_program_entries(q, dicts->after);
    for (uint32_t i = 0; i + 1 < x.count; i += 2) {
        keel_str_t name = keel_program_str(p, x.items[i]);
        KEEL_TRY(compare_attribute(diff, groups, dicts, name, x.items[i + 1],
                                   keel_diff_entry(q, y, name, i)));
    }
    for (uint32_t i = 0; i + 1 < y.count; i += 2) {
        keel_str_t name = keel_program_str(q, y.items[i]);
        if (keel_diff_entry(p, x, name, i) == KEEL_NONE)
            KEEL_TRY(compare_attribute(diff, groups, dicts, name, KEEL_NONE, y.items[i + 1]));
    }
    return NULL;
}

static keel_status_t compare_attributes(keel_diff_t *diff, keel_groups_t *groups, uint32_t i,
                                        uint32_t j) {
    const keel_argument_t *a = &diff->arguments_before[i], *b = &diff->arguments_after[j];
    const char *subject = subject_of(diff, b, j);
    bool is_other_rank = keel_diff_dims(diff->before.program, a->type).count !=
                         keel_diff_dims(diff->after.program, b->type).count;
    uint32_t shape_root =
        is_other_rank && diff->taint[b->value] ? diff->taint[b->value] - 1 : KEEL_NONE;
    dicts_t dicts = {a->attributes, b->attributes, subject, argument_place(diff, true, j),
                     false,         shape_root};
    KEEL_TRY(compare_dicts(diff, groups, &dicts));
    bool was = is_donated(diff->before.program, a), is = is_donated(diff->after.program, b);
    if (was == is) return NULL;
    keel_difference_t difference = keel_diff_of_call(
        diff, KEEL_CAUSE_DONATION, subject, was ? "donated" : "kept", is ? "donated" : "kept");
    if (!b->name.size) difference.argument = j + 1;
    difference.place = dicts.place;
    uint32_t root, known = diff->root_count;
    KEEL_TRY(keel_groups_add(diff, groups, was, &difference, &root));
    if (diff->root_count > known) diff->roots[root].donated = j + 1;
    return NULL;
}

// ---- added and gone ----------------------------------------------------------------------------

static bool has_parameter(const keel_argument_t *arguments, uint32_t count, keel_str_t parameter) {
    for (uint32_t i = 0; i < count; ++i)
        if (keel_str_equal(parameter_of(arguments[i].name), parameter)) return true;
    return false;
}

static bool is_boundary(keel_str_t name, size_t at) {
    return at == name.size || name.data[at] == '[' || name.data[at] == '.';
}

// "average", "average['params']", "average['params']['w']" of each argument: all that there is.
static keel_status_t list_trees(const keel_argument_t *arguments, uint32_t count, keel_map_t *out) {
    for (uint32_t i = 0; i < count; ++i) {
        keel_str_t name = arguments[i].name;
        for (size_t end = 1; end <= name.size; ++end)
            if (is_boundary(name, end)) KEEL_TRY(keel_map_put(out, keel_bytes(name.data, end), i));
    }
    return NULL;
}

// The largest part of the tree that the other call lacks: the argument, or what contains it.
static keel_str_t lacking_tree(const keel_map_t *others, keel_str_t name) {
    size_t end = 1;
    while (end < name.size &&
           (!is_boundary(name, end) || keel_map_find(others, keel_bytes(name.data, end))))
        ++end;
    return (keel_str_t){name.data, end};
}

// Arguments that come and go together. Those of one list go by its name, whichever tree it is in
// (parameters, and an optimizer's state beside them: "params['layers'][2]['w']",
// "state['mean']['layers'][3]['b']"), others by the nearest container that both calls have
// ("batch['mask']", "batch['weight']"), or by the parameter that only one of them has.
static uint64_t group_of_name(const keel_map_t *others, keel_str_t name) {
    keel_str_t lacking = lacking_tree(others, name);
    bool is_parameter = lacking.size < name.size && lacking.size == parameter_of(name).size;
    if (is_parameter) return keel_quick_hash(keel_str_bytes(lacking));
    for (size_t i = 0; i + 1 < name.size; ++i) {
        bool is_part = name.data[i] == '[' || name.data[i] == '.';
        if (!is_part || name.data[i + 1] < '0' || name.data[i + 1] > '9') continue;
        size_t begin = i;
        while (begin > 0 && name.data[begin - 1] != '[' && name.data[begin - 1] != '.')
            --begin;
        return keel_quick_hash(keel_bytes(name.data + begin, i + 1 - begin));
    }
    size_t end = lacking.size;
    while (end > 0 && name.data[end - 1] != '[' && name.data[end - 1] != '.')
        --end;
    return keel_quick_hash(keel_bytes(name.data, end ? end : name.size));
}

// The last part of a name. Arguments at the same place of parallel trees go together by it, like a
// weight, its gradient and its moments ("position['scale']", "gradient['scale']"). 0 if there is
// none, or it is only a number.
static uint64_t leaf_of_name(keel_str_t name) {
    size_t begin = name.size;
    while (begin > 0 && name.data[begin - 1] != '[' && name.data[begin - 1] != '.')
        --begin;
    if (!begin || begin == name.size || (name.data[begin] >= '0' && name.data[begin] <= '9'))
        return 0;
    return keel_quick_hash(keel_bytes(name.data + begin, name.size - begin)) | 1;
}

static keel_status_t add_unpaired(keel_diff_t *diff, keel_groups_t *groups, uint64_t group,
                                  uint64_t leaf, const keel_difference_t *difference, bool is_sent,
                                  uint32_t *out) {
    const keel_group_t *twin = leaf ? keel_groups_find(groups, KEEL_CAUSE_ARGUMENTS, leaf) : NULL;
    if (twin && !keel_groups_find(groups, KEEL_CAUSE_ARGUMENTS, group))
        keel_groups_put(groups, KEEL_CAUSE_ARGUMENTS, group, twin->root);
    KEEL_TRY(keel_groups_add_argument(diff, groups, group, difference, is_sent, out));
    if (leaf && !twin) keel_groups_put(groups, KEEL_CAUSE_ARGUMENTS, leaf, *out);
    return NULL;
}

static keel_status_t tell_unpaired(keel_diff_t *diff, keel_groups_t *groups,
                                   const keel_map_t *others, bool is_after) {
    keel_argument_t *list = is_after ? diff->arguments_after : diff->arguments_before;
    uint32_t count = is_after ? diff->after_count : diff->before_count;
    const keel_program_t *program = is_after ? diff->after.program : diff->before.program;
    for (uint32_t i = 0; i < count; ++i) {
        if (list[i].counterpart != KEEL_NONE && !list[i].is_moved) continue;
        const char *type = keel_diff_type(diff, program, list[i].type);
        keel_difference_t difference =
            keel_diff_of_call(diff, KEEL_CAUSE_ARGUMENTS, subject_of(diff, &list[i], i),
                              is_after ? "absent" : type, is_after ? type : "absent");
        if (is_after && !list[i].name.size) difference.argument = i + 1;
        bool is_sent = is_after && keel_diff_made_at(diff, i, &difference.place);
        if (!is_sent) difference.place = argument_place(diff, is_after, i);
        is_sent = is_sent || list[i].is_sent;
        uint32_t root, known = diff->root_count;
        keel_str_t path = is_path(list[i].name) ? list[i].name : KEEL_STR("");
        keel_passing_t passing =
            keel_names_passing(is_after ? diff->names_before : diff->names_after, list[i].name);
        list[i].passing = passing;
        uint64_t group =
            group_of_name(others, path) + 4 * (uint64_t)passing + 16 * (uint64_t)list[i].is_moved;
        if (list[i].op != KEEL_NONE) group += 2 * is_random_key(program, &list[i]);
        uint64_t leaf = leaf_of_name(path);
        if (leaf)
            leaf ^= keel_graph_type_hash(is_after ? &diff->after : &diff->before, list[i].type) +
                    is_after;
        KEEL_TRY(
            add_unpaired(diff, groups, group * 2 + is_after, leaf, &difference, is_sent, &root));
        if (path.size) keel_diff_note_trees(diff, path, root);
        bool is_new = diff->root_count > known;
        // If there was no room for the root, this one belongs to something else.
        if (is_new || diff->roots[root].difference.kind == KEEL_CAUSE_ARGUMENTS)
            diff->roots[root].is_random =
                (is_new || diff->roots[root].is_random) && is_random_key(program, &list[i]);
        list[i].root = root;
        if (is_new) diff->roots[root].passing = passing;
        if (is_new) diff->roots[root].is_moved = list[i].is_moved;
        if (is_new)
            diff->roots[root].is_whole =
                path.size &&
                !has_parameter(is_after ? diff->arguments_before : diff->arguments_after,
                               is_after ? diff->before_count : diff->after_count,
                               parameter_of(path));
        if (is_after && !list[i].is_moved) diff->taint[list[i].value] = root + 1;
    }
    return NULL;
}

static bool has_unpaired(const keel_argument_t *arguments, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (arguments[i].counterpart == KEEL_NONE || arguments[i].is_moved) return true;
    return false;
}

static keel_status_t tell_all_unpaired(keel_diff_t *diff, keel_groups_t *groups) {
    if (!has_unpaired(diff->arguments_before, diff->before_count) &&
        !has_unpaired(diff->arguments_after, diff->after_count))
        return NULL;
    keel_map_t before, after;
    keel_map_initialize(&before);
    keel_map_initialize(&after);
    keel_status_t status = list_trees(diff->arguments_before, diff->before_count, &before);
    if (!status) status = list_trees(diff->arguments_after, diff->after_count, &after);
    if (!status) status = tell_unpaired(diff, groups, &before, true);
    if (!status) status = tell_unpaired(diff, groups, &after, false);
    keel_map_deinitialize(&after);
    keel_map_deinitialize(&before);
    return status;
}

// The added argument that took the place of each argument that the root says is gone; NONE if one
// has none.
static uint32_t find_replacement(const keel_diff_t *diff, uint32_t root) {
    uint32_t found = KEEL_NONE;
    for (uint32_t i = 0; i < diff->before_count; ++i) {
        const keel_argument_t *a = &diff->arguments_before[i];
        if (a->counterpart != KEEL_NONE || a->root != root) continue;
        if (a->replacement == KEEL_NONE ||
            diff->arguments_after[a->replacement].counterpart != KEEL_NONE)
            return KEEL_NONE;
        found = a->replacement;
    }
    return found;
}

// A default of the model gives way to what is passed now, or the reverse.
static void fold_replaced(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->before_count; ++i) {
        const keel_argument_t *a = &diff->arguments_before[i];
        if (a->counterpart != KEEL_NONE || a->replacement == KEEL_NONE) continue;
        uint32_t added = find_replacement(diff, a->root);
        if (added == KEEL_NONE || diff->arguments_after[added].root == a->root) continue;
        diff->roots[a->root].follows = diff->arguments_after[added].root;
    }
}

// ---- what changes together ---------------------------------------------------------------------

static bool moves_with(const keel_diff_t *diff, uint32_t one, uint32_t other, bool *out_leads) {
    const keel_argument_t *b = &diff->arguments_after[diff->roots[one].argument - 1];
    const keel_argument_t *d = &diff->arguments_after[diff->roots[other].argument - 1];
    keel_type_id_t a = diff->arguments_before[b->counterpart].type;
    keel_type_id_t c = diff->arguments_before[d->counterpart].type;
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    return keel_sizes_move_together(keel_diff_dims(p, a), keel_diff_dims(q, b->type),
                                    keel_diff_dims(p, c), keel_diff_dims(q, d->type), out_leads);
}

static void put_under(keel_diff_t *diff, keel_groups_t *groups, uint32_t root, uint32_t under) {
    keel_group_t *own = keel_groups_of(groups, KEEL_CAUSE_SHAPE, root);
    keel_group_t *others = keel_groups_of(groups, KEEL_CAUSE_SHAPE, under);
    diff->roots[root].follows = under;
    if (!own || !others) return;
    others->more += own->more + 1;
    others->results += own->results;
    own->more = own->results = 0;
}

// An argument whose sizes all follow from those of another is not a cause of its own: an
// off-diagonal, a flattened batch. If two follow from each other, the plainer one leads, otherwise
// the first.
static void fold_by_size(keel_diff_t *diff, keel_groups_t *groups) {
    for (uint32_t i = 0; i < diff->root_count; ++i)
        for (uint32_t j = i + 1; j < diff->root_count; ++j) {
            bool leads, is_first = true;
            if (!diff->roots[i].argument || diff->roots[i].follows != KEEL_NONE) break;
            if (!diff->roots[j].argument || diff->roots[j].follows != KEEL_NONE) continue;
            bool follows = moves_with(diff, j, i, &leads);
            bool precedes = moves_with(diff, i, j, &is_first);
            if (follows && (is_first || !precedes))
                put_under(diff, groups, j, i);
            else if (precedes)
                put_under(diff, groups, i, j);
        }
}

// ---- results and meshes ------------------------------------------------------------------------

static keel_status_t compare_results(keel_diff_t *diff, keel_groups_t *groups) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_attr_id_t a = p->functions.data[p->entry].result_attributes;
    keel_attr_id_t b = q->functions.data[q->entry].result_attributes;
    uint32_t x = keel_program_array(p, a).count, y = keel_program_array(q, b).count;
    if (x != y) return NULL;
    for (uint32_t i = 0; i < x; ++i) {
        dicts_t dicts = {item_of(p, a, i),
                         item_of(q, b, i),
                         keel_diff_text(diff, "result %u", i),
                         diff->site,
                         true,
                         diff->rank_root};
        KEEL_TRY(compare_dicts(diff, groups, &dicts));
    }
    return NULL;
}

static keel_attr_id_t mesh_named(keel_graph_t *graph, uint64_t name, keel_str_t *out_name,
                                 keel_op_id_t *inout_from) {
    const keel_program_t *program = graph->program;
    for (keel_op_id_t op = *inout_from; op < keel_program_op_count(program); ++op) {
        if (graph->function_of[op] != KEEL_NONE || !keel_str_is(keel_graph_name(graph, op), "mesh"))
            continue;
        keel_attr_id_t dict = program->operations.data[op].attributes;
        keel_attr_id_t symbol = keel_program_dict_find(program, dict, "sym_name");
        if (symbol == KEEL_NONE) continue;
        *out_name = keel_program_str(program, keel_program_attr(program, symbol)->a);
        if (name && keel_quick_hash(keel_str_bytes(*out_name)) != name) continue;
        *inout_from = op + 1;
        return keel_program_dict_find(program, dict, "mesh");
    }
    return KEEL_NONE;
}

// "data=2, model=4", and the devices if they are listed.
static const char *mesh_text(keel_diff_t *diff, const keel_program_t *program, keel_attr_id_t mesh,
                             int64_t *out_size) {
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    *out_size = 1;
    keel_attr_id_t axes = keel_program_dict_find(program, mesh, "axes");
    keel_list_t items = keel_program_array(program, axes);
    for (uint32_t i = 0; i < items.count; ++i) {
        keel_attr_id_t name = keel_program_dict_find(program, items.items[i], "name");
        keel_attr_id_t size = keel_program_dict_find(program, items.items[i], "size");
        if (name == KEEL_NONE || keel_program_attr(program, size)->kind != KEEL_ATTR_INT) continue;
        int64_t number = program->ints.data[keel_program_attr(program, size)->b];
        keel_str_t text = keel_program_str(program, keel_program_attr(program, name)->a);
        keel_buffer_format(&buffer, "%s%.*s=%lld", i ? ", " : "", (int)text.size, text.data,
                           (long long)number);
        if (number > 0 && *out_size < INT32_MAX && number < INT32_MAX) *out_size *= number;
    }
    const char *text = keel_diff_text(diff, "%s", keel_buffer_cstr(&buffer));
    diff->lacks_memory = diff->lacks_memory || buffer.failed;
    keel_buffer_deinitialize(&buffer);
    return text;
}

// Shardings only name their mesh. A mesh of another size, or with other axes or devices, is a
// difference of its own.
static keel_status_t compare_mesh(keel_diff_t *diff, keel_groups_t *groups, keel_str_t name,
                                  keel_attr_id_t before, keel_attr_id_t after) {
    int64_t had, has;
    const char *old_text = mesh_text(diff, diff->before.program, before, &had);
    const char *new_text = mesh_text(diff, diff->after.program, after, &has);
    // "mesh" is what JAX calls one that the user has given no name.
    const char *subject = keel_str_is(name, "mesh")
                              ? "mesh of devices"
                              : keel_diff_text(diff, "mesh %.*s", (int)name.size, name.data);
    keel_difference_t difference =
        keel_diff_of_call(diff, KEEL_CAUSE_SHARDING, subject, old_text, new_text);
    if (had != has) {
        difference.kind = KEEL_CAUSE_DEVICES;
        difference.note = keel_diff_text(diff, "%s -> %s", old_text, new_text);
        difference.old_value = keel_diff_text(diff, "%lld", (long long)had);
        difference.new_value = keel_diff_text(diff, "%lld", (long long)has);
    } else if (strcmp(old_text, new_text) == 0) {
        difference.kind = KEEL_CAUSE_DEVICES;
        keel_diff_attrs(diff, before, after, &difference);
    }
    uint32_t root;
    KEEL_TRY(keel_groups_add(diff, groups, 0, &difference, &root));
    if (difference.kind == KEEL_CAUSE_DEVICES && had != has) {
        diff->roots[root].before = (double)had;
        diff->roots[root].after = (double)has;
    }
    return NULL;
}

static keel_status_t compare_meshes(keel_diff_t *diff, keel_groups_t *groups) {
    enum { MESHES = 64 }; // each is searched for in the whole other program
    keel_str_t name;
    keel_attr_id_t after;
    uint32_t count = 0;
    for (keel_op_id_t from = 0;
         count++ < MESHES && (after = mesh_named(&diff->after, 0, &name, &from)) != KEEL_NONE;) {
        keel_op_id_t at = 0;
        keel_str_t other;
        keel_attr_id_t before =
            mesh_named(&diff->before, keel_quick_hash(keel_str_bytes(name)), &other, &at);
        if (before != KEEL_NONE && keel_graph_attr_hash(&diff->before, before) !=
                                       keel_graph_attr_hash(&diff->after, after))
            KEEL_TRY(compare_mesh(diff, groups, name, before, after));
    }
    return NULL;
}

keel_status_t keel_diff_signature(keel_diff_t *diff, const keel_sources_t *sources) {
    KEEL_TRY(list_arguments(&diff->before, &diff->arguments_before, &diff->before_count));
    KEEL_TRY(list_arguments(&diff->after, &diff->arguments_after, &diff->after_count));
    KEEL_TRY(keel_arguments_name(diff));
    bool is_hlo = diff->before.program->format == KEEL_FORMAT_HLO &&
                  diff->after.program->format == KEEL_FORMAT_HLO;
    if (is_hlo || keel_parameters_have_no_order(diff)) {
        KEEL_TRY(keel_parameters_pair(diff));
        if (is_hlo) KEEL_TRY(keel_parameters_part(diff, sources));
    } else {
        KEEL_TRY(keel_diff_pair_lists(diff));
        KEEL_TRY(pair_by_name(diff));
        keel_diff_pair_moved(diff);
        pair_the_rest(diff);
    }
    keel_groups_t groups = {.count = 0};
    for (uint32_t j = 0; j < diff->after_count; ++j) {
        uint32_t i = diff->arguments_after[j].counterpart;
        if (i == KEEL_NONE) continue;
        KEEL_TRY(compare_types(diff, &groups, i, j));
        KEEL_TRY(compare_attributes(diff, &groups, i, j));
    }
    KEEL_TRY(tell_all_unpaired(diff, &groups));
    fold_replaced(diff);
    KEEL_TRY(keel_diff_weak_columns(diff));
    KEEL_TRY(keel_diff_dropped(diff));
    KEEL_TRY(compare_meshes(diff, &groups));
    KEEL_TRY(compare_results(diff, &groups));
    fold_by_size(diff, &groups);
    keel_groups_tell(diff, &groups);
    return NULL;
}
