// jitted: counts the executions of functions that JAX calls without Python.
//
// A function that jax.jit made executes on a path in C++ that nobody else sees. Its object has a
// pointer to the function that CPython calls for it (PEP 590); Keel's takes its place there, calls
// the original, and counts. What JAX runs in Python instead is counted there, and says so here
// (jitted_missed). Functions that share JAX's table of executables are a group. An execution that
// names no program is one of the group's first. Later programs name themselves: the tree of a
// program's results, which JAX keeps with it, gets one more node at its root, and JAX calls
// jitted_namer() to make that node's object.
//
// Threads: all functions need the interpreter's lock, so nothing else locks.
#ifndef KEEL_SHIM_JITTED_H_
#define KEEL_SHIM_JITTED_H_

#include "shim/shim.h"

typedef struct jitted_group_t jitted_group_t;

// NULL without memory.
jitted_group_t *jitted_group_create(void);
void jitted_group_destroy(jitted_group_t *group);
// Its functions may execute this program from now on. True if the program has to name itself.
bool jitted_group_add(jitted_group_t *group, PJRT_LoadedExecutable *program);
// A new object of Python, called with a program's handle and a tuple of one object, which it
// returns. NULL if this Python has no such objects.
void *jitted_namer(void);
// A new object of Python: a function, with another one called before, with its first argument, and
// one after, with its result, whose own result counts. `parts` is a tuple of these three and None,
// which may take the place of the last two; the object keeps it. No frame of Python's is around the
// function. NULL as above.
void *jitted_around(void *parts);

// `offset` is where the function's object has the pointer. False, and nothing is changed, without
// memory.
bool jitted_watch(void *function, size_t offset, jitted_group_t *group);
void jitted_forget(void *function);
// The function that this thread runs asked Python.
void jitted_missed(void);

// One execution of an executable.
void jitted_executed(PJRT_LoadedExecutable *program);

#endif // KEEL_SHIM_JITTED_H_
