// The host's stack, read from the interpreter in the process.
#define _GNU_SOURCE // memrchr, memmem
#include <stdio.h>
#include <string.h>

#include "host/host.h"
#include "host/python.h"

// A recursion may be many thousand frames deep; the innermost are enough.
enum { FRAMES_WALKED = 2048 };

// ---- frames ------------------------------------------------------------------------------------

typedef struct frames_t {
    keel_stack_frame_t kept[KEEL_STACK_KEPT];
    uint32_t count;
} frames_t;

typedef struct stack_walk_t {
    const keel_python_t *python;
    keel_arena_t *arena;
    const char *application; // packages whose frames are user code
    frames_t users, libraries;
    uint32_t total;
    const char *outermost; // package of the outermost frame that has one; NULL
    bool is_started;       // that frame is the code of a module, which nothing called
    uint32_t outside;      // frames of the user's outside it
    bool has_command;      // the outermost of these is a command's script
    const char *main;      // package of the outermost `main` so far that no user code called; NULL
    const char *called;    // package whose `main` user code called; NULL
    const char *script_file;
    uint32_t script_line;
    const char *function_name; // the attribute of a code object that the interpreter has
    const char *traced_file;
    uint32_t traced_line;
    const char *loader;
    bool is_deferred;
    bool no_memory;
} stack_walk_t;

// Qualified names came with 3.11.
static keel_object_t *function_of(stack_walk_t *walk, keel_object_t *code) {
    keel_object_t *name = keel_python_attribute(walk->python, code, walk->function_name);
    if (name || strcmp(walk->function_name, "co_name") == 0) return name;
    walk->function_name = "co_name";
    return keel_python_attribute(walk->python, code, walk->function_name);
}

static const char *frame_text(stack_walk_t *walk, keel_str_t text) {
    keel_str_t copy;
    keel_status_t status = keel_arena_str(walk->arena, text, &copy);
    if (status) {
        walk->no_memory = true;
        keel_status_ignore(status);
        return "";
    }
    return copy.data;
}

// ---- what JAX's own frames show ----------------------------------------------------------------

// "step at /home/u/train.py:12"
static void keep_traced(stack_walk_t *walk, keel_str_t text) {
    static const char between[] = " at ";
    enum { BETWEEN = sizeof between - 1 };
    const char *name_end = text.size ? memmem(text.data, text.size, between, BETWEEN) : NULL;
    const char *colon = text.size ? memrchr(text.data, ':', text.size) : NULL;
    if (!name_end || !colon || name_end + BETWEEN > colon) return;
    uint32_t line = 0;
    for (const char *digit = colon + 1; digit < text.data + text.size; ++digit) {
        if (*digit < '0' || *digit > '9' || line > UINT32_MAX / 10 - 1) return;
        line = line * 10 + (uint32_t)(*digit - '0');
    }
    const char *file = name_end + BETWEEN;
    walk->traced_file = frame_text(walk, (keel_str_t){file, (size_t)(colon - file)});
    walk->traced_line = line;
}

static keel_object_t *local_of(const stack_walk_t *walk, keel_object_t *frame, const char *name) {
    keel_object_t *locals = keel_python_attribute(walk->python, frame, "f_locals");
    keel_object_t *value = locals ? walk->python->item(locals, name) : NULL;
    if (!value) walk->python->clear_error();
    walk->python->drop(locals);
    return value;
}

// An attribute, or NULL if there is none. Drops `object`.
static keel_object_t *part_of(const stack_walk_t *walk, keel_object_t *object, const char *name) {
    keel_object_t *value = object ? keel_python_attribute(walk->python, object, name) : NULL;
    walk->python->drop(object);
    return value;
}

// When JAX compiles a program, it knows which function it traced, without wrappers: its error
// messages have the same text. It only serves to distinguish two functions of the same name.
static void look_for_traced(stack_walk_t *walk, keel_object_t *frame) {
    keel_object_t *info = local_of(walk, frame, "all_args_info");
    info = part_of(walk, part_of(walk, info, "debug_info"), "func_src_info");
    keep_traced(walk, keel_python_text(walk->python, info));
    walk->python->drop(info);
}

// What reads serialized executables; a path's ending, and what people call it.
static const char *loader_of(keel_str_t file) {
    static const struct {
        const char *ending, *name;
    } loaders[] = {
        {"/jax/_src/compilation_cache.py", "JAX's own cache"},
        {"/jax/_src/compiler.py", "JAX's own cache"}, // one process shares what it compiled
        {"/jax/experimental/serialize_executable.py", "jax.experimental.serialize_executable"},
    };
    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; ++i)
        if (keel_str_ends(file, keel_str(loaders[i].ending))) return loaders[i].name;
    return NULL;
}

static void look_at_library(stack_walk_t *walk, keel_object_t *frame, keel_str_t file,
                            keel_str_t function) {
    if (walk->users.count) return;
    if (!walk->loader) walk->loader = loader_of(file);
    if (!walk->traced_file && keel_str_ends(function, KEEL_STR("from_hlo")) &&
        keel_str_ends(file, KEEL_STR("/pxla.py")))
        look_for_traced(walk, frame);
    if (keel_str_ends(function, KEEL_STR("compile")) &&
        keel_str_ends(file, KEEL_STR("/jax/_src/stages.py")))
        walk->is_deferred = true;
}

// ---- the walk ----------------------------------------------------------------------------------

// The script that an installer writes for a command of a package: bin/NAME, which only calls it.
static bool is_command(keel_str_t path, keel_str_t function) {
    const char *name = path.size ? memrchr(path.data, '/', path.size) : NULL;
    if (!name || !keel_str_is(function, "<module>")) return false;
    keel_str_t folder = {path.data, (size_t)(name - path.data)};
    return !memchr(name, '.', path.size - folder.size) && keel_str_ends(folder, KEEL_STR("/bin"));
}

// They start other code, or are between every caller and the program.
static bool is_launcher(keel_str_t package) {
    static const char *const names[] = {
        "IPython",       "_pytest",   "absl",     "accelerate", "click",  "coverage",
        "debugpy",       "fire",      "hydra",    "jax",        "jaxlib", "jax_plugins",
        "keel",          "ipykernel", "kernprof", "memray",     "pluggy", "mpi4py",
        "line_profiler", "pytest",    "ray",      "streamlit",  "torch",  "torch_xla",
        "tornado",       "traitlets", "typer",    "viztracer"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (keel_str_is(package, names[i])) return true;
    return false;
}

// "<string>" is a package here: code that python -c was given, if nothing is outside it.
static void look_at_package(stack_walk_t *walk, keel_str_t path, keel_str_t function) {
    keel_str_t package = keel_package_name(path);
    if (!package.size) return;
    if (!walk->outermost || !keel_str_is(package, walk->outermost))
        walk->outermost = frame_text(walk, package);
    walk->is_started = keel_str_is(function, "<module>");
    walk->outside = 0;
    if (keel_str_is(function, "main") && !is_launcher(package))
        walk->main = frame_text(walk, package);
}

static void look_at_users(stack_walk_t *walk, keel_object_t *frame, keel_str_t path,
                          keel_str_t function) {
    if (keel_is_library_file(path)) return; // a package that counts as the user's
    ++walk->outside;
    walk->has_command = is_command(path, function);
    if (walk->has_command) return;
    if (walk->main) walk->called = walk->main;
    walk->main = NULL;
    if (walk->script_file) return;
    int line = walk->python->line(frame);
    walk->script_file = frame_text(walk, path);
    walk->script_line = line > 0 ? (uint32_t)line : 0;
}

static void add_frame(stack_walk_t *walk, keel_object_t *frame) {
    const keel_python_t *python = walk->python;
    keel_object_t *code = python->code(frame);
    keel_object_t *file = code ? keel_python_attribute(walk->python, code, "co_filename") : NULL;
    keel_object_t *function = code ? function_of(walk, code) : NULL;
    keel_str_t path = keel_python_text(python, file), name = keel_python_text(python, function);
    bool is_library = keel_is_foreign_file(path, walk->application);
    frames_t *list = is_library ? &walk->libraries : &walk->users;
    bool is_wanted = !is_library || !walk->users.count;
    if (is_library) look_at_library(walk, frame, path, name);
    if (is_library)
        look_at_package(walk, path, name);
    else
        look_at_users(walk, frame, path, name);
    if (is_wanted && list->count < KEEL_STACK_KEPT) {
        int line = python->line(frame);
        list->kept[list->count++] = (keel_stack_frame_t){.file = frame_text(walk, path),
                                                         .function = frame_text(walk, name),
                                                         .line = line > 0 ? (uint32_t)line : 0};
    }
    ++walk->total;
    python->drop(function);
    python->drop(file);
    python->drop(code);
}

static void walk_frames(stack_walk_t *walk) {
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

static const char *package_that_is_run(const stack_walk_t *walk) {
    if (!walk->outermost) return NULL;
    uint32_t users = walk->users.count - (walk->users.count && walk->has_command);
    if (!users) return walk->outermost;
    bool is_started = walk->outside ? walk->outside == 1 && walk->has_command : walk->is_started;
    return is_started && !is_launcher(keel_str(walk->outermost)) ? walk->outermost : NULL;
}

// The packages that are user code on this stack; NULL if they are those of the walk already.
static const char *find_application(const stack_walk_t *walk) {
    bool is_typed = walk->outermost && strcmp(walk->outermost, "<string>") == 0;
    const char *run = package_that_is_run(walk);
    const char *called = !walk->called && run && is_typed ? walk->main : walk->called;
    if (!run && !called) return NULL;
    if (run && called && strcmp(run, called) == 0) called = NULL;
    const char *const names[] = {walk->application, run, called};
    keel_buffer_t text;
    keel_str_t kept = {NULL, 0};
    keel_buffer_initialize(&text, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        bool is_named = names[i] && *names[i];
        if (is_named && text.size) keel_buffer_byte(&text, ',');
        if (is_named) keel_buffer_text(&text, names[i]);
    }
    keel_status_t status = keel_buffer_status(&text);
    if (!status)
        status = keel_arena_str(walk->arena, keel_bytes_str(keel_buffer_bytes(&text)), &kept);
    keel_buffer_deinitialize(&text);
    keel_status_ignore(status);
    return kept.data;
}

// PyTorch and JAX are between every caller and the program.
static bool is_clients(keel_str_t package) {
    static const char *const names[] = {"torch",  "torch_xla",   "jax",
                                        "jaxlib", "jax_plugins", "keel"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        char part[32];
        snprintf(part, sizeof part, "/%s/", names[i]);
        if (keel_str_ends(package, keel_str(part))) return true;
    }
    return false;
}

static void find_library(const stack_walk_t *walk, keel_stack_t *out) {
    for (uint32_t i = 0; i < walk->libraries.count; ++i) {
        const keel_stack_frame_t *frame = &walk->libraries.kept[i];
        keel_str_t package = keel_package_of(keel_str(frame->file));
        if (!package.size || *package.data == '<' || is_clients(package)) continue;
        out->library_file = frame->file;
        out->library_line = frame->line;
        return;
    }
}

static const char *give_stack(const stack_walk_t *walk, keel_stack_t *out) {
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
    out->traced_file = walk->traced_file;
    out->traced_line = walk->traced_line;
    out->loader = walk->loader;
    out->is_deferred = walk->is_deferred;
    out->application = walk->application && *walk->application ? walk->application : NULL;
    if (keel_is_library_file(keel_str(list->kept[0].file)) && walk->users.count) {
        out->script_file = walk->script_file;
        out->script_line = walk->script_line;
    }
    find_library(walk, out);
    return NULL;
}

// ---- what a client in C says -------------------------------------------------------------------

static _Thread_local keel_stack_frame_t told;

void keel_stack_tell(const keel_stack_frame_t *frame) {
    told = frame ? *frame : (keel_stack_frame_t){.file = NULL};
}

static const char *give_told(keel_arena_t *arena, keel_stack_t *out) {
    void *memory;
    keel_str_t file, function;
    keel_status_t status = keel_arena_alloc(arena, sizeof told, &memory);
    if (!status) status = keel_arena_str(arena, keel_str(told.file), &file);
    if (!status) status = keel_arena_str(arena, keel_str(told.function), &function);
    if (status) {
        keel_status_ignore(status);
        return "there is no memory for it";
    }
    *(keel_stack_frame_t *)memory = (keel_stack_frame_t){file.data, function.data, told.line};
    out->frames = memory;
    out->count = 1;
    return NULL;
}

// ---- together ----------------------------------------------------------------------------------

void keel_stack_read(keel_arena_t *arena, const char *application, keel_stack_t *out) {
    keel_python_t python;
    *out = (keel_stack_t){0};
    if (told.file) {
        out->skipped = give_told(arena, out);
        return;
    }
    out->skipped = keel_python_enter(&python);
    if (out->skipped) return;
    stack_walk_t walk = {.python = &python,
                         .arena = arena,
                         .application = application,
                         .function_name = "co_qualname"};
    walk_frames(&walk);
    const char *found = find_application(&walk);
    if (found) {
        walk = (stack_walk_t){.python = &python,
                              .arena = arena,
                              .application = found,
                              .function_name = walk.function_name};
        walk_frames(&walk);
    }
    keel_python_leave(&python);
    out->skipped = give_stack(&walk, out);
}

keel_place_t keel_stack_top(const keel_stack_t *stack) {
    const keel_stack_frame_t *frame = &stack->frames[0];
    keel_place_t place = {
        .file = frame->file, .line = frame->line, .function = frame->function, .call_file = ""};
    place.application = stack->application;
    place.script_file = stack->script_file;
    place.script_line = stack->script_line;
    if (stack->count > 1) {
        place.call_file = stack->frames[1].file;
        place.call_line = stack->frames[1].line;
    }
    return place;
}
