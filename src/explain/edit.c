// Source that was edited between two runs. If both texts of a file are known, they are compared
// line by line. A difference follows from an edit of its own line or function, of a line on its
// stack, or of a line that those depend on (depends.h), in their file or in one that it imports.
#include <stdio.h>
#include <string.h>

#include "explain/align.h"
#include "explain/diff.h"
#include "explain/imports.h"

// Larger files, and any beyond this number, are not compared.
enum { FILES = 64, LINES = 1 << 16, FRAMES = 64, TRACED = 1 << 14 };

typedef struct text_t {
    keel_str_t *lines;
    uint64_t *tokens;
    uint32_t *others; // by line: its counterpart; NONE if it was edited
    uint32_t count;
    keel_depends_t reads;
} text_t;

// The lines of one function, from 1. Its def is above its first operation.
typedef struct range_t {
    uint32_t first, last;
} range_t;

typedef struct file_t {
    keel_str_t name;
    bool is_known;     // both texts are
    bool is_edited;    // and they differ
    bool is_traced[2]; // by side: its traced functions were excluded
    bool is_reached;   // an edit of it explains a difference
    bool is_started;   // a line on the stack, or another file, leads into it
    bool is_module;    // another file has it by name, so reads its names as attributes
    text_t before, after;
} file_t;

// How an edit reaches a difference, the surest way first.
typedef enum reach_t { OWN_LINE, OWN_FUNCTION, STACK, DEPENDENCE, NOT_REACHED } reach_t;

typedef struct found_t {
    reach_t reach;
    const file_t *file;
    uint32_t line; // of `after`, from 1
    keel_str_t function, subject;
} found_t;

typedef struct edits_t {
    keel_diff_t *diff;
    const keel_side_t *old_side, *new_side;
    file_t files[FILES];
    uint32_t count;
    found_t found; // the edit to report
    keel_place_t old_site;
    keel_op_id_t called[2]; // by side: find_called
    bool is_called_known[2];
    keel_frame_t frames[FRAMES]; // of the difference that is looked at
    uint32_t frame_count;
} edits_t;

// ---- texts -------------------------------------------------------------------------------------

// Comments, and blanks at the end of a line, do not count.
static keel_status_t split_lines(keel_arena_t *arena, keel_str_t text, text_t *out) {
    KEEL_TRY(keel_depends_parse(&out->reads, text, arena));
    const keel_py_tree_t *tree = &out->reads.tree;
    uint32_t count = tree->line_count;
    KEEL_TRY(keel_arena_array(arena, count, sizeof *out->lines, (void **)&out->lines));
    KEEL_TRY(keel_arena_array(arena, count, sizeof *out->tokens, (void **)&out->tokens));
    KEEL_TRY(keel_arena_array(arena, count, sizeof *out->others, (void **)&out->others));
    if (count && tree->lines[count - 1] == tree->text.size) --count; // behind the last newline
    for (; out->count < count && out->count < LINES; ++out->count) {
        keel_str_t line = {tree->text.data + tree->lines[out->count],
                           out->reads.lines[out->count].size};
        out->lines[out->count] = line;
        out->tokens[out->count] = keel_quick_hash(keel_str_bytes(line));
    }
    return NULL;
}

static keel_status_t read(const keel_side_t *side, const char *file, keel_str_t *out,
                          bool *out_known) {
    keel_status_t status = side->sources->read(side->sources->context, file, out);
    *out_known = !status;
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t load_file(edits_t *edits, file_t *file) {
    keel_arena_t *arena = &edits->diff->arena;
    keel_str_t name, old_text, new_text;
    bool had = false, has = false;
    KEEL_TRY(keel_arena_str(arena, file->name, &name));
    KEEL_TRY(read(edits->old_side, name.data, &old_text, &had));
    if (!had) return NULL;
    KEEL_TRY(keel_arena_str(arena, old_text, &old_text)); // the next load may reuse it
    KEEL_TRY(read(edits->new_side, name.data, &new_text, &has));
    if (!has) return NULL;
    KEEL_TRY(keel_arena_str(arena, new_text, &new_text));
    file->name = name;
    file->is_known = true;
    KEEL_TRY(split_lines(arena, old_text, &file->before));
    KEEL_TRY(split_lines(arena, new_text, &file->after));
    if (keel_str_equal(old_text, new_text)) return NULL;
    KEEL_TRY(keel_align(file->before.tokens, file->before.count, file->after.tokens,
                        file->after.count, file->before.others, file->after.others));
    file->is_edited = file->before.count && file->after.count;
    return NULL;
}

// NULL if one of its texts is not known.
static keel_status_t file_named(edits_t *edits, keel_str_t name, file_t **out) {
    file_t *file = edits->files;
    *out = NULL;
    while (file < edits->files + edits->count && !keel_str_equal(file->name, name))
        ++file;
    if (file == edits->files + edits->count) {
        if (edits->count == FILES || !name.size) return NULL;
        ++edits->count;
        *file = (file_t){.name = name};
        KEEL_TRY(load_file(edits, file));
    }
    if (file->is_known) *out = file;
    return NULL;
}

// NULL if it was not edited, too.
static keel_status_t edited_named(edits_t *edits, keel_str_t name, const file_t **out) {
    file_t *file;
    KEEL_TRY(file_named(edits, name, &file));
    *out = file && file->is_edited ? file : NULL;
    return NULL;
}

static void deinitialize(edits_t *edits) {
    for (uint32_t i = 0; i < edits->count; ++i) {
        keel_depends_deinitialize(&edits->files[i].before.reads);
        keel_depends_deinitialize(&edits->files[i].after.reads);
    }
}

// ---- lines -------------------------------------------------------------------------------------

// Comments, empty lines and texts that stand alone do not affect tracing.
static bool is_edited(const text_t *text, uint32_t line) {
    return line && line <= text->count && text->others[line - 1] == KEEL_NONE &&
           text->reads.lines[line - 1].is_code;
}

// The lines on which a function of a file has operations.
static range_t range_of(keel_graph_t *graph, const keel_source_line_t *of) {
    enum { ABOVE = 8 }; // a def with its arguments, and decorators
    range_t range = {of->line, of->line};
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        const keel_source_line_t *line = keel_graph_line(graph, op);
        if (!keel_str_equal(line->file, of->file) || !keel_str_equal(line->function, of->function))
            continue;
        if (line->line < range.first) range.first = line->line;
        if (line->line > range.last) range.last = line->line;
    }
    range.first = range.first > ABOVE ? range.first - ABOVE : 1;
    return range;
}

// The first edited line of a range; 0 if there is none. Lines above the first decorator are not
// part of the function.
static uint32_t first_edited(const text_t *text, range_t range) {
    for (uint32_t line = range.last; line > range.first; --line) {
        if (line - 1 > text->count || !text->lines[line - 1 < text->count ? line - 1 : 0].size)
            continue;
        if (line <= text->count && keel_str_starts(text->lines[line - 1], KEEL_STR("def "))) {
            uint32_t top = line;
            while (top > 1 && keel_str_starts(text->lines[top - 2], KEEL_STR("@")))
                --top;
            range.first = top;
            break;
        }
    }
    for (uint32_t line = range.first; line <= range.last; ++line)
        if (is_edited(text, line)) return line;
    return 0;
}

// Where a removed line of `before` would be in `after`.
static uint32_t place_of_gone(const file_t *file, uint32_t line) {
    while (line > 1 && file->before.others[line - 2] == KEEL_NONE)
        --line;
    uint32_t above = line > 1 ? file->before.others[line - 2] + 1 : 0;
    return above < file->after.count ? above + 1 : above ? above : 1;
}

static text_t *text_of(file_t *file, bool is_after) {
    return is_after ? &file->after : &file->before;
}

// Keeps the surer one, and of two that are as sure the one further up in a file.
static void offer(edits_t *edits, reach_t how, const file_t *file, bool is_after, uint32_t line,
                  keel_str_t function, keel_str_t subject) {
    found_t *found = &edits->found;
    edits->files[file - edits->files].is_reached = true;
    if (!is_after) line = place_of_gone(file, line);
    if (how > found->reach || (how == found->reach && (file != found->file || line >= found->line)))
        return;
    *found = (found_t){how, file, line, function, subject};
}

// Its own line was edited.
static keel_status_t look_at_line(edits_t *edits, keel_op_id_t op, bool is_after, bool *out) {
    const keel_source_line_t *line =
        keel_graph_line(is_after ? &edits->diff->after : &edits->diff->before, op);
    const file_t *file;
    if (!line->identity) return NULL;
    KEEL_TRY(edited_named(edits, line->file, &file));
    if (!file || !is_edited(is_after ? &file->after : &file->before, line->line)) return NULL;
    *out = true;
    offer(edits, OWN_LINE, file, is_after, line->line, line->function, line->function);
    return NULL;
}

// A constant or a branch may come from any line of its function.
static keel_status_t look_at_own(edits_t *edits, keel_op_id_t op, bool is_after, bool *out) {
    keel_graph_t *graph = is_after ? &edits->diff->after : &edits->diff->before;
    const keel_source_line_t *line = keel_graph_line(graph, op);
    const file_t *file;
    KEEL_TRY(look_at_line(edits, op, is_after, out));
    if (*out || !line->identity) return NULL;
    KEEL_TRY(edited_named(edits, line->file, &file));
    if (!file) return NULL;
    uint32_t edited = first_edited(is_after ? &file->after : &file->before, range_of(graph, line));
    if (!edited) return NULL;
    *out = true;
    offer(edits, OWN_FUNCTION, file, is_after, edited, line->function, line->function);
    return NULL;
}

// ---- the stack ---------------------------------------------------------------------------------

static void add_frame(edits_t *edits, const char *file, uint32_t line, const char *function) {
    if (!file || !*file || !line || edits->frame_count == FRAMES ||
        keel_is_foreign_file(keel_str(file), edits->diff->after.application))
        return;
    edits->frames[edits->frame_count++] = (keel_frame_t){
        .file = keel_str(file), .function = keel_str(function ? function : ""), .line = line};
}

// An operation whose stack runs through the call of the traced function; NONE.
static keel_op_id_t find_called(edits_t *edits, bool is_after, const keel_place_t *site) {
    keel_graph_t *graph = is_after ? &edits->diff->after : &edits->diff->before;
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program) && op < TRACED; ++op)
        if (keel_graph_passes(graph, op, site->file, site->line)) return op;
    return KEEL_NONE;
}

// The frames from the call of the traced function outward, which all operations share. False if no
// stack has them.
static bool add_callers(edits_t *edits, bool is_after, const keel_place_t *site) {
    if (!edits->is_called_known[is_after])
        edits->called[is_after] = find_called(edits, is_after, site);
    edits->is_called_known[is_after] = true;
    if (edits->called[is_after] == KEEL_NONE) return false;
    keel_graph_t *graph = is_after ? &edits->diff->after : &edits->diff->before;
    keel_frame_t frames[FRAMES];
    uint32_t count = keel_graph_stack(graph, edits->called[is_after], frames, FRAMES), at = 0;
    while (at < count &&
           !(frames[at].line == site->line && keel_str_is(frames[at].file, site->file)))
        ++at;
    bool found = at < count;
    for (; at < count && edits->frame_count < FRAMES; ++at)
        edits->frames[edits->frame_count++] = frames[at];
    return found;
}

static void collect_frames(edits_t *edits, const keel_difference_t *difference, bool is_after) {
    keel_graph_t *graph = is_after ? &edits->diff->after : &edits->diff->before;
    keel_op_id_t op = is_after ? difference->new_op : difference->old_op;
    bool has_op = difference->new_op != KEEL_NONE || difference->old_op != KEEL_NONE;
    const keel_place_t *place = &difference->place;
    edits->frame_count = 0;
    if (has_op && op == KEEL_NONE) return;
    if (has_op) {
        edits->frame_count = keel_graph_stack(graph, op, edits->frames, FRAMES);
        return;
    }
    const keel_place_t *site = is_after ? &edits->diff->site : &edits->old_site;
    bool is_site = place->line == site->line && place->file && strcmp(place->file, site->file) == 0;
    if (is_after && place->line && !is_site)
        add_frame(edits, place->file, place->line, place->function);
    if (graph->program->format != KEEL_FORMAT_MLIR) return;
    if (!site->line || add_callers(edits, is_after, site)) return;
    add_frame(edits, site->file, site->line, site->function);
    add_frame(edits, site->call_file, site->call_line, NULL);
}

static keel_status_t look_at_stack(edits_t *edits, bool is_after, bool *out) {
    const file_t *file;
    for (uint32_t i = 0; i < edits->frame_count; ++i) {
        const keel_frame_t *frame = &edits->frames[i];
        KEEL_TRY(edited_named(edits, frame->file, &file));
        const text_t *text = !file ? NULL : is_after ? &file->after : &file->before;
        uint32_t last = frame->end_line > frame->line ? frame->end_line : frame->line;
        for (uint32_t line = frame->line; file && line <= last; ++line) {
            if (!is_edited(text, line)) continue;
            bool is_module = keel_str_is(frame->function, "<module>");
            offer(edits, STACK, file, is_after, line, frame->function,
                  is_module ? KEEL_STR("") : frame->function);
            *out = true;
            return NULL;
        }
    }
    return NULL;
}

// ---- what the stack depends on -----------------------------------------------------------------

// Functions with operations show them, so that their names need not lead into them.
static keel_status_t exclude_traced(edits_t *edits, file_t *file, bool is_after) {
    keel_graph_t *graph = is_after ? &edits->diff->after : &edits->diff->before;
    keel_depends_t *reads = is_after ? &file->after.reads : &file->before.reads;
    keel_arena_t *arena = &edits->diff->arena;
    keel_str_t name;
    KEEL_TRY(keel_arena_str(arena, file->name, &name));
    uint64_t last = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program) && op < TRACED; ++op) {
        uint32_t lines[FRAMES];
        const keel_source_line_t *own = keel_graph_line(graph, op);
        if (!own->identity || own->stack == last) continue;
        last = own->stack;
        uint32_t count = keel_graph_lines_in(graph, op, name.data, lines, FRAMES);
        for (uint32_t i = 0; i < count; ++i)
            keel_depends_exclude(reads, lines[i]);
    }
    return NULL;
}

typedef struct following_t {
    edits_t *edits;
    keel_import_t import;
    const keel_depends_t *reads; // of the file that imports
    bool is_after, is_more;      // is_more: something was added to what a file depends on
} following_t;

static keel_status_t follow_into(void *context, const char *path, bool is_whole,
                                 bool *out_is_there) {
    following_t *following = context;
    keel_str_t name;
    file_t *file;
    KEEL_TRY(read(following->edits->new_side, path, &name, out_is_there));
    if (!*out_is_there) return NULL;
    KEEL_TRY(keel_arena_str(&following->edits->diff->arena, keel_str(path), &name));
    KEEL_TRY(file_named(following->edits, name, &file));
    if (!file) return NULL;
    keel_depends_t *reads = &text_of(file, following->is_after)->reads;
    bool is_new = is_whole ? !file->is_module
                           : keel_depends_start_import(reads, following->reads, &following->import);
    file->is_module |= is_whole;
    file->is_started |= is_new;
    following->is_more |= is_new;
    return NULL;
}

static keel_status_t follow_file(following_t *following, file_t *file) {
    edits_t *edits = following->edits;
    bool is_after = following->is_after;
    const keel_sources_t *sources = (is_after ? edits->new_side : edits->old_side)->sources;
    keel_depends_t *reads = &text_of(file, is_after)->reads;
    if (!file->is_traced[is_after]) KEEL_TRY(exclude_traced(edits, file, is_after));
    file->is_traced[is_after] = true;
    keel_depends_follow(reads);
    uint32_t at = 0;
    following->reads = reads;
    while (keel_imports_next(reads, &at, &following->import))
        if (keel_depends_reads(reads, &following->import))
            KEEL_TRY(keel_import_files(&following->import, file->name.data, sources->folders,
                                       follow_into, following));
    for (file_t *other = edits->files; other < edits->files + edits->count; ++other) {
        if (other == file || !other->is_started) continue;
        keel_depends_t *theirs = &text_of(other, is_after)->reads;
        bool more_attributes = keel_depends_start_attributes(reads, theirs, file->is_module);
        bool more_calls = keel_depends_start_calls(reads, theirs);
        following->is_more = following->is_more || more_attributes || more_calls;
    }
    return NULL;
}

// Marks what the frames lead to in their own files and, from there, in those that they import.
static keel_status_t follow_frames(edits_t *edits, bool is_after) {
    following_t following = {.edits = edits, .is_after = is_after};
    for (uint32_t i = 0; i < edits->count; ++i) {
        file_t *file = &edits->files[i];
        if (file->is_known)
            keel_depends_reset(&text_of(file, is_after)->reads, edits->frame_count > 1);
        file->is_started = file->is_module = false;
    }
    for (uint32_t i = 0; i < edits->frame_count; ++i) {
        file_t *file;
        KEEL_TRY(file_named(edits, edits->frames[i].file, &file));
        if (!file) continue;
        keel_depends_start(&text_of(file, is_after)->reads, &edits->frames[i]);
        file->is_started = true;
    }
    // The script may make the objects whose methods are on the stack.
    file_t *asking;
    KEEL_TRY(file_named(edits, keel_str(edits->diff->site.file), &asking));
    if (asking) asking->is_started = true;
    do {
        following.is_more = false;
        for (uint32_t i = 0; i < edits->count; ++i)
            if (edits->files[i].is_started) KEEL_TRY(follow_file(&following, &edits->files[i]));
    } while (following.is_more);
    return NULL;
}

static keel_status_t look_at_dependences(edits_t *edits, bool is_after, bool *out) {
    KEEL_TRY(follow_frames(edits, is_after));
    for (uint32_t i = 0; i < edits->count; ++i) {
        file_t *file = &edits->files[i];
        if (!file->is_edited || !file->is_started) continue;
        text_t *text = text_of(file, is_after);
        for (uint32_t line = 1; line <= text->count; ++line) {
            if (!is_edited(text, line) || !keel_depends_has(&text->reads, line)) continue;
            bool is_function;
            keel_str_t owner = keel_depends_owner(&text->reads, line, &is_function);
            offer(edits, DEPENDENCE, file, is_after, line, is_function ? owner : KEEL_STR(""),
                  owner);
            *out = true;
            break;
        }
    }
    return NULL;
}

static bool takes(const keel_program_t *program, keel_op_id_t op, keel_value_id_t value) {
    keel_list_t operands = keel_program_operands(program, op);
    for (uint32_t i = 0; i < operands.count; ++i)
        if (operands.items[i] == value) return true;
    return false;
}

// An argument that only one side uses, though it may have been passed to both: the edit may be on a
// line that uses it, or that computes something with it, however far down.
static keel_status_t look_at_users(edits_t *edits, uint32_t root, bool is_after, bool *out) {
    const keel_diff_t *diff = edits->diff;
    const keel_program_t *program = (is_after ? &diff->after : &diff->before)->program;
    const keel_argument_t *list = is_after ? diff->arguments_after : diff->arguments_before;
    uint32_t count = is_after ? diff->after_count : diff->before_count;
    for (uint32_t i = 0; i < count; ++i) {
        if (list[i].counterpart != KEEL_NONE || list[i].root != root) continue;
        for (keel_op_id_t op = 0; op < keel_program_op_count(program) && op < TRACED; ++op)
            if (takes(program, op, list[i].value)) KEEL_TRY(look_at_line(edits, op, is_after, out));
    }
    const keel_op_id_t *others = is_after ? diff->origin : diff->counterpart;
    for (keel_op_id_t op = 0; op < keel_program_op_count(program) && op < TRACED; ++op)
        if (others[op] == KEEL_NONE) KEEL_TRY(look_at_line(edits, op, is_after, out));
    return NULL;
}

static keel_status_t look_at_edit(edits_t *edits, const keel_difference_t *difference,
                                  bool is_after, bool *out) {
    keel_op_id_t op = is_after ? difference->new_op : difference->old_op;
    bool is_reached = false;
    if (op != KEEL_NONE) KEEL_TRY(look_at_own(edits, op, is_after, &is_reached));
    if (!is_reached) {
        collect_frames(edits, difference, is_after);
        KEEL_TRY(look_at_stack(edits, is_after, &is_reached));
    }
    if (!is_reached) KEEL_TRY(look_at_dependences(edits, is_after, &is_reached));
    *out |= is_reached;
    return NULL;
}

// ---- telling -----------------------------------------------------------------------------------

static const char *shown(keel_diff_t *diff, const text_t *text, uint32_t line) {
    keel_str_t content = text->lines[line - 1];
    while (content.size && (*content.data == ' ' || *content.data == '\t'))
        content = (keel_str_t){content.data + 1, content.size - 1};
    if (!content.size) return "nothing";
    return keel_diff_text(diff, "%.*s", content.size < 120 ? (int)content.size : 120, content.data);
}

static const char *base_name(keel_diff_t *diff, keel_str_t file) {
    size_t from = file.size;
    while (from > 0 && file.data[from - 1] != '/')
        --from;
    return keel_diff_text(diff, "%.*s", (int)(file.size - from), file.data + from);
}

static const char *other_files(edits_t *edits) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < edits->count; ++i)
        count += edits->files[i].is_reached && &edits->files[i] != edits->found.file;
    if (!count) return "";
    return keel_diff_text(edits->diff, ", and lines of %u more file%s", count,
                          count == 1 ? "" : "s");
}

// True for a line of `before` that `after` lacks.
static bool is_gone_at(const text_t *before, uint32_t line) {
    return line <= before->count && before->others[line - 1] == KEEL_NONE;
}

// The edit around a line: from the last line above that is in both texts to the first one below.
static keel_status_t explain_edits(edits_t *edits, uint32_t *out) {
    keel_diff_t *diff = edits->diff;
    const file_t *file = edits->found.file;
    keel_str_t function = edits->found.function, subject = edits->found.subject;
    const text_t *before = &file->before, *after = &file->after;
    uint32_t first = edits->found.line, last = edits->found.line;
    bool is_gone = after->others[first - 1] != KEEL_NONE; // lines beside it were removed
    while (!is_gone && first > 1 && after->others[first - 2] == KEEL_NONE)
        --first;
    while (!is_gone && last < after->count && after->others[last] == KEEL_NONE)
        ++last;
    uint32_t old_line = first > 1 ? after->others[first - 2] + 2 : 1;
    bool has_old = is_gone_at(before, old_line);
    if (is_gone && !has_old && is_gone_at(before, after->others[first - 1] + 2)) {
        old_line = after->others[first - 1] + 2; // below it, at the end of the file
        has_old = true;
    }
    const char *name = base_name(diff, file->name);
    const char *note = keel_diff_text(diff, "lines %u-%u of %s changed", first, last, name);
    if (first == last) note = keel_diff_text(diff, "line %u of %s changed", first, name);
    if (is_gone) note = keel_diff_text(diff, "line %u of %s was removed", old_line, name);
    note = keel_diff_text(diff, "%s%s", note, other_files(edits));
    keel_difference_t difference = {
        .kind = KEEL_CAUSE_EDIT,
        .subject = keel_diff_text(diff, "%.*s", (int)subject.size, subject.data),
        .old_value = has_old ? shown(diff, before, old_line) : "nothing",
        .new_value = is_gone ? "nothing" : shown(diff, after, first),
        .note = note,
        .place = {.file = keel_diff_text(diff, "%.*s", (int)file->name.size, file->name.data),
                  .line = edits->found.line,
                  .function = keel_diff_text(diff, "%.*s", (int)function.size, function.data),
                  .call_file = diff->site.file,
                  .call_line = diff->site.line},
        .old_op = KEEL_NONE,
        .new_op = KEEL_NONE,
        .follows = KEEL_NONE};
    return keel_diff_root(diff, &difference, out);
}

static keel_status_t look_at_all(edits_t *edits) {
    keel_diff_t *diff = edits->diff;
    bool follows[KEEL_DIFF_ROOTS] = {false}, any = false;
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_difference_t *difference = &diff->roots[i].difference;
        if (diff->roots[i].follows != KEEL_NONE) continue;
        KEEL_TRY(look_at_edit(edits, difference, true, &follows[i]));
        KEEL_TRY(look_at_edit(edits, difference, false, &follows[i]));
        if (difference->kind == KEEL_CAUSE_ARGUMENTS) {
            KEEL_TRY(look_at_users(edits, i, true, &follows[i]));
            KEEL_TRY(look_at_users(edits, i, false, &follows[i]));
        }
        any = any || follows[i];
    }
    if (!any) return NULL;
    uint32_t root, count = diff->root_count;
    KEEL_TRY(explain_edits(edits, &root));
    if (root >= count)
        for (uint32_t i = 0; i < count; ++i)
            if (follows[i]) diff->roots[i].follows = root;
    return NULL;
}

keel_status_t keel_diff_edit(keel_diff_t *diff, const keel_side_t *old_side,
                             const keel_side_t *new_side) {
    if (!old_side->sources || !new_side->sources) return NULL;
    void *memory;
    KEEL_TRY(keel_arena_alloc(&diff->arena, sizeof(edits_t), &memory));
    edits_t *edits = memory;
    *edits = (edits_t){
        .diff = diff, .old_side = old_side, .new_side = new_side, .found = {.reach = NOT_REACHED}};
    edits->old_site = keel_side_place(old_side, &diff->arena);
    keel_status_t status = look_at_all(edits);
    deinitialize(edits);
    return status;
}
