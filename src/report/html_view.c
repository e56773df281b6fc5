// The old and the new program of a recompile side by side: the signature where an argument
// differs, else the operations around those that a root names.
#include <inttypes.h>

#include "read/print.h"
#include "report/html_part.h"

enum {
    HUNKS = 3,        // of one recompile
    AROUND = 5,       // operations before and after the one that is told of
    CONTEXT = 3,      // equal arguments beside one that differs
    ARGUMENTS = 2000, // of a signature
    LONGEST = 400,    // bytes of a line
    LARGEST_VALUE = 8,
    SEARCH = 200, // how far the place of what is absent is looked for
};

// Lines of one side while they are collected.
typedef struct side_t {
    const keel_program_t *program;
    keel_arena_t *arena;
    keel_html_lines_t lines;
    size_t capacity;
    uint32_t first, end; // operations of a hunk
    keel_op_id_t told;   // KEEL_NONE
} side_t;

static keel_status_t begin_lines(side_t *side, size_t capacity) {
    void *memory;
    KEEL_TRY(keel_arena_array(side->arena, capacity + 1, sizeof(keel_html_line_t), &memory));
    side->lines = (keel_html_lines_t){memory, 0};
    side->capacity = capacity;
    return NULL;
}

// Takes the buffer's text as one line and empties the buffer.
static keel_status_t end_line(side_t *side, keel_buffer_t *text, keel_html_line_t line) {
    KEEL_TRY(keel_buffer_status(text));
    keel_str_t whole = keel_bytes_str(keel_buffer_bytes(text));
    line.look = keel_html_look(whole);
    if (whole.size > LONGEST) {
        size_t most = LONGEST;
        while (most && ((uint8_t)whole.data[most] & 0xc0) == 0x80)
            --most;
        text->size = most;
        keel_buffer_text(text, "...");
        KEEL_TRY(keel_buffer_status(text));
        whole = keel_bytes_str(keel_buffer_bytes(text));
    }
    KEEL_TRY(keel_arena_str(side->arena, whole, &line.text));
    if (side->lines.count < side->capacity) side->lines.items[side->lines.count++] = line;
    text->size = 0;
    return NULL;
}

// ---- functions ---------------------------------------------------------------------------------

// The operations within a function: [first, end).
static bool range_of(const keel_program_t *p, const keel_function_t *f, uint32_t *first,
                     uint32_t *end) {
    if (f->region >= p->regions.count) return false;
    const keel_region_t *region = &p->regions.data[f->region];
    if (!region->block_count) return false;
    *first = p->blocks.data[region->first_block].first_op;
    *end = region->end;
    return *first < *end && *end <= keel_program_op_count(p);
}

static const keel_function_t *function_of(const keel_program_t *p, keel_op_id_t op) {
    for (uint32_t i = 0; i < p->functions.count; ++i) {
        uint32_t first, end;
        if (range_of(p, &p->functions.data[i], &first, &end) && op >= first && op < end)
            return &p->functions.data[i];
    }
    return NULL;
}

// ---- operations --------------------------------------------------------------------------------

// How many regions an operation stands in, within its function.
static unsigned depth_of(const keel_program_t *p, const keel_function_t *f, keel_op_id_t op) {
    unsigned depth = 0;
    for (uint32_t i = 0; i < p->regions.count; ++i) {
        const keel_region_t *region = &p->regions.data[i];
        if (i == f->region || !region->block_count || region->parent == f->operation) continue;
        if (p->blocks.data[region->first_block].first_op <= op && op < region->end) ++depth;
    }
    return depth;
}

static uint64_t name_hash(const keel_program_t *p, keel_op_id_t op) {
    return keel_html_look(keel_program_str(p, keel_program_op_name(p, op)->name));
}

static keel_status_t operation_lines(side_t *side, const keel_function_t *f, keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    KEEL_TRY(begin_lines(side, side->end - side->first));
    for (keel_op_id_t op = side->first; op < side->end; ++op) {
        const keel_operation_t *o = &p->operations.data[op];
        unsigned depth = depth_of(p, f, op);
        keel_buffer_format(text, "%*s", depth < 20 ? (int)(2 * depth) : 40, "");
        keel_print_operation(p, op, f->first_value, LARGEST_VALUE, text);
        keel_html_line_t line = {.kind = name_hash(p, op),
                                 .first_value = o->first_result - f->first_value,
                                 .value_count = o->result_count,
                                 .is_told = op == side->told};
        KEEL_TRY(end_line(side, text, line));
    }
    return NULL;
}

static void window(side_t *side, const keel_function_t *f, keel_op_id_t at) {
    uint32_t first = 0, end = 0;
    range_of(side->program, f, &first, &end);
    side->first = at > first + AROUND ? at - AROUND : first;
    side->end = at + AROUND + 1 < end ? at + AROUND + 1 : end;
}

// ---- the place of what is on one side only
// -------------------------------------------------------

// How many operations before `a` and `b` are of the same name, up to 8.
static unsigned alike_before(const keel_program_t *p, keel_op_id_t a, const keel_program_t *q,
                             keel_op_id_t b) {
    unsigned count = 0;
    while (count < 8 && a > count && b > count &&
           name_hash(p, a - 1 - count) == name_hash(q, b - 1 - count))
        ++count;
    return count;
}

// Where `op` of program p would stand in q: near the last difference before it that names both,
// where what stands before looks most alike.
static keel_op_id_t counterpart(const keel_why_entry_t *entry, const keel_program_t *p,
                                keel_op_id_t op, const keel_program_t *q, bool op_is_old) {
    int64_t shift = 0;
    keel_op_id_t nearest = 0;
    for (int list = 0; list < 2; ++list) {
        const keel_why_difference_t *items = list ? entry->folded : entry->roots;
        size_t count = list ? entry->folded_count : entry->root_count;
        for (size_t i = 0; i < count; ++i) {
            if (items[i].old_op == KEEL_NONE || items[i].new_op == KEEL_NONE) continue;
            keel_op_id_t own = op_is_old ? items[i].old_op : items[i].new_op,
                         other = op_is_old ? items[i].new_op : items[i].old_op;
            if (own > op || own < nearest) continue;
            nearest = own;
            shift = (int64_t)other - own;
        }
    }
    int64_t guess = (int64_t)op + shift, count = keel_program_op_count(q), found = guess;
    unsigned most = 0;
    for (int64_t away = 0; away <= SEARCH; ++away)
        for (int sign = -1; sign <= 1; sign += 2) {
            int64_t at = guess + sign * away;
            if (at < 0 || at >= count) continue;
            unsigned alike = alike_before(p, op, q, (keel_op_id_t)at);
            if (alike <= most) continue;
            most = alike;
            found = at;
        }
    if (found >= count) found = count - 1;
    return found < 0 ? 0 : (keel_op_id_t)found;
}

// ---- one hunk ----------------------------------------------------------------------------------

typedef struct view_t {
    keel_html_page_t *page;
    const keel_why_entry_t *entry;
    const keel_program_t *old_program, *new_program;
    keel_arena_t *arena;
    keel_buffer_t *text; // of one line, for use again and again
    struct {
        uint32_t first, end;
    } shown[HUNKS]; // operations of the new program
    size_t hunks;
    bool is_open;
} view_t;

static bool is_cut_off(const side_t *a, const side_t *b, const keel_html_row_t *row) {
    if (row->old_line != KEEL_HTML_ABSENT && row->new_line != KEEL_HTML_ABSENT) return false;
    return row->old_line != KEEL_HTML_ABSENT ? !a->lines.items[row->old_line].is_told
                                             : !b->lines.items[row->new_line].is_told;
}

// Where a window ends is chance: what has no counterpart there may have one beyond.
static void trim(const side_t *a, const side_t *b, keel_html_row_t **rows, size_t *count) {
    while (*count && is_cut_off(a, b, &(*rows)[0])) {
        ++*rows;
        --*count;
    }
    while (*count && is_cut_off(a, b, &(*rows)[*count - 1]))
        --*count;
}

static keel_status_t table(view_t *v, const side_t *old_side, const side_t *new_side, size_t around,
                           bool is_window) {
    keel_html_row_t *rows;
    size_t count;
    KEEL_TRY(keel_html_align(&old_side->lines, &new_side->lines, v->arena, &rows, &count));
    if (is_window) trim(old_side, new_side, &rows, &count);
    return keel_html_rows(&old_side->lines, &new_side->lines, rows, count, around, v->arena,
                          v->page->out);
}

static void caption(view_t *v, const side_t *a, const side_t *b, const keel_function_t *f) {
    keel_buffer_t *out = v->page->out;
    keel_buffer_text(out, "<p class=\"muted\">Function <code>");
    keel_str_t name = keel_program_str(b->program, f->name);
    if (name.size > LONGEST) name.size = LONGEST;
    keel_html_str(out, name);
    keel_buffer_format(out, "</code>: operations %u to %u of %u before, %u to %u of %u after</p>\n",
                       a->first, a->end - 1, keel_program_op_count(a->program), b->first,
                       b->end - 1, keel_program_op_count(b->program));
}

static bool is_shown(const view_t *v, keel_op_id_t op) {
    for (size_t i = 0; i < v->hunks; ++i)
        if (op >= v->shown[i].first && op < v->shown[i].end) return true;
    return false;
}

static keel_status_t hunk(view_t *v, const keel_why_difference_t *root) {
    const keel_program_t *p = v->old_program, *q = v->new_program;
    keel_op_id_t a = root->old_op, b = root->new_op;
    if (a != KEEL_NONE && a >= keel_program_op_count(p)) return NULL;
    if (b != KEEL_NONE && b >= keel_program_op_count(q)) return NULL;
    if (!keel_program_op_count(p) || !keel_program_op_count(q)) return NULL;
    side_t old_side = {.program = p, .arena = v->arena, .told = a},
           new_side = {.program = q, .arena = v->arena, .told = b};
    if (a == KEEL_NONE) a = counterpart(v->entry, q, b, p, false);
    if (b == KEEL_NONE) b = counterpart(v->entry, p, a, q, true);
    const keel_function_t *f = function_of(p, a), *g = function_of(q, b);
    if (!f || !g || is_shown(v, b)) return NULL;
    window(&old_side, f, a);
    window(&new_side, g, b);
    KEEL_TRY(operation_lines(&old_side, f, v->text));
    KEEL_TRY(operation_lines(&new_side, g, v->text));
    caption(v, &old_side, &new_side, g);
    v->shown[v->hunks].first = new_side.first;
    v->shown[v->hunks++].end = new_side.end;
    return table(v, &old_side, &new_side, 2 * AROUND + 1, true);
}

// ---- signatures --------------------------------------------------------------------------------

// "f32[8,512]", as differences have it.
static void type_text(const keel_program_t *p, keel_type_id_t id, keel_buffer_t *out) {
    const keel_type_t *type = id < p->types.count ? &p->types.data[id] : NULL;
    if (!type || type->kind != KEEL_TYPE_TENSOR) {
        keel_print_type(p, id, out);
        return;
    }
    keel_print_type(p, type->a, out);
    keel_ints_t sizes = keel_program_ints(p, type->b);
    keel_buffer_byte(out, '[');
    for (uint32_t i = 0; i < sizes.count; ++i) {
        keel_buffer_text(out, i ? "," : "");
        if (sizes.items[i] == KEEL_DYNAMIC)
            keel_buffer_byte(out, '?');
        else
            keel_buffer_format(out, "%lld", (long long)sizes.items[i]);
    }
    keel_buffer_byte(out, ']');
}

static keel_attr_id_t entry_of(const keel_program_t *p, keel_attr_id_t array, uint32_t index) {
    if (array == KEEL_NONE || p->attrs.data[array].kind != KEEL_ATTR_ARRAY) return KEEL_NONE;
    keel_list_t items = keel_program_list(p, p->attrs.data[array].b);
    return index < items.count ? items.items[index] : KEEL_NONE;
}

static void attributes_text(const keel_program_t *p, keel_attr_id_t array, uint32_t index,
                            keel_buffer_t *out) {
    keel_attr_id_t own = entry_of(p, array, index);
    if (own == KEEL_NONE || p->attrs.data[own].kind != KEEL_ATTR_DICT) return;
    if (!keel_program_list(p, p->attrs.data[own].b).count) return;
    keel_buffer_byte(out, ' ');
    keel_print_attribute(p, own, LARGEST_VALUE, out);
}

static keel_type_id_t type_of(const keel_program_t *p, keel_value_id_t value) {
    return value < p->value_types.count ? p->value_types.data[value] : KEEL_NONE;
}

// The client's own path where it is told, else the argument's number.
static keel_str_t argument_name(const keel_program_t *p, const keel_block_t *block, uint32_t i) {
    keel_str_t name = {"", 0};
    keel_frame_t frame;
    if (block->argument_locations == KEEL_NONE) return name;
    keel_attr_id_t where = p->pool.data[block->argument_locations + i];
    if (where == KEEL_NONE || keel_program_frames(p, where, &frame, 1, &name))
        return (keel_str_t){"", 0};
    return name;
}

static keel_status_t argument_line(side_t *side, const keel_function_t *f,
                                   const keel_block_t *block, uint32_t i, keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    keel_str_t name = argument_name(p, block, i);
    if (name.size)
        keel_buffer_str(text, name);
    else
        keel_buffer_format(text, "argument %u", i);
    keel_html_line_t line = {.kind = keel_html_look(keel_bytes_str(keel_buffer_bytes(text)))};
    keel_buffer_text(text, ": ");
    type_text(p, type_of(p, block->first_argument + i), text);
    attributes_text(p, f->argument_attributes, i, text);
    return end_line(side, text, line);
}

static keel_status_t result_lines(side_t *side, const keel_function_t *f, keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    if (f->type == KEEL_NONE) return NULL;
    keel_list_t types = keel_program_list(p, p->types.data[f->type].c);
    for (uint32_t i = 0; i < types.count && i < ARGUMENTS; ++i) {
        keel_buffer_format(text, "result %u", i);
        keel_html_line_t line = {.kind = keel_html_look(keel_bytes_str(keel_buffer_bytes(text)))};
        keel_buffer_text(text, ": ");
        type_text(p, types.items[i], text);
        attributes_text(p, f->result_attributes, i, text);
        KEEL_TRY(end_line(side, text, line));
    }
    return NULL;
}

// HLO: a computation's parameters are operations.
static keel_status_t parameter_lines(side_t *side, const keel_function_t *f, keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    uint32_t first = 0, end = 0;
    range_of(p, f, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        if (!keel_str_is(keel_program_str(p, keel_program_op_name(p, op)->name), "parameter"))
            continue;
        keel_print_operation(p, op, f->first_value, LARGEST_VALUE, text);
        KEEL_TRY(end_line(side, text, (keel_html_line_t){.kind = 1}));
    }
    return NULL;
}

static keel_status_t signature_lines(side_t *side, keel_buffer_t *text) {
    const keel_program_t *p = side->program;
    KEEL_TRY(begin_lines(side, 2 * ARGUMENTS));
    if (p->entry >= p->functions.count) return NULL;
    const keel_function_t *f = &p->functions.data[p->entry];
    if (f->region >= p->regions.count || !p->regions.data[f->region].block_count) return NULL;
    if (p->format == KEEL_FORMAT_HLO) return parameter_lines(side, f, text);
    const keel_block_t *block = &p->blocks.data[p->regions.data[f->region].first_block];
    for (uint32_t i = 0; i < block->argument_count && i < ARGUMENTS; ++i)
        KEEL_TRY(argument_line(side, f, block, i, text));
    return result_lines(side, f, text);
}

static keel_status_t signature(view_t *v) {
    side_t old_side = {.program = v->old_program, .arena = v->arena},
           new_side = {.program = v->new_program, .arena = v->arena};
    KEEL_TRY(signature_lines(&old_side, v->text));
    KEEL_TRY(signature_lines(&new_side, v->text));
    if (!old_side.lines.count && !new_side.lines.count) return NULL;
    keel_buffer_text(v->page->out, "<p class=\"muted\">Arguments and results</p>\n");
    return table(v, &old_side, &new_side, CONTEXT, false);
}

// ---- a recompile -------------------------------------------------------------------------------

static bool is_of_signature(const keel_why_difference_t *root) {
    if (root->old_op != KEEL_NONE || root->new_op != KEEL_NONE) return false;
    switch (root->kind) {
        case KEEL_CAUSE_SHAPE:
        case KEEL_CAUSE_DTYPE:
        case KEEL_CAUSE_WEAK_TYPE:
        case KEEL_CAUSE_ARGUMENTS:
        case KEEL_CAUSE_SHARDING:
        case KEEL_CAUSE_DONATION:
        case KEEL_CAUSE_LAYOUT:
            return true;
        default:
            return false;
    }
}

static bool has_operation(const keel_why_difference_t *root) {
    return root->old_op != KEEL_NONE || root->new_op != KEEL_NONE;
}

static bool is_worth_it(const keel_why_entry_t *entry) {
    if (!*entry->against_program || entry->unrelated) return false;
    for (size_t i = 0; i < entry->root_count; ++i)
        if (has_operation(&entry->roots[i]) || is_of_signature(&entry->roots[i])) return true;
    return false;
}

static keel_status_t parts(view_t *v) {
    const keel_why_entry_t *entry = v->entry;
    for (size_t i = 0; i < entry->root_count; ++i)
        if (is_of_signature(&entry->roots[i])) {
            KEEL_TRY(signature(v));
            break;
        }
    for (size_t i = 0; i < entry->root_count && v->hunks < HUNKS; ++i)
        if (has_operation(&entry->roots[i])) KEEL_TRY(hunk(v, &entry->roots[i]));
    return NULL;
}

static void hint(keel_buffer_t *out, const keel_why_entry_t *entry) {
    keel_buffer_text(out, "<p class=\"muted\">All of it: <code>keel diff</code> ");
    keel_html_digest(out, entry->against_program);
    keel_buffer_byte(out, ' ');
    keel_html_digest(out, entry->program);
    keel_buffer_text(out, "</p>\n");
}

static keel_status_t both(view_t *v) {
    keel_buffer_t *out = v->page->out;
    const keel_html_program_t *a, *b;
    KEEL_TRY(keel_html_program(v->page, v->entry->against_program, &a));
    KEEL_TRY(keel_html_program(v->page, v->entry->program, &b));
    keel_buffer_format(out, "<details class=\"view\"%s><summary>Side by side</summary>\n",
                       v->is_open ? " open" : "");
    if (*a->missing || *b->missing) {
        keel_buffer_format(out, "<p class=\"muted\">The program %s cannot be shown: ",
                           *a->missing ? "before" : "after");
        keel_html_text(out, *a->missing ? a->missing : b->missing);
        keel_buffer_text(out, ".</p>\n");
    } else {
        v->old_program = &a->program;
        v->new_program = &b->program;
        KEEL_TRY(parts(v));
    }
    hint(out, v->entry);
    keel_buffer_text(out, "</details>\n");
    return NULL;
}

keel_status_t keel_html_view(keel_html_page_t *page, const keel_why_entry_t *entry, bool is_open) {
    if (!is_worth_it(entry)) return NULL;
    keel_arena_t arena;
    keel_buffer_t text;
    keel_arena_initialize(&arena, 64 * 1024);
    keel_buffer_initialize(&text, 0);
    view_t v = {.page = page, .entry = entry, .arena = &arena, .text = &text, .is_open = is_open};
    keel_status_t status = both(&v);
    keel_arena_deinitialize(&arena);
    keel_buffer_deinitialize(&text);
    return status;
}
