// What an argument that differs means to the user, which decides what can be done about it: a part
// of the model, or something that one of the two calls leaves out. Its name shows that, and so does
// what else changed.
#include <ctype.h>

#include "explain/diff.h"

enum { LEAST_OF_MODEL = 4 }; // arguments that drift together

// The next word of a name: "state", "params", "w" of "state.params['w']". Empty at the end.
static keel_str_t next_word(keel_str_t *rest) {
    size_t start = 0;
    while (start < rest->size && !isalnum((unsigned char)rest->data[start]) &&
           rest->data[start] != '_')
        ++start;
    size_t end = start;
    while (end < rest->size && (isalnum((unsigned char)rest->data[end]) || rest->data[end] == '_'))
        ++end;
    keel_str_t word = {rest->data + start, end - start};
    *rest = (keel_str_t){rest->data + end, rest->size - end};
    return word;
}

typedef enum role_t { UNKNOWN, MODEL, DATA } role_t;

static role_t role_of(keel_str_t name) {
    static const char *const models[] = {"model",   "models",    "params",    "param",
                                         "network", "net",       "variables", "parameters",
                                         "module",  "opt_state", "optimizer", "optim"};
    static const char *const data[] = {"batch",  "data", "inputs",   "tokens", "graph",
                                       "graphs", "x",    "examples", "cache",  "carry"};
    role_t role = UNKNOWN;
    keel_str_t rest = name;
    for (keel_str_t word = next_word(&rest); word.size; word = next_word(&rest)) {
        if (keel_str_is_among(word, data, sizeof data / sizeof *data)) return DATA;
        if (keel_str_is_among(word, models, sizeof models / sizeof *models)) role = MODEL;
    }
    return role;
}

// What layers call their weights. Gradients and sums of them have these names too, in any dtype.
static bool is_of_layer(keel_str_t name) {
    static const char *const weights[] = {"kernel", "bias"};
    keel_str_t rest = name, last = {NULL, 0};
    for (keel_str_t word = next_word(&rest); word.size; word = next_word(&rest))
        last = word;
    return keel_str_is_among(last, weights, sizeof weights / sizeof *weights);
}

// A field that optax's optimizers keep a part of their state in: "opt[0].mu['w']".
static bool is_of_optimizer(keel_str_t name) {
    static const char *const fields[] = {".mu", ".nu", ".trace", ".inner_state", ".inner_states"};
    for (size_t at = 0; at < name.size; ++at)
        for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
            keel_str_t rest = {name.data + at, name.size - at}, field = keel_str(fields[i]);
            if (keel_str_starts(rest, field) &&
                (rest.size == field.size || strchr(".[", rest.data[field.size])))
                return true;
        }
    return false;
}

// ---- the size of a model -----------------------------------------------------------------------

static bool is_below(keel_str_t name, keel_str_t tree) {
    return keel_str_starts(name, tree) &&
           (name.size == tree.size || name.data[tree.size] == '[' || name.data[tree.size] == '.');
}

// A batch changes in its first dimension, or all of it changes in a later one; layers of another
// width change in the first of some and in the last of others.
typedef struct moves_t {
    uint32_t moved, first_only, later_only;
} moves_t;

static void count_move(moves_t *moves, keel_ints_t was, keel_ints_t is) {
    if (!is.count || was.count != is.count) return;
    bool first = was.items[0] != is.items[0], later = false;
    for (uint32_t j = 1; j < is.count; ++j)
        later |= was.items[j] != is.items[j];
    moves->moved += first || later;
    moves->first_only += first && !later;
    moves->later_only += later && !first;
}

static bool are_of_layers(const moves_t *moves) {
    return moves->first_only && moves->later_only;
}

static bool moves_like_layers(const keel_diff_t *diff, keel_str_t name) {
    keel_str_t rest = name, tree = next_word(&rest);
    moves_t moves = {0, 0, 0};
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        const keel_argument_t *argument = &diff->arguments_after[i];
        if (argument->counterpart == KEEL_NONE || !is_below(argument->name, tree)) continue;
        keel_ints_t was = keel_diff_dims(diff->before.program,
                                         diff->arguments_before[argument->counterpart].type);
        count_move(&moves, was, keel_diff_dims(diff->after.program, argument->type));
    }
    return moves.moved >= LEAST_OF_MODEL && are_of_layers(&moves);
}

// A library's code makes a model: model.init.
static bool makes_model(const keel_diff_t *diff, const keel_difference_t *difference) {
    keel_list_t before = keel_diff_result_types(&diff->before);
    keel_list_t after = keel_diff_result_types(&diff->after);
    moves_t moves = {0, 0, 0};
    if (!difference->place.library_file || before.count != after.count) return false;
    for (uint32_t i = 0; i < after.count; ++i)
        count_move(&moves, keel_diff_dims(diff->before.program, before.items[i]),
                   keel_diff_dims(diff->after.program, after.items[i]));
    return are_of_layers(&moves);
}

// ---- what one call leaves out ------------------------------------------------------------------

static bool has_below(const keel_diff_t *diff, bool is_after, keel_str_t tree) {
    const keel_argument_t *list = is_after ? diff->arguments_after : diff->arguments_before;
    uint32_t count = is_after ? diff->after_count : diff->before_count;
    for (uint32_t i = 0; i < count; ++i)
        if (is_below(list[i].name, tree)) return true;
    return false;
}

// The end of the part that begins at `at`: "['w']" or ".w". A key may have any sign in it.
static size_t part_end(keel_str_t name, size_t at) {
    char quote = 0;
    for (++at; at < name.size; ++at) {
        char c = name.data[at];
        if (quote) {
            quote = c == quote ? 0 : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '.' || c == '[') {
            break;
        }
    }
    return at;
}

// The outermost part that the other side lacks is a whole argument or a field of an object, not a
// key of a dictionary or an element of a list.
static bool is_left_out(const keel_diff_t *diff, bool is_in_after, keel_str_t name) {
    if (!has_below(diff, is_in_after, name))
        return false; // the user's name for it, not the program's
    for (size_t start = 0, end; start < name.size; start = end) {
        end = part_end(name, start);
        if (!has_below(diff, !is_in_after, (keel_str_t){name.data, end}))
            return name.data[start] != '[';
    }
    return false;
}

// ---- all roots ---------------------------------------------------------------------------------

static bool has_its_rank(const keel_diff_t *diff, const keel_root_t *root) {
    if (!root->argument) return root->is_dropped;
    const keel_argument_t *argument = &diff->arguments_after[root->argument - 1];
    if (argument->counterpart == KEEL_NONE) return false;
    keel_type_id_t was = diff->arguments_before[argument->counterpart].type;
    return keel_diff_dims(diff->before.program, was).count ==
           keel_diff_dims(diff->after.program, argument->type).count;
}

// f32[8,4] -> f32[4,8]
static bool is_transposed(const keel_diff_t *diff, const keel_root_t *root) {
    if (!root->argument) return false;
    const keel_argument_t *argument = &diff->arguments_after[root->argument - 1];
    if (argument->counterpart == KEEL_NONE) return false;
    keel_ints_t was =
        keel_diff_dims(diff->before.program, diff->arguments_before[argument->counterpart].type);
    keel_ints_t is = keel_diff_dims(diff->after.program, argument->type);
    if (was.count != is.count) return false;
    for (uint32_t i = 0; i < is.count; ++i) {
        uint32_t had = 0, has = 0;
        for (uint32_t j = 0; j < is.count; ++j) {
            had += was.items[j] == is.items[i];
            has += is.items[j] == is.items[i];
        }
        if (had != has || is.items[i] < 0) return false;
    }
    return is.count > 1;
}

static bool is_scalar_of_one_call(const keel_difference_t *difference, bool is_new) {
    return keel_str_ends(keel_str(is_new ? difference->new_value : difference->old_value),
                         KEEL_STR("[]"));
}

// "f32[4] -> bf16[4]" inside the program.
static bool is_of_floats(const keel_difference_t *difference) {
    keel_str_t was = keel_str(difference->old_value), is = keel_str(difference->new_value);
    const keel_str_t brain = KEEL_STR("bf"), other = KEEL_STR("f");
    return difference->new_op != KEEL_NONE &&
           (keel_str_starts(was, brain) || keel_str_starts(was, other)) &&
           (keel_str_starts(is, brain) || keel_str_starts(is, other));
}

// What a module has is called so by nearly every module.
static bool is_of_module_of_torch(keel_str_t name) {
    return keel_str_ends(name, KEEL_STR(".weight")) || keel_str_ends(name, KEEL_STR(".bias"));
}

static bool find_note(const keel_diff_t *diff, const keel_root_t *root, keel_note_t *out) {
    const keel_difference_t *difference = &root->difference;
    keel_str_t name = keel_str(difference->subject);
    bool is_new = strcmp(difference->old_value, "absent") == 0;
    switch (difference->kind) {
        case KEEL_CAUSE_SHAPE:
            *out = KEEL_NOTE_TRANSPOSED;
            if (is_transposed(diff, root)) return true;
            *out = KEEL_NOTE_MODEL_SIZE;
            return has_its_rank(diff, root) &&
                   (role_of(name) == MODEL ||
                    (role_of(name) == UNKNOWN &&
                     (is_of_layer(name) || moves_like_layers(diff, name))));
        case KEEL_CAUSE_SIZE:
            *out = KEEL_NOTE_MODEL_SIZE;
            return makes_model(diff, difference);
        case KEEL_CAUSE_DTYPE:
            *out = KEEL_NOTE_INNER_DTYPE;
            if (!root->argument && is_of_floats(difference)) return true;
            *out = KEEL_NOTE_MODULE_DTYPE;
            if (keel_parameters_have_no_order(diff)) return is_of_module_of_torch(name);
            *out = KEEL_NOTE_MODEL_DTYPE;
            return role_of(name) == MODEL || is_of_optimizer(name);
        case KEEL_CAUSE_ARGUMENTS:
            *out = keel_diff_is_filtered(diff) && is_scalar_of_one_call(difference, is_new)
                       ? KEEL_NOTE_NO_ARRAY
                       : KEEL_NOTE_LEFT_OUT;
            if (is_left_out(diff, is_new, name)) return true;
            *out = KEEL_NOTE_OPTIMIZER_PARTS;
            return is_of_optimizer(name);
        default:
            return false;
    }
}

// ---- HLO, whose arguments have no names --------------------------------------------------------

// model.to() converts and moves all that a module has.
static bool is_of_module(const keel_place_t *place) {
    keel_str_t file = keel_str(place->library_file ? place->library_file : "");
    return keel_str_ends(file, KEEL_STR("/torch/nn/modules/module.py"));
}

// An optimizer's parameter, or what was moved together with the rest of a module.
static bool is_of_model(const keel_diff_t *diff, uint32_t root, const uint8_t *optimized) {
    if (is_of_module(&diff->roots[root].difference.place)) return true;
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        const keel_argument_t *argument = &diff->arguments_after[i];
        if (argument->counterpart != KEEL_NONE && diff->taint[argument->value] == root + 1 &&
            optimized[argument->value])
            return true;
    }
    return false;
}

static bool find_note_of_model(const keel_diff_t *diff, uint32_t root, const uint8_t *optimized,
                               keel_note_t *out) {
    keel_cause_t kind = diff->roots[root].difference.kind;
    *out = kind == KEEL_CAUSE_SHAPE ? KEEL_NOTE_MODEL_SIZE : KEEL_NOTE_MODULE_DTYPE;
    bool is_kind = kind == KEEL_CAUSE_DTYPE ||
                   (kind == KEEL_CAUSE_SHAPE && has_its_rank(diff, &diff->roots[root]));
    return is_kind && is_of_model(diff, root, optimized);
}

// "state[1][0]": in a list, which says where it belongs. A wrapped module moves by names, beside
// what is new in it.
static bool is_in_list(keel_str_t name) {
    return name.size > 2 && name.data[name.size - 2] >= '0' && name.data[name.size - 2] <= '9';
}

static unsigned depth_of(keel_str_t name) {
    unsigned depth = 0;
    for (size_t i = 0; i < name.size; ++i)
        depth += name.data[i] == '[' || name.data[i] == '.';
    return depth;
}

// "params['head']" moved from what is trained to what is frozen: what comes or goes with it, like
// an optimizer's state, follows.
static bool tell_moved(keel_diff_t *diff, keel_difference_t *difference) {
    const keel_argument_t *told = NULL;
    for (uint32_t i = 0; i < diff->before_count; ++i) {
        const keel_argument_t *was = &diff->arguments_before[i];
        if (!was->is_moved || was->counterpart == KEEL_NONE) continue;
        keel_str_t is = diff->arguments_after[was->counterpart].name;
        if (depth_of(was->name) != depth_of(is)) continue; // below a module that wraps it
        bool is_subject =
            keel_str_is(was->name, difference->subject) || keel_str_is(is, difference->subject);
        if (is_subject || (!told && is_in_list(was->name) && is_in_list(is))) told = was;
        if (is_subject) break;
    }
    if (!told) return false;
    keel_str_t is = diff->arguments_after[told->counterpart].name;
    const char *rest = *difference->note ? "; " : "";
    difference->note =
        keel_diff_text(diff, "%s: %.*s -> %.*s%s%s", keel_note_text(KEEL_NOTE_MOVED),
                       KEEL_STR_ARGS(told->name), KEEL_STR_ARGS(is), rest, difference->note);
    return true;
}

keel_status_t keel_diff_subjects(keel_diff_t *diff) {
    bool is_named = diff->after.program->format == KEEL_FORMAT_MLIR;
    uint8_t *optimized = NULL;
    if (!is_named) KEEL_TRY(keel_diff_find_optimized(diff, &diff->after, &optimized));
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_difference_t *difference = &diff->roots[i].difference;
        keel_note_t note;
        if (diff->roots[i].follows != KEEL_NONE || keel_note_advice(difference->note)) continue;
        if (difference->kind == KEEL_CAUSE_ARGUMENTS && tell_moved(diff, difference)) continue;
        if (is_named ? find_note(diff, &diff->roots[i], &note)
                     : find_note_of_model(diff, i, optimized, &note))
            keel_diff_note(diff, difference, note);
    }
    return NULL;
}
