// An interpreter of 3.9 to 3.12 that is ending: this program has its functions by name.
#define _GNU_SOURCE
#include "host/python.h"
#include "place.h"

static int is_running, is_ending, held;

#define EXPORTED __attribute__((visibility("default")))
#define FAKES(X)                                                                                   \
    X(PyEval_GetFrame)                                                                             \
    X(PyFrame_GetBack)                                                                             \
    X(PyFrame_GetCode)                                                                             \
    X(PyFrame_GetLineNumber)                                                                       \
    X(PyObject_GetAttrString)                                                                      \
    X(PyUnicode_AsUTF8AndSize)                                                                     \
    X(Py_IncRef)                                                                                   \
    X(Py_DecRef)                                                                                   \
    X(PyErr_Clear)                                                                                 \
    X(PyImport_GetModuleDict)                                                                      \
    X(PyMapping_GetItemString)                                                                     \
    X(PyObject_CallFunctionObjArgs)                                                                \
    X(PySequence_Size)                                                                             \
    X(PySequence_GetItem)                                                                          \
    X(PyLong_AsLongLong)                                                                           \
    X(PyLong_FromLong)                                                                             \
    X(PyImport_ImportModule)                                                                       \
    X(PyCFunction_NewEx)                                                                           \
    X(PyErr_Fetch)                                                                                 \
    X(PyErr_Restore)
#define FAKE(name)                                                                                 \
    EXPORTED void *name(void);                                                                     \
    void *name(void) {                                                                             \
        return NULL;                                                                               \
    }
FAKES(FAKE)

EXPORTED int Py_IsInitialized(void);
EXPORTED int _Py_IsFinalizing(void);
EXPORTED void *PyGILState_GetThisThreadState(void);
EXPORTED int PyGILState_Ensure(void);
EXPORTED void PyGILState_Release(int state);

int Py_IsInitialized(void) {
    return is_running;
}

int _Py_IsFinalizing(void) {
    return is_ending;
}

void *PyGILState_GetThisThreadState(void) {
    return &held;
}

int PyGILState_Ensure(void) {
    return ++held;
}

void PyGILState_Release(int state) {
    (void)state;
    --held;
}

static void an_interpreter_that_ends_is_left_alone(void **state) {
    (void)state;
    keel_python_t python;
    assert_string_equal(keel_python_enter(&python), "Python is not running");
    is_running = 1;
    assert_null(keel_python_enter(&python));
    assert_int_equal(held, 1);
    keel_python_leave(&python);
    is_ending = 1;
    assert_string_equal(keel_python_enter(&python), "Python is not running");
    assert_int_equal(held, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interpreter_that_ends_is_left_alone),
    };
    return cmocka_run_group_tests_name("host_python", tests, NULL, NULL);
}
