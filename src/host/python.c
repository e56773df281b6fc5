#define _GNU_SOURCE
#include "host/python.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/fork.h"

// False if something that is needed is missing.
static bool find_python_calls(keel_python_t *out) {
    bool complete = true;
    void *found;
    // POSIX has functions and objects share one representation; ISO C has no cast between them.
#define FIND(member, result, arguments, name)                                                      \
    found = dlsym(RTLD_DEFAULT, name);                                                             \
    memcpy(&out->member, &found, sizeof found);
#define FIND_NEEDED(member, result, arguments, name)                                               \
    FIND(member, result, arguments, name)                                                          \
    complete = complete && found;
    KEEL_PYTHON_NEEDED(FIND_NEEDED)
    if (!complete) return false;
    KEEL_PYTHON_OPTIONAL(FIND)
#undef FIND_NEEDED
#undef FIND
    return (out->take_error && out->put_error) || (out->fetch_error && out->restore_error);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);

// A client has hundreds of libraries, and searching for a missing symbol goes through all of them.
// A symbol that was found does not move.
static bool find_once(keel_python_t *out) {
    static keel_python_t kept;
    static bool is_kept;
    pthread_mutex_lock(&lock);
    if (!is_kept) is_kept = find_python_calls(&kept);
    bool is_found = is_kept;
    if (is_found) *out = kept;
    pthread_mutex_unlock(&lock);
    return is_found;
}

static bool is_ending(const keel_python_t *python) {
    if (python->is_finalizing) return python->is_finalizing();
    return python->is_finalizing_before && python->is_finalizing_before();
}

const char *keel_python_enter(keel_python_t *out) {
    *out = (keel_python_t){0};
    if (!find_once(out))
        return dlsym(RTLD_DEFAULT, "Py_IsInitialized")
                   ? "this Python is older than 3.9, or no CPython"
                   : "there is no Python in this process";
    if (!out->is_initialized() || is_ending(out)) // it ends threads that want its lock
        return "Python is not running";
    if (!out->own_state()) return "Python does not know the thread";
    out->state = out->ensure();
    if (out->take_error && out->put_error)
        out->pending.value = out->take_error();
    else
        out->fetch_error(&out->pending.type, &out->pending.value, &out->pending.trace);
    return NULL;
}

void keel_python_leave(keel_python_t *python) {
    const keel_python_pending_t *pending = &python->pending;
    if (python->take_error && python->put_error)
        python->put_error(pending->value);
    else
        python->restore_error(pending->type, pending->value, pending->trace);
    python->release(python->state);
}

keel_object_t *keel_python_attribute(const keel_python_t *python, keel_object_t *object,
                                     const char *name) {
    keel_object_t *value = python->attribute(object, name);
    if (!value) python->clear_error();
    return value;
}

keel_str_t keel_python_text(const keel_python_t *python, keel_object_t *object) {
    ptrdiff_t size = 0;
    const char *data = object ? python->text(object, &size) : NULL;
    if (data && size > 0) return (keel_str_t){data, (size_t)size};
    if (object && !data) python->clear_error();
    return (keel_str_t){"", 0};
}

enum { FILE_INPUT = 257 }; // Py_file_input

static bool keeps_code(const keel_python_t *python) {
    return python->compile && python->evaluate && python->interpreter && python->own_dict &&
           python->put_item;
}

// The code of a static source, which the interpreter keeps: compiling takes longer than running.
static keel_object_t *code_of(const keel_python_t *python, const char *source) {
    char name[32];
    snprintf(name, sizeof name, "keel %p", (const void *)source);
    keel_object_t *kept = python->own_dict(python->interpreter());
    if (!kept) return NULL;
    keel_object_t *code = python->item(kept, name);
    if (code) return code;
    python->clear_error();
    code = python->compile(source, "<string>", FILE_INPUT);
    if (code && python->put_item(kept, name, code)) python->clear_error();
    return code;
}

static keel_object_t *run(const keel_python_t *python, const char *source, keel_object_t *space) {
    if (!keeps_code(python)) return python->run(source, FILE_INPUT, space, space);
    keel_object_t *code = code_of(python, source);
    keel_object_t *done = code ? python->evaluate(code, space, space) : NULL;
    python->drop(code);
    return done;
}

void keel_python_ask(const keel_python_t *python, const char *source, keel_buffer_t *inout) {
    if (!python->run || !python->make_dict) return;
    keel_object_t *space = python->make_dict();
    keel_object_t *done = space ? run(python, source, space) : NULL;
    keel_object_t *names = done ? python->item(space, "names") : NULL;
    if (!names) python->clear_error();
    keel_buffer_str(inout, keel_python_text(python, names));
    python->drop(names);
    python->drop(done);
    python->drop(space);
}
