// The interpreter is found in the process, not linked: the same library serves every Python, and
// clients that have none. Only functions are called, no macros and no structures, so its version
// matters no more than that (CPython 3.9 brought the last of them).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "explain/explain.h"

// A recursion may be many thousand frames deep; the innermost tell enough.
enum { FRAMES_WALKED = 2048 };

typedef struct object_t object_t; // PyObject, PyFrameObject, PyCodeObject

// member, result, arguments, name
#define NEEDED(X)                                                                                  \
    X(is_initialized, int, (void), "Py_IsInitialized")                                             \
    X(own_state, void *, (void), "PyGILState_GetThisThreadState")                                  \
    X(ensure, int, (void), "PyGILState_Ensure")                                                    \
    X(release, void, (int), "PyGILState_Release")                                                  \
    X(frame, object_t *, (void), "PyEval_GetFrame") /* borrowed */                                 \
    X(back, object_t *, (object_t *), "PyFrame_GetBack")                                           \
    X(code, object_t *, (object_t *), "PyFrame_GetCode")                                           \
    X(line, int, (object_t *), "PyFrame_GetLineNumber")                                            \
    X(attribute, object_t *, (object_t *, const char *), "PyObject_GetAttrString")                 \
    X(text, const char *, (object_t *, ptrdiff_t *), "PyUnicode_AsUTF8AndSize")                    \
    X(hold, void, (object_t *), "Py_IncRef")                                                       \
    X(drop, void, (object_t *), "Py_DecRef")                                                       \
    X(clear_error, void, (void), "PyErr_Clear")

// Of each pair, what the interpreter's version has.
#define OPTIONAL(X)                                                                                \
    X(is_finalizing, int, (void), "Py_IsFinalizing")                                               \
    X(is_finalizing_before, int, (void), "_Py_IsFinalizing")                                       \
    X(take_error, object_t *, (void), "PyErr_GetRaisedException")                                  \
    X(put_error, void, (object_t *), "PyErr_SetRaisedException")                                   \
    X(fetch_error, void, (object_t **, object_t **, object_t **), "PyErr_Fetch")                   \
    X(restore_error, void, (object_t *, object_t *, object_t *), "PyErr_Restore")

typedef struct python_t {
#define MEMBER(member, result, arguments, name) result(*member) arguments;
    NEEDED(MEMBER)
    OPTIONAL(MEMBER)
#undef MEMBER
} python_t;

// False where something needed is not there.
static bool find_python(python_t *out) {
    bool complete = true;
    void *found;
    // POSIX has functions and objects share one representation; ISO C has no cast between them.
#define FIND(member, result, arguments, name)                                                      \
    found = dlsym(RTLD_DEFAULT, name);                                                             \
    memcpy(&out->member, &found, sizeof found);
#define FIND_NEEDED(member, result, arguments, name)                                               \
    FIND(member, result, arguments, name)                                                          \
    complete = complete && found;
    NEEDED(FIND_NEEDED)
    if (!complete) return false;
    OPTIONAL(FIND)
#undef FIND_NEEDED
#undef FIND
    return (out->take_error && out->put_error) || (out->fetch_error && out->restore_error);
}

// ---- an exception that is on its way -----------------------------------------------------------

typedef struct pending_t {
    object_t *type, *value, *trace; // since 3.12 the value is all
} pending_t;

static pending_t take_pending(const python_t *python) {
    pending_t pending = {0};
    if (python->take_error && python->put_error)
        pending.value = python->take_error();
    else
        python->fetch_error(&pending.type, &pending.value, &pending.trace);
    return pending;
}

static void put_back(const python_t *python, pending_t pending) {
    if (python->take_error && python->put_error)
        python->put_error(pending.value);
    else
        python->restore_error(pending.type, pending.value, pending.trace);
}

// ---- frames ------------------------------------------------------------------------------------

typedef struct frames_t {
    keel_stack_frame_t kept[KEEL_STACK_KEPT];
    uint32_t count;
} frames_t;

typedef struct walk_t {
    const python_t *python;
    keel_arena_t *arena;
    frames_t users, libraries;
    uint32_t total;
    const char *function_name; // the attribute of a code object that the interpreter has
    bool no_memory;
} walk_t;

static object_t *attribute(const walk_t *walk, object_t *object, const char *name) {
    object_t *value = walk->python->attribute(object, name);
    if (!value) walk->python->clear_error();
    return value;
}

// Lives as long as `object`; empty where it is no text.
static keel_str_t text_of(const walk_t *walk, object_t *object) {
    ptrdiff_t size = 0;
    const char *data = object ? walk->python->text(object, &size) : NULL;
    if (data && size > 0) return (keel_str_t){data, (size_t)size};
    if (object && !data) walk->python->clear_error();
    return (keel_str_t){"", 0};
}

// 3.11 brought qualified names.
static object_t *function_of(walk_t *walk, object_t *code) {
    object_t *name = attribute(walk, code, walk->function_name);
    if (name || strcmp(walk->function_name, "co_name") == 0) return name;
    walk->function_name = "co_name";
    return attribute(walk, code, walk->function_name);
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

static void add_frame(walk_t *walk, object_t *frame) {
    const python_t *python = walk->python;
    object_t *code = python->code(frame);
    object_t *file = code ? attribute(walk, code, "co_filename") : NULL;
    object_t *function = code ? function_of(walk, code) : NULL;
    keel_str_t path = text_of(walk, file);
    bool is_library = keel_is_library_file(path);
    frames_t *list = is_library ? &walk->libraries : &walk->users;
    bool is_wanted = !is_library || !walk->users.count;
    if (is_wanted && list->count < KEEL_STACK_KEPT) {
        int line = python->line(frame);
        list->kept[list->count++] =
            (keel_stack_frame_t){.file = keep(walk, path),
                                 .function = keep(walk, text_of(walk, function)),
                                 .line = line > 0 ? (uint32_t)line : 0};
    }
    ++walk->total;
    python->drop(function);
    python->drop(file);
    python->drop(code);
}

static void walk_frames(walk_t *walk) {
    const python_t *python = walk->python;
    object_t *frame = python->frame();
    python->hold(frame);
    while (frame && walk->total < FRAMES_WALKED && !walk->no_memory) {
        add_frame(walk, frame);
        object_t *outer = python->back(frame);
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

static bool is_ending(const python_t *python) {
    if (python->is_finalizing) return python->is_finalizing();
    return python->is_finalizing_before && python->is_finalizing_before();
}

static const char *read_stack(const python_t *python, keel_arena_t *arena, keel_stack_t *out) {
    walk_t walk = {.python = python, .arena = arena, .function_name = "co_qualname"};
    int state = python->ensure();
    pending_t pending = take_pending(python);
    walk_frames(&walk);
    put_back(python, pending);
    python->release(state);
    return hand_over(&walk, out);
}

void keel_stack_read(keel_arena_t *arena, keel_stack_t *out) {
    *out = (keel_stack_t){0};
    python_t python;
    if (!find_python(&python))
        out->skipped = dlsym(RTLD_DEFAULT, "Py_IsInitialized")
                           ? "this Python is older than 3.9, or no CPython"
                           : "there is no Python in this process";
    else if (!python.is_initialized() || is_ending(&python)) // it ends threads that want its lock
        out->skipped = "Python is not running";
    else if (!python.own_state())
        out->skipped = "Python does not know the thread";
    else
        out->skipped = read_stack(&python, arena, out);
}
