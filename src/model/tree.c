// Named variables. A leaf never moves in the order, so its number is its name's number too.
#include "model/model.h"

#include <stdarg.h>
#include <stdio.h>

static const uint64_t NO_LEAF = UINT64_MAX;

// ---- life --------------------------------------------------------------------------------------

keel_status_t keel_tree_create(keel_context_t *context, keel_tree_t **out) {
    void *memory;
    if (!out) return keel_status_make(KEEL_INVALID, "keel_tree_create: no place for the tree");
    *out = NULL;
    if (!context) return keel_status_make(KEEL_INVALID, "keel_tree_create: no context");
    KEEL_TRY(keel_calloc(1, sizeof(keel_tree_t), &memory));
    *out = memory;
    (*out)->context = context;
    keel_map_initialize(&(*out)->places);
    return NULL;
}

void tree_drop(keel_tree_t *tree, size_t left) {
    while (tree->leaves.count > left) {
        leaf_t *leaf = &tree->leaves.data[--tree->leaves.count];
        *keel_map_find(&tree->places, keel_str_bytes(keel_str(leaf->name))) = NO_LEAF;
        keel_release(leaf->tensor);
        keel_free(leaf->name);
    }
}

void keel_tree_free(keel_tree_t *tree) {
    if (!tree) return;
    tree_drop(tree, 0);
    keel_free(tree->leaves.data);
    keel_free(tree->scopes.data);
    keel_map_deinitialize(&tree->places);
    keel_free(tree);
}

// ---- names -------------------------------------------------------------------------------------

static bool is_name(const char *name) {
    if (!name || !*name) return false;
    for (; *name; ++name)
        if (*name < 0x21 || *name > 0x7e || *name == '*') return false;
    return true;
}

static void fail(keel_tree_t *tree, keel_caller_t site, keel_status_t status) {
    keel_tensor_fail(tree->context, site, status);
}

// What a step entered and an early return left open ends with the step.
static void end_scopes(keel_tree_t *tree) {
    const uint32_t step = keel_tensor_step(tree->context);
    if (tree->step != step) tree->scopes.count = tree->scope[0] = 0;
    tree->step = step;
}

// Appends a name to those that new ones are below. False, with an error, if it cannot be one.
static bool join(keel_tree_t *tree, keel_caller_t site, const char *name, char out[MAX_NAME + 1]) {
    if (!is_name(name)) {
        fail(tree, site,
             keel_status_make(KEEL_INVALID,
                              "tree: \"%s\" is not a name: printable ASCII without spaces and '*'",
                              name ? name : ""));
        return false;
    }
    end_scopes(tree);
    int size = snprintf(out, MAX_NAME + 1, "%s%s", tree->scope, name);
    if (size <= MAX_NAME) return true;
    fail(tree, site,
         keel_status_make(KEEL_INVALID, "tree: %s%s is longer than %d bytes", tree->scope, name,
                          MAX_NAME));
    return false;
}

void keel_tree_enter_at(keel_caller_t site, keel_tree_t *tree, const char *format, ...) {
    char name[MAX_NAME + 1], whole[MAX_NAME + 1];
    va_list arguments;
    if (!tree || !format) return;
    va_start(arguments, format);
    int size = vsnprintf(name, sizeof name - 1, format, arguments);
    va_end(arguments);
    end_scopes(tree);
    uint32_t begin = (uint32_t)strlen(tree->scope);
    keel_status_t status = keel_table_reserve(&tree->scopes, 1);
    if (status) {
        fail(tree, site, status);
        return;
    }
    // Entered all the same, so that leaving it leaves it and not another one.
    tree->scopes.data[tree->scopes.count++] = begin;
    if (size < 0 || size >= (int)sizeof name - 1) name[0] = 0;
    if (name[0]) snprintf(name + size, 2, ".");
    if (join(tree, site, name, whole)) snprintf(tree->scope, sizeof tree->scope, "%s", whole);
}

void keel_tree_leave_at(keel_caller_t site, keel_tree_t *tree) {
    if (!tree) return;
    end_scopes(tree);
    if (tree->scopes.count)
        tree->scope[tree->scopes.data[--tree->scopes.count]] = 0;
    else
        fail(tree, site,
             keel_status_make(KEEL_INVALID, "tree: left more often than entered in this step"));
}

const leaf_t *tree_find(const keel_tree_t *tree, keel_str_t name) {
    const uint64_t *place = keel_map_find(&tree->places, keel_str_bytes(name));
    return place && *place != NO_LEAF ? &tree->leaves.data[*place] : NULL;
}

keel_tensor_t keel_tree_get_at(keel_caller_t site, keel_tree_t *tree, const char *name) {
    char whole[MAX_NAME + 1];
    if (!tree || !join(tree, site, name, whole)) return (keel_tensor_t){0};
    const leaf_t *leaf = tree_find(tree, keel_str(whole));
    if (leaf) return leaf->tensor;
    return keel_tensor_fail(tree->context, site,
                            keel_status_make(KEEL_INVALID, "tree: there is no %s", whole));
}

// ---- leaves ------------------------------------------------------------------------------------

static keel_status_t keep(keel_tree_t *tree, const char *name, const leaf_t *leaf) {
    KEEL_TRY(keel_table_reserve(&tree->leaves, 1));
    leaf_t *kept = &tree->leaves.data[tree->leaves.count];
    *kept = *leaf;
    KEEL_TRY(keel_strdup(keel_str(name), &kept->name));
    keel_status_t status =
        keel_map_put(&tree->places, keel_str_bytes(keel_str(name)), tree->leaves.count);
    if (status)
        keel_free(kept->name);
    else
        ++tree->leaves.count;
    return status;
}

// False, with an error, if no checkpoint could have it.
static bool can_be_leaf(keel_tree_t *tree, keel_caller_t site, const char *name,
                        keel_dtype_t dtype) {
    if (!keel_tensor_is_complex(dtype)) return true;
    fail(tree, site,
         keel_status_make(KEEL_INVALID,
                          "tree: %s is %s, which checkpoints do not have; keep its real and its "
                          "imaginary part",
                          name ? name : "", keel_dtype_text(dtype)));
    return false;
}

// False, with an error, if the name is taken.
static bool is_new(keel_tree_t *tree, keel_caller_t site, const char *name) {
    if (!tree_find(tree, keel_str(name))) return true;
    fail(tree, site, keel_status_make(KEEL_INVALID, "tree: there is a %s already", name));
    return false;
}

static keel_tensor_t add_leaf(keel_caller_t site, keel_tree_t *tree, const char *name,
                              keel_dtype_t dtype, keel_shape_t shape, const leaf_t *like) {
    char whole[MAX_NAME + 1];
    leaf_t leaf = *like;
    if (!tree || !join(tree, site, name, whole) || !is_new(tree, site, whole) ||
        !can_be_leaf(tree, site, whole, dtype))
        return (keel_tensor_t){0};
    leaf.tensor = keel_variable_at(site, tree->context, whole, dtype, shape, NULL);
    if (keel_is_empty(leaf.tensor)) return leaf.tensor;
    keel_status_t status = keep(tree, whole, &leaf);
    if (!status) return leaf.tensor;
    keel_release(leaf.tensor);
    return keel_tensor_fail(tree->context, site, status);
}

// False, with an error, if it is not of floats.
static bool can_be_parameter(keel_tree_t *tree, keel_caller_t site, const char *name,
                             keel_dtype_t dtype) {
    if (keel_tensor_is_float(dtype)) return true;
    fail(tree, site,
         keel_status_make(KEEL_INVALID,
                          "tree: %s is %s, and a parameter is of floats; make it state",
                          name ? name : "", keel_dtype_text(dtype)));
    return false;
}

keel_tensor_t keel_tree_add_at(keel_caller_t site, keel_tree_t *tree, const char *name,
                               keel_dtype_t dtype, keel_shape_t shape, keel_init_t init) {
    if (!tree || !can_be_parameter(tree, site, name, dtype)) return (keel_tensor_t){0};
    return add_leaf(site, tree, name, dtype, shape, &(leaf_t){.init = init});
}

keel_tensor_t keel_tree_state_at(keel_caller_t site, keel_tree_t *tree, const char *name,
                                 keel_dtype_t dtype, keel_shape_t shape, keel_init_t init) {
    return add_leaf(site, tree, name, dtype, shape, &(leaf_t){.init = init, .is_state = true});
}

static bool holds(const keel_tree_t *tree, keel_tensor_t tensor) {
    for (uint32_t i = 0; i < tree->leaves.count; ++i)
        if (tree->leaves.data[i].tensor.id == tensor.id) return true;
    return false;
}

void keel_tree_put_at(keel_caller_t site, keel_tree_t *tree, const char *name,
                      keel_tensor_t variable, int is_state) {
    char whole[MAX_NAME + 1];
    if (!tree || !join(tree, site, name, whole) || !is_new(tree, site, whole)) return;
    if (!keel_tensor_is_variable(variable) || variable.context != tree->context ||
        holds(tree, variable)) {
        fail(tree, site,
             keel_status_make(KEEL_INVALID,
                              "tree: %s is not a variable of its context, or is in it already",
                              whole));
        return;
    }
    if (!can_be_leaf(tree, site, whole, keel_dtype(variable))) return;
    if (!is_state && !can_be_parameter(tree, site, whole, keel_dtype(variable))) return;
    fail(tree, site, keep(tree, whole, &(leaf_t){.tensor = variable, .is_state = is_state}));
}

size_t keel_tree_count(const keel_tree_t *tree) {
    return tree ? tree->leaves.count : 0;
}

keel_leaf_t keel_tree_leaf(const keel_tree_t *tree, size_t index) {
    if (!tree || index >= tree->leaves.count) return (keel_leaf_t){0};
    const leaf_t *leaf = &tree->leaves.data[index];
    return (keel_leaf_t){leaf->name, leaf->tensor, leaf->is_state};
}

// ---- which of them -----------------------------------------------------------------------------

// Linear in the name for each '*': the last one is the only one to go back to.
int keel_is_named(const keel_leaf_t *leaf, const void *pattern) {
    const char *p = (const char *)pattern, *name = leaf->name, *star = NULL, *behind = NULL;
    if (!p) return 0;
    while (*name) {
        if (*p == '*') {
            star = ++p;
            behind = name;
        } else if (*p == *name) {
            ++p;
            ++name;
        } else if (star) {
            p = star;
            name = ++behind;
        } else {
            return 0;
        }
    }
    while (*p == '*')
        ++p;
    return !*p;
}

int keel_is_parameter(const keel_leaf_t *leaf, const void *unused) {
    (void)unused;
    return !leaf->is_state;
}

int keel_is_matrix(const keel_leaf_t *leaf, const void *unused) {
    return keel_is_parameter(leaf, unused) && keel_shape(leaf->tensor).rank >= 2;
}

size_t keel_tree_select(const keel_tree_t *tree, keel_filter_t filter, const void *data,
                        keel_tensor_t *out, size_t room) {
    size_t count = 0;
    for (size_t i = 0; i < keel_tree_count(tree); ++i) {
        const keel_leaf_t leaf = keel_tree_leaf(tree, i);
        if (filter && !filter(&leaf, data)) continue;
        if (out && count < room) out[count] = leaf.tensor;
        ++count;
    }
    return count;
}

uint64_t keel_tree_elements(const keel_tree_t *tree, keel_filter_t filter, const void *data) {
    uint64_t sum = 0, bytes;
    for (size_t i = 0; i < keel_tree_count(tree); ++i) {
        const keel_leaf_t leaf = keel_tree_leaf(tree, i);
        const keel_shape_t shape = keel_shape(leaf.tensor);
        if (filter && !filter(&leaf, data)) continue;
        if (keel_tensor_bytes(KEEL_U8, &shape, &bytes)) sum += bytes;
    }
    return sum;
}

size_t keel_tree_place_at(keel_caller_t site, keel_tree_t *tree, keel_filter_t filter,
                          const void *data, keel_spec_t spec) {
    size_t count = 0;
    for (size_t i = 0; i < keel_tree_count(tree); ++i) {
        const keel_leaf_t leaf = keel_tree_leaf(tree, i);
        if (filter && !filter(&leaf, data)) continue;
        keel_place_at(site, leaf.tensor, spec);
        ++count;
    }
    return count;
}

void keel_tree_initialize_at(keel_caller_t site, keel_tree_t *tree, uint32_t seed) {
    for (size_t i = 0; i < keel_tree_count(tree); ++i) {
        const leaf_t *leaf = &tree->leaves.data[i];
        if (leaf->init.kind != KEEL_INIT_NONE)
            keel_assign_at(site, leaf->tensor, init_value(site, leaf, seed));
    }
}

void keel_add_to_at(keel_caller_t site, keel_tensor_t variable, keel_tensor_t value) {
    site = keel_tensor_part_of(site, "add_to");
    keel_tensor_t cast = keel_cast_at(site, value, keel_dtype(variable));
    keel_assign_at(site, variable, keel_binary_at(site, KEEL_OP_ADD, variable, cast));
}
