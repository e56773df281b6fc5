// A flag chooses one arm of an `if` in one call and another arm in the next. What is gone from the
// one arm and what is new in the other are one cause, including operations that the two arms happen
// to share.
#include "explain/arms.h"

#include <string.h>

#include "explain/diff.h"

// ---- the source --------------------------------------------------------------------------------

static keel_arms_line_t read_line(keel_str_t line) {
    enum { TAB = 8 };
    keel_arms_line_t out = {KEEL_STR(""), 0};
    size_t at = 0;
    for (; at < line.size && (line.data[at] == ' ' || line.data[at] == '\t'); ++at)
        out.indent += line.data[at] == '\t' ? TAB : 1;
    if (at == line.size || line.data[at] == '#' || line.data[at] == '\r') return out;
    size_t end = at;
    while (end < line.size && keel_is_of_name(line.data[end]))
        ++end;
    out.word = (keel_str_t){line.data + at, end > at ? end - at : 1};
    return out;
}

keel_status_t keel_arms_read(keel_arms_t *arms, keel_str_t text, keel_arena_t *arena) {
    enum { MOST = 1 << 14 };
    *arms = (keel_arms_t){NULL, 0};
    uint32_t count = 1;
    for (size_t at = 0; at < text.size; ++at)
        count += text.data[at] == '\n';
    if (count > MOST) return NULL;
    KEEL_TRY(keel_arena_array(arena, count, sizeof *arms->lines, (void **)&arms->lines));
    for (size_t at = 0; at <= text.size;) {
        const char *end = at < text.size ? memchr(text.data + at, '\n', text.size - at) : NULL;
        size_t stop = end ? (size_t)(end - text.data) : text.size;
        arms->lines[arms->count++] = read_line((keel_str_t){text.data + at, stop - at});
        at = stop + 1;
    }
    return NULL;
}

static bool is_word(const keel_arms_t *arms, uint32_t line, const char *word) {
    return keel_str_is(arms->lines[line - 1].word, word);
}

static bool says(const keel_arms_t *arms, uint32_t line) {
    return arms->lines[line - 1].word.size > 0;
}

static uint32_t indent_of(const keel_arms_t *arms, uint32_t line) {
    return arms->lines[line - 1].indent;
}

static bool leaves(const keel_arms_t *arms, uint32_t line) {
    static const char *const words[] = {"return", "raise", "continue", "break"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (is_word(arms, line, words[i])) return true;
    return false;
}

// True if the arm that begins there leaves the function or the loop's current iteration.
static bool returns(const keel_arms_t *arms, uint32_t header) {
    uint32_t body = 0, indent = indent_of(arms, header);
    bool is_last = false;
    for (uint32_t line = header + 1; line <= arms->count; ++line) {
        if (!says(arms, line)) continue;
        if (indent_of(arms, line) <= indent) break;
        if (!body) body = indent_of(arms, line);
        if (indent_of(arms, line) == body) is_last = leaves(arms, line);
    }
    return is_last;
}

// An arm, named by its first line, and the first line of its `if`.
typedef struct arm_t {
    uint32_t fork, header;
} arm_t;

enum { DEPTH = 16 };

// The `if` that an `elif` or `else` belongs to; 0 if it is the `else` of a loop.
static uint32_t fork_of(const keel_arms_t *arms, uint32_t header) {
    uint32_t indent = indent_of(arms, header);
    for (uint32_t line = header; line > 0; --line) {
        if (!says(arms, line) || indent_of(arms, line) > indent) continue;
        if (indent_of(arms, line) < indent) return 0;
        if (is_word(arms, line, "if")) return line;
        if (!is_word(arms, line, "elif") && !is_word(arms, line, "else")) return 0;
    }
    return 0;
}

// All arms that contain a line, the innermost first.
static uint32_t list_arms(const keel_arms_t *arms, uint32_t line, arm_t out[DEPTH]) {
    uint32_t count = 0;
    if (!line || line > arms->count) return 0;
    uint32_t indent = indent_of(arms, line);
    for (uint32_t at = line - 1; at > 0 && count < DEPTH; --at) {
        if (!says(arms, at) || indent_of(arms, at) > indent) continue;
        bool is_arm =
            is_word(arms, at, "if") || is_word(arms, at, "elif") || is_word(arms, at, "else");
        if (indent_of(arms, at) == indent) {
            // The code after the arm, at its depth, runs if the arm is not taken.
            if (is_word(arms, at, "if") && returns(arms, at)) out[count++] = (arm_t){at, 0};
            continue;
        }
        indent = indent_of(arms, at);
        uint32_t fork = is_arm ? fork_of(arms, at) : 0;
        if (fork) out[count++] = (arm_t){fork, at};
    }
    return count;
}

// All arms that contain a line.
typedef struct nest_t {
    arm_t arms[DEPTH];
    uint32_t count;
} nest_t;

static nest_t nest_of(const keel_arms_t *arms, uint32_t line) {
    nest_t nest;
    nest.count = list_arms(arms, line, nest.arms);
    return nest;
}

static uint32_t fork_between(const nest_t *x, const nest_t *y) {
    for (uint32_t i = 0; i < x->count; ++i)
        for (uint32_t j = 0; j < y->count; ++j)
            if (x->arms[i].fork == y->arms[j].fork && x->arms[i].header != y->arms[j].header)
                return x->arms[i].fork;
    return 0;
}

uint32_t keel_arms_fork(const keel_arms_t *arms, uint32_t line, uint32_t other) {
    nest_t x = nest_of(arms, line), y = nest_of(arms, other);
    return fork_between(&x, &y);
}

// True if operations of the program came from a line of that arm. `lines` says so for each line.
static bool is_taken(const keel_arms_t *arms, const uint8_t *lines, arm_t arm) {
    uint32_t from = arm.header ? arm.header : arm.fork, indent = indent_of(arms, from);
    bool is_inside = arm.header > 0;
    for (uint32_t line = from + 1; line <= arms->count; ++line) {
        if (!says(arms, line)) continue;
        uint32_t own = indent_of(arms, line);
        if (own < indent || (own == indent && arm.header)) return false;
        is_inside = is_inside ||
                    (own == indent && !is_word(arms, line, "elif") && !is_word(arms, line, "else"));
        if (is_inside && lines[line]) return true;
    }
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
            if (is_taken(arms, others[!is_after], nest.arms[k])) continue;
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

static bool share_untaken(const keel_arms_t *arms, const uint8_t *others, const nest_t *x,
                          const nest_t *y) {
    for (uint32_t i = 0; i < x->count; ++i)
        for (uint32_t j = 0; j < y->count; ++j)
            if (x->arms[i].fork == y->arms[j].fork && x->arms[i].header == y->arms[j].header &&
                !is_taken(arms, others, x->arms[i]))
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
            if (share_untaken(arms, others, &nest, &other)) diff->roots[i].follows = first;
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
    *out = (keel_arms_t){NULL, 0};
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
        KEEL_TRY(fold(diff, &arms, file));
    }
    return NULL;
}
