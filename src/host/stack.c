// The host's stack, read from the interpreter in the process.
#include <string.h>

#include "host/host.h"
#include "host/python.h"

// A recursion may be many thousand frames deep; the innermost tell enough.
enum { FRAMES_WALKED = 2048 };

// ---- frames ------------------------------------------------------------------------------------

typedef struct frames_t {
    keel_stack_frame_t kept[KEEL_STACK_KEPT];
    uint32_t count;
} frames_t;

typedef struct walk_t {
    const keel_python_t *python;
    keel_arena_t *arena;
    frames_t users, libraries;
    uint32_t total;
    const char *function_name; // the attribute of a code object that the interpreter has
    bool no_memory;
} walk_t;

// 3.11 brought qualified names.
static keel_object_t *function_of(walk_t *walk, keel_object_t *code) {
    keel_object_t *name = keel_python_attribute(walk->python, code, walk->function_name);
    if (name || strcmp(walk->function_name, "co_name") == 0) return name;
    walk->function_name = "co_name";
    return keel_python_attribute(walk->python, code, walk->function_name);
}

static const char *keep(walk_t *walk, keel_str_t text) {
    keel_str_t copy;
    keel_status_t status = keel_arena_str(walk->arena, text, &copy);
    if (status) {
        walk->no_memory = true;
        keel_status_ignore(status);
        return "";
    }
    return copy.data;
}

static void add_frame(walk_t *walk, keel_object_t *frame) {
    const keel_python_t *python = walk->python;
    keel_object_t *code = python->code(frame);
    keel_object_t *file = code ? keel_python_attribute(walk->python, code, "co_filename") : NULL;
    keel_object_t *function = code ? function_of(walk, code) : NULL;
    keel_str_t path = keel_python_text(python, file);
    bool is_library = keel_is_library_file(path);
    frames_t *list = is_library ? &walk->libraries : &walk->users;
    bool is_wanted = !is_library || !walk->users.count;
    if (is_wanted && list->count < KEEL_STACK_KEPT) {
        int line = python->line(frame);
        list->kept[list->count++] =
            (keel_stack_frame_t){.file = keep(walk, path),
                                 .function = keep(walk, keel_python_text(python, function)),
                                 .line = line > 0 ? (uint32_t)line : 0};
    }
    ++walk->total;
    python->drop(function);
    python->drop(file);
    python->drop(code);
}

static void walk_frames(walk_t *walk) {
    const keel_python_t *python = walk->python;
    keel_object_t *frame = python->frame();
    python->hold(frame);
    while (frame && walk->total < FRAMES_WALKED && !walk->no_memory) {
        add_frame(walk, frame);
        keel_object_t *outer = python->back(frame);
        python->drop(frame);
        frame = outer;
    }
    python->drop(frame);
}

static const char *hand_over(const walk_t *walk, keel_stack_t *out) {
    const frames_t *list = walk->users.count ? &walk->users : &walk->libraries;
    if (!list->count) return "the thread runs no Python code";
    void *memory;
    size_t size = list->count * sizeof *list->kept;
    keel_status_t status = keel_arena_alloc(walk->arena, size, &memory);
    keel_status_ignore(status);
    if (status || walk->no_memory) return "there is no memory for it";
    memcpy(memory, list->kept, size);
    out->frames = memory;
    out->count = list->count;
    out->left_out = walk->total - list->count;
    return NULL;
}

// ---- together ----------------------------------------------------------------------------------

void keel_stack_read(keel_arena_t *arena, keel_stack_t *out) {
    keel_python_t python;
    *out = (keel_stack_t){0};
    out->skipped = keel_python_enter(&python);
    if (out->skipped) return;
    walk_t walk = {.python = &python, .arena = arena, .function_name = "co_qualname"};
    walk_frames(&walk);
    keel_python_leave(&python);
    out->skipped = hand_over(&walk, out);
}

keel_place_t keel_stack_top(const keel_stack_t *stack) {
    const keel_stack_frame_t *frame = &stack->frames[0];
    keel_place_t place = {
        .file = frame->file, .line = frame->line, .function = frame->function, .call_file = ""};
    if (stack->count > 1) {
        place.call_file = stack->frames[1].file;
        place.call_line = stack->frames[1].line;
    }
    return place;
}
