// The interpreter of this process, for code that reads something from it: found, not linked. The
// same library serves every Python, and clients that have none. It uses only functions, no macros
// and no structures, so any version works that has them (CPython 3.9 added the last).
//
// Threads: any that holds no lock that Python code may wait for.
#ifndef KEEL_HOST_PYTHON_H_
#define KEEL_HOST_PYTHON_H_

#include <stddef.h>

#include "base/base.h"

typedef struct keel_object_t keel_object_t; // PyObject, PyFrameObject, PyCodeObject

// A PyMethodDef, which is the same in every version.
typedef struct keel_python_method_t {
    const char *name;
    keel_object_t *(*call)(keel_object_t *self, keel_object_t *arguments);
    int flags; // 4: no arguments
    const char *doc;
} keel_python_method_t;

// member, result, arguments, name
#define KEEL_PYTHON_NEEDED(X)                                                                      \
    X(is_initialized, int, (void), "Py_IsInitialized")                                             \
    X(own_state, void *, (void), "PyGILState_GetThisThreadState")                                  \
    X(ensure, int, (void), "PyGILState_Ensure")                                                    \
    X(release, void, (int), "PyGILState_Release")                                                  \
    X(frame, keel_object_t *, (void), "PyEval_GetFrame") /* borrowed */                            \
    X(back, keel_object_t *, (keel_object_t *), "PyFrame_GetBack")                                 \
    X(code, keel_object_t *, (keel_object_t *), "PyFrame_GetCode")                                 \
    X(line, int, (keel_object_t *), "PyFrame_GetLineNumber")                                       \
    X(attribute, keel_object_t *, (keel_object_t *, const char *), "PyObject_GetAttrString")       \
    X(text, const char *, (keel_object_t *, ptrdiff_t *), "PyUnicode_AsUTF8AndSize")               \
    X(hold, void, (keel_object_t *), "Py_IncRef")                                                  \
    X(drop, void, (keel_object_t *), "Py_DecRef")                                                  \
    X(clear_error, void, (void), "PyErr_Clear")                                                    \
    X(modules, keel_object_t *, (void), "PyImport_GetModuleDict") /* borrowed */                   \
    X(item, keel_object_t *, (keel_object_t *, const char *), "PyMapping_GetItemString")           \
    X(call, keel_object_t *, (keel_object_t *, keel_object_t *, ...),                              \
      "PyObject_CallFunctionObjArgs")                                                              \
    X(length, ptrdiff_t, (keel_object_t *), "PySequence_Size")                                     \
    X(element, keel_object_t *, (keel_object_t *, ptrdiff_t), "PySequence_GetItem")                \
    X(integer, long long, (keel_object_t *), "PyLong_AsLongLong")                                  \
    X(make_integer, keel_object_t *, (long), "PyLong_FromLong")                                    \
    X(import, keel_object_t *, (const char *), "PyImport_ImportModule")                            \
    X(make_function, keel_object_t *, (keel_python_method_t *, keel_object_t *, keel_object_t *),  \
      "PyCFunction_NewEx")

// Of each pair, the interpreter's version has one; the last few are optional.
#define KEEL_PYTHON_OPTIONAL(X)                                                                    \
    X(is_finalizing, int, (void), "Py_IsFinalizing")                                               \
    X(is_finalizing_before, int, (void), "_Py_IsFinalizing")                                       \
    X(take_error, keel_object_t *, (void), "PyErr_GetRaisedException")                             \
    X(put_error, void, (keel_object_t *), "PyErr_SetRaisedException")                              \
    X(run, keel_object_t *, (const char *, int, keel_object_t *, keel_object_t *), "PyRun_String") \
    X(make_dict, keel_object_t *, (void), "PyDict_New")                                            \
    X(compile, keel_object_t *, (const char *, const char *, int), "Py_CompileString")             \
    X(evaluate, keel_object_t *, (keel_object_t *, keel_object_t *, keel_object_t *),              \
      "PyEval_EvalCode")                                                                           \
    X(interpreter, void *, (void), "PyInterpreterState_Get")                                       \
    X(own_dict, keel_object_t *, (void *), "PyInterpreterState_GetDict") /* borrowed */            \
    X(put_item, int, (keel_object_t *, const char *, keel_object_t *), "PyDict_SetItemString")     \
    X(fetch_error, void, (keel_object_t **, keel_object_t **, keel_object_t **), "PyErr_Fetch")    \
    X(restore_error, void, (keel_object_t *, keel_object_t *, keel_object_t *), "PyErr_Restore")

// A pending exception.
typedef struct keel_python_pending_t {
    keel_object_t *type, *value, *trace; // since 3.12 only the value
} keel_python_pending_t;

typedef struct keel_python_t {
#define KEEL_PYTHON_MEMBER(member, result, arguments, name) result(*member) arguments;
    KEEL_PYTHON_NEEDED(KEEL_PYTHON_MEMBER)
    KEEL_PYTHON_OPTIONAL(KEEL_PYTHON_MEMBER)
#undef KEEL_PYTHON_MEMBER
    int state;
    keel_python_pending_t pending;
} keel_python_t;

// Takes the interpreter's lock, to be released by keel_python_leave, and sets a pending exception
// aside. Returns NULL, or why it cannot; then do not call keel_python_leave.
const char *keel_python_enter(keel_python_t *out);
void keel_python_leave(keel_python_t *python);

// An attribute, or NULL if there is none.
keel_object_t *keel_python_attribute(const keel_python_t *python, keel_object_t *object,
                                     const char *name);
// Lives as long as `object`; empty if it is not text.
keel_str_t keel_python_text(const keel_python_t *python, keel_object_t *object);

// A piece of Python that sets `names`, a text. It runs in the client's interpreter, in a namespace
// of its own; if it fails, `names` is "".
#define KEEL_PYTHON_GUARDED(code)                                                                  \
    "names = ''\n"                                                                                 \
    "try:\n" code "except KeyboardInterrupt:\n"                                                    \
    "    __import__('_thread').interrupt_main()\n"                                                 \
    "except BaseException: pass\n"
// Appends that text to *inout; nothing if the interpreter cannot run it. `source` must be static:
// the interpreter keeps it compiled.
void keel_python_ask(const keel_python_t *python, const char *source, keel_buffer_t *inout);
// The texts of several pieces, up to NULL, one after the other, in `arena`. Never fails: "".
const char *keel_python_read(const char *const *sources, keel_arena_t *arena);

#endif // KEEL_HOST_PYTHON_H_
