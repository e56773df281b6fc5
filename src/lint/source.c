#include "lint/source.h"

#include <stdlib.h>

bool source_keep(source_t *source, keel_status_t status) {
    if (!status) return true;
    if (source->status)
        keel_status_ignore(status);
    else
        source->status = status;
    return false;
}

#define ADD(source, list, item)                                                                    \
    (source_keep(source, keel_grow_array((source)->list##_count, sizeof *(source)->list##s,        \
                                         &(source)->list##_capacity, (void **)&(source)->list##s)) \
         ? ((source)->list##s[(source)->list##_count++] = (item), true)                            \
         : false)

bool source_may_visit(source_t *source, size_t count) {
    if (source->budget < count) return false;
    source->budget -= count;
    return true;
}

bool source_may_search(source_t *source, uint32_t node) {
    return source_may_visit(source, source_node(source, node)->end - node);
}

// ---- names -------------------------------------------------------------------------------------

static uint32_t intern(source_t *source, keel_str_t text) {
    uint64_t *known = keel_map_find(&source->known, keel_str_bytes(text));
    if (known) return (uint32_t)*known;
    if (!source_keep(source,
                     keel_map_put(&source->known, keel_str_bytes(text), source->name_count)))
        return KEEL_NONE;
    return source->name_count++;
}

uint32_t source_name(const source_t *source, const char *text) {
    uint64_t *known = keel_map_find(&source->known, keel_str_bytes(keel_str(text)));
    return known ? (uint32_t)*known : KEEL_NONE;
}

bool source_is_named(const source_t *source, uint32_t node, const char *text) {
    return node != KEEL_NONE && source_node(source, node)->name != KEEL_NONE &&
           keel_str_is(keel_py_name(&source->tree, node), text);
}

uint32_t source_name_of(const source_t *source, uint32_t node) {
    uint32_t token = source_node(source, node)->name;
    return token == KEEL_NONE ? KEEL_NONE : source->names[token];
}

static keel_status_t read_names(source_t *source) {
    void *memory;
    const keel_py_tree_t *tree = &source->tree;
    KEEL_TRY(keel_arena_array(&source->arena, tree->token_count, sizeof(uint32_t), &memory));
    source->names = memory;
    for (uint32_t i = 0; i < tree->token_count; ++i)
        source->names[i] = tree->tokens[i].kind == KEEL_PY_T_NAME
                               ? intern(source, keel_py_token_text(tree, i))
                               : KEEL_NONE;
    return NULL;
}

// ---- imports -----------------------------------------------------------------------------------

static void add_import(source_t *source, keel_str_t name, keel_str_t full) {
    import_t import = {.name = intern(source, name)};
    if (!source_keep(source, keel_arena_str(&source->arena, full, &import.full))) return;
    source->imports_jax |= keel_str_starts(full, KEEL_STR("jax"));
    source->imports_torch |= keel_str_starts(full, KEEL_STR("torch"));
    source->imports_xla |= keel_str_starts(full, KEEL_STR("torch_xla")) ||
                           keel_str_starts(full, KEEL_STR("torch_tpu"));
    ADD(source, import, import);
}

static void read_import(source_t *source, uint32_t node) {
    const keel_py_tree_t *tree = &source->tree;
    bool is_from = source_node(source, node)->kind == KEEL_PY_IMPORT_FROM;
    keel_buffer_t full, module;
    keel_buffer_initialize(&full, 0);
    keel_buffer_initialize(&module, 0);
    if (is_from) {
        for (uint32_t i = keel_py_level(tree, node); i; --i)
            keel_buffer_byte(&module, '.');
        keel_py_dotted(tree, node, &module);
    }
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(tree, node, KEEL_PY_F_NAMES, at)) != KEEL_NONE;) {
        full.size = 0;
        if (is_from) {
            keel_buffer_str(&full, keel_bytes_str(keel_buffer_bytes(&module)));
            keel_buffer_byte(&full, '.');
        }
        keel_py_dotted(tree, at, &full);
        if (!full.size || full.failed || module.failed) break;
        keel_str_t text = keel_bytes_str(keel_buffer_bytes(&full)), as = keel_py_as(tree, at);
        if (!as.size && !is_from) { // `import a.b` binds a
            const char *dot = memchr(text.data, '.', text.size);
            if (dot) text.size = (size_t)(dot - text.data);
            as = text;
        }
        if (!as.size) as = keel_py_name(tree, at);
        add_import(source, as, text);
    }
    source_keep(source, keel_buffer_status(&full));
    source_keep(source, keel_buffer_status(&module));
    keel_buffer_deinitialize(&full);
    keel_buffer_deinitialize(&module);
}

static const import_t *find_import(const source_t *source, uint32_t name) {
    for (size_t i = source->import_count; i-- > 0;)
        if (source->imports[i].name == name) return &source->imports[i];
    return NULL;
}

// ---- functions ---------------------------------------------------------------------------------

static bool is_function(unsigned kind) {
    return kind == KEEL_PY_FUNCTION_DEF || kind == KEEL_PY_ASYNC_FUNCTION_DEF ||
           kind == KEEL_PY_LAMBDA;
}

// What an annotation says: HOST, ARRAY, or UNKNOWN if it leaves that open.
static uint8_t kind_of_annotation(const source_t *source, uint32_t node) {
    static const char *const arrays[] = {"Tensor",    "LongTensor", "FloatTensor", "BoolTensor",
                                         "IntTensor", "Array",      "ndarray",     "ArrayLike",
                                         "Float",     "FloatArray", "KerasTensor", NULL};
    static const char *const others[] = {
        "int",        "str",    "bool",     "float", "Callable", "Sequence", "list",  "List",
        "tuple",      "Tuple",  "dict",     "Dict",  "Mapping",  "Union",    "Any",   "ArrayLike",
        "TensorLike", "Scalar", "Iterable", "np",    "numpy",    "onp",      "Cache", NULL};
    bool is_array = false, is_other = false;
    const keel_py_node_t *is = source_node(source, node);
    if (is->kind == KEEL_PY_CONSTANT && is->op == KEEL_PY_O_STR) { // "Array"
        keel_str_t text = keel_py_token_text(&source->tree, is->first_token);
        for (const char *const *name = arrays; *name; ++name)
            if (text.size == strlen(*name) + 2 && memcmp(text.data + 1, *name, text.size - 2) == 0)
                return KIND_ARRAY;
    }
    for (uint32_t i = is->first_token; i < is->end_token; ++i) {
        if (source->tree.tokens[i].kind != KEEL_PY_T_NAME) continue;
        keel_str_t text = keel_py_token_text(&source->tree, i);
        is_array |= keel_str_is_one_of(text, arrays);
        is_other |= keel_str_is_one_of(text, others);
    }
    if (is_array) return is_other ? KIND_UNKNOWN : KIND_ARRAY;
    return KIND_HOST; // a number, a configuration, a container
}

static bool has_none(const source_t *source, uint32_t node) {
    for (uint32_t at = node; at < source_node(source, node)->end; ++at)
        if (source_is_constant(source, at, KEEL_PY_O_NONE)) return true;
    return false;
}

static void add_parameters(source_t *source, function_t *function) {
    const keel_py_tree_t *tree = &source->tree;
    uint32_t list = keel_py_child(tree, function->node, KEEL_PY_F_ARGS, KEEL_NONE);
    function->first_parameter = (uint32_t)source->parameter_count;
    if (list == KEEL_NONE) return;
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(tree, list, KEEL_PY_F_NOTHING, at)) != KEEL_NONE;) {
        if (tree->nodes[at].kind != KEEL_PY_ARG) continue;
        parameter_t parameter = {
            .node = at, .name = source_name_of(source, at), .how = tree->nodes[at].field};
        uint32_t annotation = source_child(source, at, KEEL_PY_F_ANNOTATION),
                 value = source_child(source, at, KEEL_PY_F_DEFAULT);
        if (annotation != KEEL_NONE) parameter.own = kind_of_annotation(source, annotation);
        // None stands for an array that may be absent.
        parameter.has_constant =
            value != KEEL_NONE && !source_is_constant(source, value, KEEL_PY_O_NONE);
        if (parameter.has_constant && parameter.own == KIND_UNKNOWN) parameter.own = KIND_HOST;
        static const char *const options[] = {"Optional", NULL};
        parameter.may_be_none =
            (value != KEEL_NONE && !parameter.has_constant) ||
            (annotation != KEEL_NONE &&
             (source_mentions(source, annotation, options) || has_none(source, annotation)));
        if (!ADD(source, parameter, parameter)) return;
        ++function->parameter_count;
    }
}

static bool is_static_method(const source_t *source, uint32_t node) {
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&source->tree, node, KEEL_PY_F_DECORATOR_LIST, at)) != KEEL_NONE;)
        if (source_is_named(source, at, "staticmethod")) return true;
    return false;
}

static uint32_t add_function(source_t *source, uint32_t node, uint32_t parent,
                             uint32_t class_node) {
    const keel_py_node_t *is = source_node(source, node);
    function_t function = {.node = node,
                           .parent = parent,
                           .class_node = class_node,
                           .name = is->kind == KEEL_PY_MODULE ? KEEL_NONE
                                                              : source_name_of(source, node),
                           .same = KEEL_NONE,
                           .is_dirty = true,
                           .is_static = is_static_method(source, node)};
    if (is->kind != KEEL_PY_MODULE) add_parameters(source, &function);
    uint32_t number = (uint32_t)source->function_count;
    if (function.name != KEEL_NONE) {
        function.same = source->by_name[function.name];
        source->by_name[function.name] = number;
    }
    ADD(source, function, function);
    return number;
}

static void bind(source_t *source, uint32_t function, uint32_t name) {
    slot_t slot = {.function = function,
                   .name = name,
                   .value = KEEL_NONE,
                   .stores = 1,
                   .is = {.function = KEEL_NONE, .jit = KEEL_NONE}};
    if (name != KEEL_NONE) ADD(source, slot, slot);
}

// Functions, their parameters, what they bind, and which of them each node is in.
static void read_scopes(source_t *source) {
    const keel_py_tree_t *tree = &source->tree;
    add_function(source, 0, KEEL_NONE, KEEL_NONE);
    for (uint32_t node = 0; node < tree->node_count && !source->status; ++node) {
        const keel_py_node_t *is = &tree->nodes[node];
        uint32_t parent = is->parent, scope = node ? source->scopes[parent] : 0,
                 class_node = node ? source->classes[parent] : KEEL_NONE;
        if (node && is_function(tree->nodes[parent].kind)) {
            scope = source_function_at(source, parent);
            class_node = KEEL_NONE;
            // Decorators and what a function returns are read outside of it.
            if (is->field == KEEL_PY_F_DECORATOR_LIST || is->field == KEEL_PY_F_RETURNS) {
                scope = source->scopes[parent];
                class_node = source->classes[parent];
            }
        } else if (node && tree->nodes[parent].kind == KEEL_PY_CLASS_DEF &&
                   is->field == KEEL_PY_F_BODY) {
            class_node = parent;
        }
        source->scopes[node] = scope;
        source->classes[node] = class_node;
        bool is_free = class_node == KEEL_NONE;
        if (is_function(is->kind)) {
            add_function(source, node, scope, is->kind == KEEL_PY_LAMBDA ? KEEL_NONE : class_node);
            if (is->kind != KEEL_PY_LAMBDA && is_free)
                bind(source, scope, source_name_of(source, node));
        } else if (is->kind == KEEL_PY_CLASS_DEF && is_free) {
            bind(source, scope, source_name_of(source, node));
        } else if (is->kind == KEEL_PY_NAME && is->op == KEEL_PY_O_STORE && is_free) {
            bind(source, scope, source_name_of(source, node));
        } else if (is->kind == KEEL_PY_ARG) {
            bind(source, scope, source_name_of(source, node));
        } else if (is->kind == KEEL_PY_IMPORT || is->kind == KEEL_PY_IMPORT_FROM) {
            read_import(source, node);
        }
    }
}

static int order_slots(const void *a, const void *b) {
    const slot_t *one = a, *other = b;
    if (one->function != other->function) return one->function < other->function ? -1 : 1;
    if (one->name != other->name) return one->name < other->name ? -1 : 1;
    return 0;
}

static void sort_slots(source_t *source) {
    size_t kept = 0;
    if (source->slot_count)
        qsort(source->slots, source->slot_count, sizeof *source->slots, order_slots);
    for (size_t i = 0; i < source->slot_count; ++i) {
        slot_t *slot = &source->slots[i];
        if (kept && order_slots(&source->slots[kept - 1], slot) == 0) {
            ++source->slots[kept - 1].stores;
            continue;
        }
        function_t *function = &source->functions[slot->function];
        if (!function->slot_count++) function->first_slot = (uint32_t)kept;
        source->slots[kept++] = *slot;
    }
    source->slot_count = kept;
}

keel_status_t source_read(keel_str_t text, const keel_lint_options_t *options, source_t *out) {
    void *memory;
    enum { BUDGET = 1 << 26 };
    *out = (source_t){.options = options, .budget = BUDGET};
    keel_arena_initialize(&out->arena, 0);
    keel_map_initialize(&out->known);
    keel_map_initialize(&out->index);
    KEEL_TRY(keel_py_read(text, &out->tree));
    KEEL_TRY(read_names(out));
    KEEL_TRY(keel_arena_array(&out->arena, out->tree.node_count, sizeof(uint32_t), &memory));
    out->scopes = memory;
    KEEL_TRY(keel_arena_array(&out->arena, out->tree.node_count, sizeof(uint32_t), &memory));
    out->classes = memory;
    KEEL_TRY(keel_arena_array(&out->arena, out->tree.node_count, sizeof(value_t), &memory));
    out->values = memory;
    for (uint32_t i = 0; i < out->tree.node_count; ++i)
        out->values[i] = (value_t){.function = KEEL_NONE, .jit = KEEL_NONE};
    KEEL_TRY(keel_arena_array(&out->arena, (size_t)out->name_count + 1, sizeof(uint32_t), &memory));
    out->by_name = memory;
    memset(out->by_name, 0xff, ((size_t)out->name_count + 1) * sizeof(uint32_t));
    read_scopes(out);
    if (!out->status) sort_slots(out);
    keel_status_t status = out->status;
    out->status = NULL;
    return status;
}

void source_deinitialize(source_t *source) {
    keel_py_deinitialize(&source->tree);
    keel_map_deinitialize(&source->known);
    keel_map_deinitialize(&source->index);
    keel_arena_deinitialize(&source->arena);
    keel_free(source->imports);
    keel_free(source->functions);
    keel_free(source->parameters);
    keel_free(source->slots);
    keel_free(source->jits);
    keel_free(source->attributes);
    keel_free(source->found);
    keel_status_ignore(source->status);
}

// ---- looking up --------------------------------------------------------------------------------

slot_t *source_own_slot(const source_t *source, uint32_t function, uint32_t name) {
    const function_t *is = &source->functions[function];
    size_t low = is->first_slot, high = low + is->slot_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (source->slots[middle].name == name) return &source->slots[middle];
        if (source->slots[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

slot_t *source_slot(const source_t *source, uint32_t function, uint32_t name) {
    for (uint32_t at = function; at != KEEL_NONE; at = source->functions[at].parent) {
        slot_t *slot = source_own_slot(source, at, name);
        if (slot) return slot;
    }
    return NULL;
}

const parameter_t *source_parameter(const source_t *source, uint32_t function, uint32_t name) {
    const function_t *is = &source->functions[function];
    for (uint32_t i = 0; i < is->parameter_count; ++i)
        if (source->parameters[is->first_parameter + i].name == name)
            return &source->parameters[is->first_parameter + i];
    return NULL;
}

uint32_t source_function(const source_t *source, uint32_t from, uint32_t name) {
    if (name == KEEL_NONE) return KEEL_NONE;
    for (uint32_t scope = from; scope != KEEL_NONE; scope = source->functions[scope].parent)
        for (uint32_t at = source->by_name[name]; at != KEEL_NONE; at = source->functions[at].same)
            if (source->functions[at].parent == scope &&
                source->functions[at].class_node == KEEL_NONE)
                return at;
    return KEEL_NONE;
}

uint32_t source_method(const source_t *source, uint32_t class_node, uint32_t name) {
    if (name == KEEL_NONE || class_node == KEEL_NONE) return KEEL_NONE;
    for (uint32_t at = source->by_name[name]; at != KEEL_NONE; at = source->functions[at].same)
        if (source->functions[at].class_node == class_node) return at;
    return KEEL_NONE;
}

bool source_has_self(const source_t *source, uint32_t function) {
    const function_t *is = &source->functions[function];
    return is->class_node != KEEL_NONE && !is->is_static;
}

uint32_t source_class(const source_t *source, uint32_t function) {
    for (uint32_t at = function; at != KEEL_NONE; at = source->functions[at].parent)
        if (source->functions[at].class_node != KEEL_NONE) return source->functions[at].class_node;
    return KEEL_NONE;
}

uint32_t source_function_at(const source_t *source, uint32_t node) {
    size_t low = 0, high = source->function_count; // in the order of their nodes
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (source->functions[middle].node == node) return (uint32_t)middle;
        if (source->functions[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return KEEL_NONE;
}

static keel_str_t full_name_of_name(const source_t *source, uint32_t function, uint32_t node) {
    uint32_t name = source_name_of(source, node);
    const import_t *import = find_import(source, name);
    const slot_t *slot = source_slot(source, function, name);
    // `except ImportError: jnp = None` leaves it an import.
    if (slot && (slot->function || !import)) return KEEL_STR("");
    return import ? import->full : keel_py_name(&source->tree, node);
}

keel_str_t source_full_name(const source_t *source, uint32_t function, uint32_t node,
                            char *memory) {
    enum { DEEPEST = 8 };
    uint32_t parts[DEEPEST], count = 0, at = node;
    while (source_node(source, at)->kind == KEEL_PY_ATTRIBUTE && count < DEEPEST) {
        parts[count++] = at;
        at = source_child(source, at, KEEL_PY_F_VALUE);
    }
    if (source_node(source, at)->kind != KEEL_PY_NAME) return KEEL_STR("");
    keel_str_t text = full_name_of_name(source, function, at);
    size_t size = text.size;
    if (!size || size > SOURCE_LONGEST) return KEEL_STR("");
    memcpy(memory, text.data, size);
    while (count) {
        keel_str_t part = keel_py_name(&source->tree, parts[--count]);
        if (part.size + 1 > SOURCE_LONGEST - size) return KEEL_STR("");
        memory[size++] = '.';
        memcpy(memory + size, part.data, part.size);
        size += part.size;
    }
    return (keel_str_t){memory, size};
}

word_t source_word(const source_t *source, uint32_t function, uint32_t node) {
    char memory[SOURCE_LONGEST];
    return keel_lint_word(source_full_name(source, function, node, memory));
}

typedef struct index_key_t {
    uint32_t a, b;
} index_key_t;

static uint64_t *find_index(const source_t *source, const index_key_t *key) {
    return keel_map_find(&source->index, keel_bytes(key, sizeof *key));
}

static bool put_index(source_t *source, const index_key_t *key, uint64_t value) {
    return source_keep(source, keel_map_put(&source->index, keel_bytes(key, sizeof *key), value));
}

attribute_t *source_attribute(source_t *source, uint32_t class_node, uint32_t name, bool make) {
    const index_key_t key = {class_node, name};
    const uint64_t *known = find_index(source, &key);
    if (known) return &source->attributes[*known];
    attribute_t attribute = {.jit = KEEL_NONE};
    if (!make || name == KEEL_NONE || !ADD(source, attribute, attribute) ||
        !put_index(source, &key, source->attribute_count - 1))
        return NULL;
    return &source->attributes[source->attribute_count - 1];
}

uint32_t source_add_jit(source_t *source, const jit_t *jit) {
    const index_key_t key = {jit->node, KEEL_NONE}; // no name
    const uint64_t *known = find_index(source, &key);
    if (known) {
        source->jits[*known] = *jit;
        return (uint32_t)*known;
    }
    if (!ADD(source, jit, *jit) || !put_index(source, &key, source->jit_count - 1))
        return KEEL_NONE;
    return (uint32_t)source->jit_count - 1;
}

uint32_t source_keyword(const source_t *source, uint32_t call, const char *name) {
    for (uint32_t at = KEEL_NONE;
         (at = keel_py_child(&source->tree, call, KEEL_PY_F_KEYWORDS, at)) != KEEL_NONE;)
        if (source_is_named(source, at, name)) return source_child(source, at, KEEL_PY_F_VALUE);
    return KEEL_NONE;
}

uint32_t source_argument(const source_t *source, uint32_t call, uint32_t after) {
    return keel_py_child(&source->tree, call, KEEL_PY_F_ARGS, after);
}

bool source_is_bare(const source_t *source, uint32_t call) {
    return source_argument(source, call, KEEL_NONE) == KEEL_NONE;
}

bool source_mentions(const source_t *source, uint32_t node, const char *const *parts) {
    const keel_py_node_t *is = source_node(source, node);
    for (uint32_t i = is->first_token; i < is->end_token; ++i) {
        unsigned kind = source->tree.tokens[i].kind;
        if (kind != KEEL_PY_T_NAME && kind != KEEL_PY_T_STRING) continue;
        for (const char *const *part = parts; *part; ++part)
            if (keel_str_contains(keel_py_token_text(&source->tree, i), *part)) return true;
    }
    return false;
}

bool source_is_constant(const source_t *source, uint32_t node, keel_py_op_t op) {
    const keel_py_node_t *is = source_node(source, node);
    return is->kind == KEEL_PY_CONSTANT && is->op == op;
}
