// The old and the new program of a recompile side by side: the signature if an argument differs,
// otherwise the operations around those that a root names.
#include "page/part.h"

enum {
    HUNKS = 3,     // of one recompile
    CONTEXT = 3,   // equal arguments beside one that differs
    AROUND = 5,    // rows before and after the operation in question
    LONGEST = 400, // bytes of a name
};

// ---- one hunk ----------------------------------------------------------------------------------

typedef struct view_t {
    keel_page_t *page;
    const keel_why_entry_t *entry;
    const keel_program_t *old_program, *new_program;
    keel_arena_t *arena;
    keel_buffer_t *text; // of one line, reused
    struct {
        uint32_t old_first, old_end, new_first, new_end;
    } shown[HUNKS]; // operations
    size_t hunks;
    bool is_open;
} view_t;

static void caption(view_t *v, const keel_page_side_t *a, const keel_page_side_t *b,
                    const keel_function_t *f) {
    keel_buffer_t *out = v->page->out;
    keel_buffer_text(out, "<p class=\"muted\">Function <code>");
    keel_str_t name = keel_program_str(b->program, f->name);
    if (name.size > LONGEST) name.size = LONGEST;
    keel_page_str(out, name);
    keel_buffer_format(out, "</code>: operations %u to %u of %u before, %u to %u of %u after</p>\n",
                       a->first, a->end - 1, keel_program_op_count(a->program), b->first,
                       b->end - 1, keel_program_op_count(b->program));
}

static bool is_shown(const view_t *v, const keel_page_side_t *a, const keel_page_side_t *b) {
    for (size_t i = 0; i < v->hunks; ++i)
        if (b->told != KEEL_NONE
                ? b->told >= v->shown[i].new_first && b->told < v->shown[i].new_end
                : a->told >= v->shown[i].old_first && a->told < v->shown[i].old_end)
            return true;
    return false;
}

static keel_status_t kinds_of(const keel_page_side_t *side, keel_arena_t *arena, uint64_t **out) {
    void *memory;
    uint32_t count = side->end - side->first;
    KEEL_TRY(keel_arena_array(arena, count + 1, sizeof **out, &memory));
    *out = memory;
    for (uint32_t i = 0; i < count; ++i)
        (*out)[i] = keel_page_operation_kind(side->program, side->first + i);
    return NULL;
}

// Aligns the whole functions of the two sides; rows count from the functions' first operations. The
// operations that a root names share one row, *out_told.
static keel_status_t align_functions(const keel_page_side_t *a, const keel_page_side_t *b,
                                     keel_arena_t *arena, keel_page_rows_t *rows,
                                     size_t *out_told) {
    uint64_t *old_kinds, *new_kinds;
    void *memory;
    uint32_t olds = a->end - a->first, news = b->end - b->first;
    bool has_old = a->told != KEEL_NONE, has_new = b->told != KEEL_NONE;
    KEEL_TRY(kinds_of(a, arena, &old_kinds));
    KEEL_TRY(kinds_of(b, arena, &new_kinds));
    KEEL_TRY(keel_arena_array(arena, (size_t)olds + news + 1, sizeof *rows->items, &memory));
    *rows = (keel_page_rows_t){memory, 0};
    keel_page_stretch_t s = {old_kinds, new_kinds, 0, olds, 0, news};
    if (has_old && has_new) {
        s.old_end = a->told - a->first;
        s.new_end = b->told - b->first;
        KEEL_TRY(keel_page_align(&s, arena, rows));
        rows->items[rows->count++] = (keel_page_row_t){s.old_end, s.new_end, false, false};
        s = (keel_page_stretch_t){old_kinds, new_kinds, s.old_end + 1, olds, s.new_end + 1, news};
    }
    KEEL_TRY(keel_page_align(&s, arena, rows));
    *out_told = 0;
    for (size_t i = 0; i < rows->count; ++i)
        if ((has_old && rows->items[i].old_line == a->told - a->first) ||
            (has_new && rows->items[i].new_line == b->told - b->first))
            *out_told = i;
    return NULL;
}

// Narrows a side to the operations of its rows; `old_side` tells which.
static void narrow(keel_page_side_t *side, const keel_page_rows_t *rows, bool old_side) {
    uint32_t first = UINT32_MAX, end = 0, start = side->first;
    for (size_t i = 0; i < rows->count; ++i) {
        uint32_t line = old_side ? rows->items[i].old_line : rows->items[i].new_line;
        if (line == KEEL_PAGE_ABSENT) continue;
        if (line < first) first = line;
        end = line + 1;
    }
    side->first = start + (first == UINT32_MAX ? 0 : first);
    side->end = first == UINT32_MAX ? side->first : start + end;
}

static bool is_source(const keel_page_side_t *side, uint32_t first, uint32_t line) {
    for (uint32_t i = 0; i < side->source_count && line != KEEL_PAGE_ABSENT; ++i)
        if (side->sources[i] == first + line) return true;
    return false;
}

// Puts the earlier operations that each side needs, and their counterparts, before the rows. Then
// the rows match the lines that the sides will have.
static keel_status_t take_sources(keel_page_side_t *a, keel_page_side_t *b, uint32_t old_first,
                                  uint32_t new_first, const keel_page_rows_t *all,
                                  keel_page_rows_t *rows, keel_arena_t *arena) {
    keel_page_side_t olds = *a, news = *b;
    void *memory;
    KEEL_TRY(keel_arena_array(arena, 2 * KEEL_PAGE_SOURCES_SHOWN + rows->count, sizeof *rows->items,
                              &memory));
    keel_page_rows_t out = {memory, 0};
    a->source_count = b->source_count = 0;
    for (const keel_page_row_t *row = all->items; row < rows->items; ++row) {
        if (!is_source(&olds, old_first, row->old_line) &&
            !is_source(&news, new_first, row->new_line))
            continue;
        keel_page_row_t own = *row;
        if (own.old_line != KEEL_PAGE_ABSENT) {
            a->sources[a->source_count] = old_first + own.old_line;
            own.old_line = a->source_count++;
        }
        if (own.new_line != KEEL_PAGE_ABSENT) {
            b->sources[b->source_count] = new_first + own.new_line;
            own.new_line = b->source_count++;
        }
        out.items[out.count++] = own;
    }
    for (size_t i = 0; i < rows->count; ++i) {
        keel_page_row_t own = rows->items[i];
        if (own.old_line != KEEL_PAGE_ABSENT)
            own.old_line += a->source_count + old_first - a->first;
        if (own.new_line != KEEL_PAGE_ABSENT)
            own.new_line += b->source_count + new_first - b->first;
        own.after_gap = !i && out.count;
        out.items[out.count++] = own;
    }
    *rows = out;
    return NULL;
}

static keel_status_t hunk_table(view_t *v, keel_page_side_t *a, keel_page_side_t *b,
                                const keel_function_t *f, const keel_function_t *g) {
    keel_page_rows_t all;
    uint32_t old_first = a->first, new_first = b->first;
    size_t told;
    KEEL_TRY(align_functions(a, b, v->arena, &all, &told));
    size_t first = told > AROUND ? told - AROUND : 0,
           end = told + AROUND + 1 < all.count ? told + AROUND + 1 : all.count;
    keel_page_rows_t rows = {all.items + first, end - first};
    narrow(a, &rows, true);
    narrow(b, &rows, false);
    keel_page_find_sources(a, f);
    keel_page_find_sources(b, g);
    KEEL_TRY(take_sources(a, b, old_first, new_first, &all, &rows, v->arena));
    KEEL_TRY(keel_page_operations(a, f, v->text));
    KEEL_TRY(keel_page_operations(b, g, v->text));
    caption(v, a, b, g);
    return keel_page_table(&a->lines, &b->lines, &rows, SIZE_MAX, v->arena, v->page->out);
}

// The function of an operation that is on the other side only: of the same name, else the entry.
static const keel_function_t *same_function(const keel_program_t *p, const keel_program_t *q,
                                            const keel_function_t *f) {
    uint32_t found = keel_program_function(q, keel_program_str(p, f->name));
    if (found == KEEL_NONE) found = q->entry;
    return found < q->functions.count ? &q->functions.data[found] : NULL;
}

static keel_status_t hunk(view_t *v, const keel_run_difference_t *root) {
    keel_page_side_t a = {.program = v->old_program, .arena = v->arena, .told = root->old_op},
                     b = {.program = v->new_program, .arena = v->arena, .told = root->new_op};
    const keel_function_t *f = NULL, *g = NULL;
    if (a.told != KEEL_NONE) f = keel_page_function(a.program, a.told);
    if (b.told != KEEL_NONE) g = keel_page_function(b.program, b.told);
    if ((a.told != KEEL_NONE && !f) || (b.told != KEEL_NONE && !g)) return NULL;
    if (!f) f = same_function(b.program, a.program, g);
    if (!g) g = same_function(a.program, b.program, f);
    if (!f || !g || !keel_page_range(a.program, f, &a.first, &a.end) ||
        !keel_page_range(b.program, g, &b.first, &b.end))
        return NULL;
    if (is_shown(v, &a, &b)) return NULL;
    KEEL_TRY(hunk_table(v, &a, &b, f, g));
    v->shown[v->hunks].old_first = a.first;
    v->shown[v->hunks].old_end = a.end;
    v->shown[v->hunks].new_first = b.first;
    v->shown[v->hunks++].new_end = b.end;
    return NULL;
}

// ---- signatures --------------------------------------------------------------------------------

static keel_status_t signature(view_t *v) {
    keel_page_side_t old_side = {.program = v->old_program, .arena = v->arena},
                     new_side = {.program = v->new_program, .arena = v->arena};
    KEEL_TRY(keel_page_signature(&old_side, v->text));
    KEEL_TRY(keel_page_signature(&new_side, v->text));
    if (!old_side.lines.count && !new_side.lines.count) return NULL;
    keel_buffer_text(v->page->out, "<p class=\"muted\">Arguments and results</p>\n");
    keel_page_rows_t rows;
    KEEL_TRY(keel_page_align_lines(&old_side.lines, &new_side.lines, v->arena, &rows));
    return keel_page_table(&old_side.lines, &new_side.lines, &rows, CONTEXT, v->arena,
                           v->page->out);
}

// ---- a recompile -------------------------------------------------------------------------------

static bool is_of_signature(const keel_run_difference_t *root) {
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

static bool has_operation(const keel_run_difference_t *root) {
    return root->old_op != KEEL_NONE || root->new_op != KEEL_NONE;
}

static bool is_worth_it(const keel_why_entry_t *entry) {
    if (!*entry->asked->against_program || entry->asked->unrelated) return false;
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
    keel_buffer_text(out, "<p class=\"muted\">Full comparison: <code>keel diff</code> ");
    keel_page_digest(out, entry->asked->against_program);
    keel_buffer_byte(out, ' ');
    keel_page_digest(out, entry->asked->program);
    keel_buffer_text(out, "</p>\n");
}

static keel_status_t both(view_t *v) {
    keel_buffer_t *out = v->page->out;
    const keel_page_program_t *a, *b;
    KEEL_TRY(keel_page_program(v->page, v->entry->asked->against_program, &a));
    KEEL_TRY(keel_page_program(v->page, v->entry->asked->program, &b));
    keel_buffer_format(out, "<details class=\"view\"%s><summary>Side by side</summary>\n",
                       v->is_open ? " open" : "");
    if (*a->missing || *b->missing) {
        keel_buffer_format(out, "<p class=\"muted\">The program %s cannot be shown: ",
                           *a->missing ? "before" : "after");
        keel_page_text(out, *a->missing ? a->missing : b->missing);
        keel_buffer_text(out, ".</p>\n");
    } else {
        v->old_program = &a->program;
        v->new_program = &b->program;
        KEEL_TRY(parts(v));
        hint(out, v->entry);
    }
    keel_buffer_text(out, "</details>\n");
    return NULL;
}

keel_status_t keel_page_view(keel_page_t *page, const keel_why_entry_t *entry, bool is_open) {
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
