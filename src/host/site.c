#include <stdio.h>
#include <string.h>

#include "host/host.h"

// Operations of the entry that are looked at before giving up: the first ones of a JAX program may
// be constants, which have no position.
enum { OPS_TRIED = 64, FRAMES = 128 };

static const char *keep(keel_arena_t *arena, keel_str_t text) {
    keel_str_t copy;
    keel_status_t status = text.size ? keel_arena_str(arena, text, &copy) : NULL;
    if (status || !text.size) {
        keel_status_ignore(status);
        return "";
    }
    return copy.data;
}

// "Model.__call__" and "f.<locals>.g" name their function last.
static keel_str_t last_part(keel_str_t name) {
    for (size_t i = name.size; i > 0; --i)
        if (name.data[i - 1] == '.') return (keel_str_t){name.data + i, name.size - i};
    return name;
}

// JAX strips them from a module's name: "jit___call" is "__call__".
static keel_str_t without_trailing_underscores(keel_str_t name) {
    while (name.size > 1 && name.data[name.size - 1] == '_')
        --name.size;
    return name;
}

// JAX calls the module of f "jit_f", and writes "_" for what cannot stand in a name.
static bool names_function(keel_str_t module, keel_str_t function) {
    static const char *const prefixes[] = {"jit_", "pmap_"};
    keel_str_t name = without_trailing_underscores(last_part(function));
    module = without_trailing_underscores(module);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; ++i) {
        keel_str_t prefix = keel_str(prefixes[i]);
        if (keel_str_starts(module, prefix) &&
            keel_str_equal((keel_str_t){module.data + prefix.size, module.size - prefix.size},
                           name))
            return true;
    }
    return keel_str_is(name, "<lambda>") && keel_str_starts(module, KEEL_STR("jit__lambda"));
}

// The traced function's own frame is the outermost of its name; `count` where there is none.
static uint32_t own_frame(keel_str_t module, const keel_frame_t *frames, uint32_t count) {
    uint32_t own = count;
    for (uint32_t i = 0; i < count; ++i)
        if (names_function(module, frames[i].function)) own = i;
    return own;
}

// What tells one traced function from another of its name: its file, and where it has no name of
// its own, its line. "" where there is no memory.
static const char *origin_of(const keel_frame_t *frame, bool has_name, keel_arena_t *arena) {
    void *text;
    size_t size = frame->file.size + 16;
    keel_status_t status = keel_arena_alloc(arena, size, &text);
    if (status) {
        keel_status_ignore(status);
        return "";
    }
    snprintf(text, size, "%.*s:%u", (int)frame->file.size, frame->file.data,
             has_name ? 0 : frame->line);
    return text;
}

// The line to show is the one that called the traced function. A program without a frame of its own
// is a single operation run by itself: its innermost frame is the line already.
static void choose(keel_str_t module, const keel_frame_t *frames, uint32_t count,
                   keel_arena_t *arena, keel_site_t *out) {
    uint32_t own = own_frame(module, frames, count);
    bool is_traced = own < count;
    uint32_t shown = own + 1 < count ? own + 1 : is_traced ? own : 0;
    const keel_frame_t *frame = &frames[shown];
    out->place.file = keep(arena, frame->file);
    out->place.line = frame->line;
    out->place.function = keep(arena, frame->function);
    const keel_frame_t *origin = &frames[is_traced ? own : 0];
    bool has_name = is_traced && !keel_str_is(last_part(origin->function), "<lambda>");
    out->origin = origin_of(origin, has_name, arena);
    out->is_traced = is_traced;
    if (shown + 1 >= count) return;
    out->place.call_file = keep(arena, frames[shown + 1].file);
    out->place.call_line = frames[shown + 1].line;
}

void keel_site_of(const keel_program_t *program, keel_arena_t *arena, keel_site_t *out) {
    *out = (keel_site_t){.place = {.file = "", .function = "", .call_file = ""}, .origin = ""};
    const keel_block_t *block = keel_program_body(program, program->entry);
    if (!block) return;
    keel_str_t module = keel_program_str(program, program->name);
    keel_op_id_t op = block->first_op;
    keel_frame_t best[FRAMES];
    uint32_t best_count = 0;
    for (int tried = 0; tried < OPS_TRIED && op < block->end_op; ++tried) {
        keel_frame_t frames[FRAMES];
        uint32_t count = keel_program_frames(program, program->operations.data[op].location, frames,
                                             FRAMES, NULL);
        if (count > FRAMES) count = FRAMES;
        bool is_own = own_frame(module, frames, count) < count;
        if (is_own || count > best_count) {
            memcpy(best, frames, count * sizeof *frames);
            best_count = count;
        }
        if (is_own) break;
        ++op; // into it: a body may be all that is the user's (a function that is sharded whole)
    }
    if (best_count) choose(module, best, best_count, arena, out);
}

// ---- with the stack ----------------------------------------------------------------------------

static bool is_at(const keel_stack_frame_t *frame, const char *file, uint32_t line) {
    return frame->line == line && strcmp(frame->file, file) == 0;
}

// A line of the traced function itself, of which nobody tells who called it.
static bool is_own_line(const keel_place_t *place, const char *module) {
    const char *last = strrchr(place->function, '.');
    last = last ? last + 1 : place->function;
    size_t size = strlen(module), part = strlen(last);
    return !*place->call_file && part && size > part && module[size - part - 1] == '_' &&
           strcmp(module + size - part, last) == 0;
}

// A function that a decorator made has no frame of the module's name, or an inner one, called by
// the decorator's: what stands between that and the stack was traced, and has not asked. A caller
// of the same name is taken for it. Elsewhere the program is right, which may be lowered on one
// line and compiled on another.
void keel_site_settle(const keel_stack_t *stack, const char *module, keel_site_t *site) {
    if (!stack->count) return;
    const keel_place_t *place = &site->place;
    const keel_stack_frame_t *frames = stack->frames;
    bool is_inside = is_at(&frames[0], place->call_file, place->call_line);
    bool is_outside = stack->count > 1 && is_at(&frames[1], place->file, place->line);
    bool is_known = is_at(&frames[0], place->file, place->line);
    bool is_better = is_inside || is_outside || !site->is_traced || is_own_line(place, module);
    if (!is_known && is_better) site->place = keel_stack_top(stack);
}

void keel_site_asked(const keel_stack_t *stack, keel_arena_t *arena, keel_site_t *site) {
    if (!stack->count) return;
    site->place = keel_stack_top(stack);
    void *text;
    size_t size = strlen(site->place.file) + 16;
    keel_status_t status = keel_arena_alloc(arena, size, &text);
    keel_status_ignore(status);
    if (status) return;
    snprintf(text, size, "%s:%u", site->place.file, site->place.line);
    site->origin = text;
}
