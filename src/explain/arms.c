// A flag chooses one arm of an `if` in one call and another arm in the next. What is gone from the
// one arm and what is new in the other are one cause, including operations that the two arms happen
// to share.
#include "explain/arms.h"

#include <string.h>

#include "explain/diff.h"

// ---- the source --------------------------------------------------------------------------------

keel_status_t keel_arms_read(keel_arms_t *arms, keel_str_t text, keel_arena_t *arena) {
    *arms = (keel_arms_t){.count = 0};
    keel_status_t status = keel_py_read(text, &arms->tree);
    if (keel_status_code(status) == KEEL_UNSUPPORTED) {
        keel_status_ignore(status);
        return NULL;
    }
    if (!status)
        status = keel_arena_array(arena, arms->tree.line_count, sizeof *arms->statements,
                                  (void **)&arms->statements);
    if (status) {
        keel_arms_deinitialize(arms);
        return status;
    }
    keel_py_statements_of_lines(&arms->tree, arms->statements);
    arms->count = arms->tree.line_count;
    return NULL;
}

void keel_arms_deinitialize(keel_arms_t *arms) {
    keel_py_deinitialize(&arms->tree);
    arms->count = 0;
}

static const keel_py_node_t *node_of(const keel_arms_t *arms, uint32_t node) {
    return &arms->tree.nodes[node];
}

// The statements of one block, from the first to the last.
typedef struct block_t {
    uint32_t first, last; // nodes; NONE if there is none
} block_t;

static block_t block_of(const keel_arms_t *arms, uint32_t node, keel_py_field_t field) {
    block_t block = {keel_py_child(&arms->tree, node, field, KEEL_NONE), KEEL_NONE};
    for (uint32_t at = block.first; at != KEEL_NONE;
         at = keel_py_child(&arms->tree, node, field, at))
        block.last = at;
    return block;
}

// The block that a statement is in.
static block_t block_around(const keel_arms_t *arms, uint32_t statement) {
    const keel_py_node_t *is = node_of(arms, statement);
    return block_of(arms, is->parent, (keel_py_field_t)is->field);
}

static bool is_elif(const keel_arms_t *arms, uint32_t node) {
    const keel_py_node_t *is = node_of(arms, node);
    return is->kind == KEEL_PY_IF && is->field == KEEL_PY_F_ORELSE &&
           arms->tree.tokens[is->first_token].sign == KEEL_PY_S_ELIF;
}

// True if the block leaves the function or the loop's current iteration, whichever way it goes.
static bool leaves(const keel_arms_t *arms, block_t block) {
    for (uint32_t at = block.last; at != KEEL_NONE;) {
        switch (node_of(arms, at)->kind) {
            case KEEL_PY_RETURN:
            case KEEL_PY_RAISE:
            case KEEL_PY_CONTINUE:
            case KEEL_PY_BREAK:
                return true;
            case KEEL_PY_WITH:
                at = block_of(arms, at, KEEL_PY_F_BODY).last;
                break;
            case KEEL_PY_IF:
                if (!leaves(arms, block_of(arms, at, KEEL_PY_F_BODY))) return false;
                at = block_of(arms, at, KEEL_PY_F_ORELSE).last;
                break;
            default:
                return false;
        }
    }
    return false;
}

// An arm, named by its fork's line and its own first one.
typedef struct arm_t {
    uint32_t fork, first, last; // lines
    bool is_rest;               // what stands behind the fork, in the same block
    bool leaves;
} arm_t;

enum { DEPTH = 16 };

// All arms that contain a line, the innermost first.
typedef struct nest_t {
    arm_t arms[DEPTH];
    uint32_t count;
} nest_t;

static void add_arm(const keel_arms_t *arms, uint32_t fork, block_t block, nest_t *nest) {
    if (fork == KEEL_NONE || nest->count == DEPTH) return;
    nest->arms[nest->count++] = (arm_t){.fork = node_of(arms, fork)->line,
                                        .first = node_of(arms, block.first)->line,
                                        .last = node_of(arms, block.last)->end_line,
                                        .leaves = leaves(arms, block)};
}

// The `if`, `match` or `try` that has the statement in one of its arms; NONE.
static uint32_t fork_around(const keel_arms_t *arms, uint32_t statement) {
    const keel_py_node_t *is = node_of(arms, statement);
    uint32_t fork = is->parent;
    switch (node_of(arms, fork)->kind) {
        case KEEL_PY_IF:
            while (is_elif(arms, fork))
                fork = node_of(arms, fork)->parent;
            return is_elif(arms, statement) ? KEEL_NONE : fork;
        case KEEL_PY_MATCH_CASE:
        case KEEL_PY_EXCEPT_HANDLER:
            return node_of(arms, fork)->parent;
        case KEEL_PY_TRY:
            return is->field == KEEL_PY_F_BODY ? fork : KEEL_NONE;
        default:
            return KEEL_NONE;
    }
}

// True if an arm of an `if` leaves, so that what stands behind is not for all of them.
static bool may_leave(const keel_arms_t *arms, uint32_t fork) {
    while (fork != KEEL_NONE && node_of(arms, fork)->kind == KEEL_PY_IF) {
        if (leaves(arms, block_of(arms, fork, KEEL_PY_F_BODY))) return true;
        block_t other = block_of(arms, fork, KEEL_PY_F_ORELSE);
        if (other.first != KEEL_NONE && !is_elif(arms, other.first)) return leaves(arms, other);
        fork = other.first;
    }
    return false;
}

// The statement stands behind each fork before it in its block: the nearest ones, so far as there
// is room.
static void add_rests(const keel_arms_t *arms, uint32_t statement, nest_t *nest) {
    uint32_t forks[DEPTH], count = 0;
    block_t block = block_around(arms, statement);
    const keel_py_node_t *is = node_of(arms, statement);
    for (uint32_t at = block.first; at < statement;
         at = keel_py_child(&arms->tree, is->parent, (keel_py_field_t)is->field, at))
        if (may_leave(arms, at)) forks[count++ % DEPTH] = at;
    for (uint32_t left = count < DEPTH ? count : DEPTH; left > 0 && nest->count < DEPTH; --left) {
        const keel_py_node_t *fork = node_of(arms, forks[--count % DEPTH]);
        nest->arms[nest->count++] = (arm_t){.fork = fork->line,
                                            .first = fork->end_line + 1,
                                            .last = node_of(arms, block.last)->end_line,
                                            .is_rest = true};
    }
}

static nest_t nest_of(const keel_arms_t *arms, uint32_t line) {
    nest_t nest = {.count = 0};
    uint32_t at = line && line <= arms->count ? arms->statements[line - 1] : KEEL_NONE;
    for (; at != KEEL_NONE && at > 0; at = node_of(arms, at)->parent) {
        if (!keel_py_is_statement(node_of(arms, at))) continue;
        add_rests(arms, at, &nest);
        add_arm(arms, fork_around(arms, at), block_around(arms, at), &nest);
    }
    return nest;
}

// What stands behind a fork is another arm than those that leave.
static bool are_apart(const arm_t *x, const arm_t *y) {
    if (x->fork != y->fork || x->first == y->first) return false;
    return x->is_rest ? y->leaves : !y->is_rest || x->leaves;
}

static uint32_t fork_between(const nest_t *x, const nest_t *y) {
    for (uint32_t i = 0; i < x->count; ++i)
        for (uint32_t j = 0; j < y->count; ++j)
            if (are_apart(&x->arms[i], &y->arms[j])) return x->arms[i].fork;
    return 0;
}

uint32_t keel_arms_fork(const keel_arms_t *arms, uint32_t line, uint32_t other) {
    nest_t x = nest_of(arms, line), y = nest_of(arms, other);
    return fork_between(&x, &y);
}

// True if operations of the program came from a line of that arm. `lines` says so for each line.
static bool is_taken(const uint8_t *lines, arm_t arm) {
    for (uint32_t line = arm.first; line <= arm.last; ++line)
        if (lines[line]) return true;
    return false;
}

// ---- causes ------------------------------------------------------------------------------------

enum { PATH = 8 }; // lines of the file on an operation's stack

static bool is_open(const keel_root_t *root, keel_cause_t kind) {
    return root->difference.kind == kind && root->follows == KEEL_NONE;
}

static bool is_in(const char *file, const keel_place_t *place) {
    return place->line && strcmp(place->file, file) == 0;
}

// Gone from one arm, new in another.
static void fold_exchanged(keel_diff_t *diff, const keel_arms_t *arms, const char *file) {
    for (uint32_t gone = 0; gone < diff->root_count; ++gone) {
        const keel_root_t *was = &diff->roots[gone];
        if (!is_open(was, KEEL_CAUSE_STRUCTURE) || was->difference.new_op != KEEL_NONE ||
            !is_in(file, &was->difference.place))
            continue;
        for (uint32_t came = 0; came < diff->root_count; ++came) {
            const keel_root_t *is = &diff->roots[came];
            if (!is_open(is, KEEL_CAUSE_STRUCTURE) || is->difference.old_op != KEEL_NONE ||
                !is_in(file, &is->difference.place) ||
                !keel_arms_fork(arms, was->difference.place.line, is->difference.place.line))
                continue;
            keel_diff_exchange(diff, gone, came);
            break;
        }
    }
}

// The cause that reports this `if`, or NONE.
static uint32_t told_of(keel_diff_t *diff, const keel_arms_t *arms, const char *file,
                        uint32_t fork) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_difference_t *one = &diff->roots[i].difference;
        if (!is_open(&diff->roots[i], KEEL_CAUSE_STRUCTURE) || !is_in(file, &one->place)) continue;
        nest_t nest = nest_of(arms, one->place.line);
        for (uint32_t k = 0; k < nest.count; ++k)
            if (nest.arms[k].fork == fork) return i;
    }
    return KEEL_NONE;
}

// The lines of the file on the stacks of the program's operations; if there are too many
// operations, any line may be.
static keel_status_t list_lines(keel_diff_t *diff, keel_graph_t *graph, const keel_arms_t *arms,
                                const char *file, uint8_t **out) {
    KEEL_TRY(keel_arena_array(&diff->arena, (size_t)arms->count + 1, 1, (void **)out));
    enum { MOST = 1 << 16 };
    keel_op_id_t end = keel_program_op_count(graph->program);
    memset(*out, end > MOST, (size_t)arms->count + 1);
    for (keel_op_id_t op = 0; op < end && end <= MOST; ++op) {
        uint32_t lines[PATH], count = keel_graph_lines_in(graph, op, file, lines, PATH);
        for (uint32_t i = 0; i < count; ++i)
            if (lines[i] <= arms->count) (*out)[lines[i]] = 1;
    }
    return NULL;
}

// The cause that reports an `if` whose two arms both lead to the operations, as with a function
// that both arms call; NONE.
static uint32_t told_of_paths(keel_diff_t *diff, const keel_arms_t *arms, const char *file,
                              const keel_difference_t *one) {
    uint32_t was[PATH], is[PATH], tried = 0;
    nest_t nests[PATH];
    uint32_t n = keel_graph_lines_in(&diff->before, one->old_op, file, was, PATH);
    uint32_t m = keel_graph_lines_in(&diff->after, one->new_op, file, is, PATH);
    for (uint32_t i = 0; i < n; ++i)
        nests[i] = nest_of(arms, was[i]);
    for (uint32_t j = 0; j < m; ++j) {
        nest_t nest = nest_of(arms, is[j]);
        for (uint32_t i = 0; i < n; ++i) {
            uint32_t fork = fork_between(&nests[i], &nest);
            uint32_t top = fork && fork != tried ? told_of(diff, arms, file, fork) : KEEL_NONE;
            if (top != KEEL_NONE) return top;
            tried = fork ? fork : tried;
        }
    }
    return KEEL_NONE;
}

// One of the two has no line, like JAX's own constants. Gives the cause that reports the arm that
// contains the other one and that the other program did not take; NONE.
static uint32_t told_of_arm(keel_diff_t *diff, const keel_arms_t *arms, const char *file,
                            const keel_difference_t *one, uint8_t *const others[2]) {
    uint32_t lines[PATH];
    bool is_after = keel_graph_line(&diff->before, one->old_op)->line == 0;
    if (!is_after && keel_graph_line(&diff->after, one->new_op)->line != 0) return KEEL_NONE;
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    uint32_t count =
        keel_graph_lines_in(graph, is_after ? one->new_op : one->old_op, file, lines, PATH);
    for (uint32_t i = 0; i < count; ++i) {
        nest_t nest = nest_of(arms, lines[i]);
        for (uint32_t k = 0; k < nest.count; ++k) {
            if (is_taken(others[!is_after], nest.arms[k])) continue;
            uint32_t top = told_of(diff, arms, file, nest.arms[k].fork);
            if (top != KEEL_NONE) return top;
        }
    }
    return KEEL_NONE;
}

// Operations of the two arms that were compared with each other. `lines` are those on the stacks of
// the two programs' operations.
static void fold_compared(keel_diff_t *diff, const keel_arms_t *arms, const char *file,
                          uint8_t *const lines[2]) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_difference_t *one = &diff->roots[i].difference;
        if (diff->roots[i].follows != KEEL_NONE || one->old_op == KEEL_NONE ||
            one->new_op == KEEL_NONE)
            continue;
        uint32_t top = told_of_paths(diff, arms, file, one);
        if (top == KEEL_NONE) top = told_of_arm(diff, arms, file, one, lines);
        if (top != KEEL_NONE && top != i) diff->roots[i].follows = top;
    }
}

// Operations that only one program has: the newer one if `is_after`.
static bool is_lone(const keel_root_t *root, const char *file, bool is_after) {
    const keel_difference_t *one = &root->difference;
    return is_open(root, KEEL_CAUSE_STRUCTURE) && is_in(file, &one->place) &&
           (is_after ? one->old_op : one->new_op) == KEEL_NONE;
}

static bool share_untaken(const uint8_t *others, const nest_t *x, const nest_t *y) {
    for (uint32_t i = 0; i < x->count; ++i)
        for (uint32_t j = 0; j < y->count; ++j)
            if (x->arms[i].fork == y->arms[j].fork && x->arms[i].first == y->arms[j].first &&
                !is_taken(others, x->arms[i]))
                return true;
    return false;
}

// Several lines of an arm that only one program took are one cause.
static void fold_beside(keel_diff_t *diff, const keel_arms_t *arms, const char *file, bool is_after,
                        const uint8_t *others) {
    for (uint32_t first = 0; first < diff->root_count; ++first) {
        if (!is_lone(&diff->roots[first], file, is_after)) continue;
        nest_t nest = nest_of(arms, diff->roots[first].difference.place.line);
        for (uint32_t i = first + 1; nest.count && i < diff->root_count; ++i) {
            if (!is_lone(&diff->roots[i], file, is_after)) continue;
            nest_t other = nest_of(arms, diff->roots[i].difference.place.line);
            if (share_untaken(others, &nest, &other)) diff->roots[i].follows = first;
        }
    }
}

// What is in an arm that the other program did not take belongs to what was exchanged between the
// arms, as fold_exchanged found it.
static bool comes_with(const uint8_t *others, const nest_t *lone, const nest_t *exchanged) {
    for (uint32_t i = 0; i < lone->count; ++i)
        for (uint32_t j = 0; j < exchanged->count; ++j)
            if (lone->arms[i].fork == exchanged->arms[j].fork && !is_taken(others, lone->arms[i]) &&
                (lone->arms[i].first == exchanged->arms[j].first ||
                 are_apart(&lone->arms[i], &exchanged->arms[j])))
                return true;
    return false;
}

static void fold_into_exchanged(keel_diff_t *diff, const keel_arms_t *arms, const char *file,
                                bool is_after, const uint8_t *others) {
    for (uint32_t top = 0; top < diff->root_count; ++top) {
        const keel_difference_t *one = &diff->roots[top].difference;
        if (!is_open(&diff->roots[top], KEEL_CAUSE_STRUCTURE) || !is_in(file, &one->place) ||
            one->old_op == KEEL_NONE || one->new_op == KEEL_NONE)
            continue;
        nest_t exchanged = nest_of(arms, one->place.line);
        for (uint32_t i = 0; exchanged.count && i < diff->root_count; ++i) {
            if (!is_lone(&diff->roots[i], file, is_after)) continue;
            nest_t lone = nest_of(arms, diff->roots[i].difference.place.line);
            if (comes_with(others, &lone, &exchanged)) diff->roots[i].follows = top;
        }
    }
}

static keel_status_t fold(keel_diff_t *diff, const keel_arms_t *arms, const char *file) {
    uint8_t *lines[2];
    if (!arms->count || diff->root_count < 2) return NULL;
    KEEL_TRY(list_lines(diff, &diff->before, arms, file, &lines[0]));
    KEEL_TRY(list_lines(diff, &diff->after, arms, file, &lines[1]));
    fold_exchanged(diff, arms, file);
    fold_beside(diff, arms, file, false, lines[1]);
    fold_beside(diff, arms, file, true, lines[0]);
    fold_compared(diff, arms, file, lines);
    fold_into_exchanged(diff, arms, file, false, lines[1]);
    fold_into_exchanged(diff, arms, file, true, lines[0]);
    return NULL;
}

static keel_status_t source_text(const keel_sources_t *sources, const char *file,
                                 keel_arena_t *arena, keel_str_t *out, bool *out_known) {
    keel_str_t text;
    keel_status_t status = sources->read(sources->context, file, &text);
    *out_known = !status;
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    return *out_known ? keel_arena_str(arena, text, out) : NULL;
}

// Only for a file whose lines are the same in both runs.
static keel_status_t read_file(keel_diff_t *diff, const keel_side_t *old_side,
                               const keel_side_t *new_side, const char *file, keel_arms_t *out) {
    keel_str_t had = KEEL_STR(""), has = KEEL_STR("");
    bool was_known = true, is_known = false;
    *out = (keel_arms_t){.count = 0};
    KEEL_TRY(source_text(new_side->sources, file, &diff->arena, &has, &is_known));
    if (old_side->sources && is_known)
        KEEL_TRY(source_text(old_side->sources, file, &diff->arena, &had, &was_known));
    if (!is_known || !was_known || (old_side->sources && !keel_str_equal(had, has))) return NULL;
    return keel_arms_read(out, has, &diff->arena);
}

keel_status_t keel_diff_arms(keel_diff_t *diff, const keel_side_t *old_side,
                             const keel_side_t *new_side) {
    enum { FILES = 4 };
    const char *seen[FILES];
    uint32_t seen_count = 0;
    if (!new_side->sources) return NULL;
    for (uint32_t i = 0; i < diff->root_count && seen_count < FILES; ++i) {
        const char *file = diff->roots[i].difference.place.file;
        bool is_seen = !file || !*file || !is_open(&diff->roots[i], KEEL_CAUSE_STRUCTURE);
        for (uint32_t k = 0; !is_seen && k < seen_count; ++k)
            is_seen = strcmp(seen[k], file) == 0;
        if (is_seen) continue;
        seen[seen_count++] = file;
        keel_arms_t arms;
        KEEL_TRY(read_file(diff, old_side, new_side, file, &arms));
        keel_status_t status = fold(diff, &arms, file);
        keel_arms_deinitialize(&arms);
        KEEL_TRY(status);
    }
    return NULL;
}
