#define _GNU_SOURCE // RTLD_DEFAULT
#include "shim/jitted.h"

#include <dlfcn.h>

typedef void object_t; // of Python
typedef object_t *vectorcall_t(object_t *function, object_t *const *arguments, size_t count,
                               object_t *names);

struct jitted_group_t {
    PJRT_LoadedExecutable *first; // the program that does not name itself; NULL: none yet
};

// Open-addressed, by pointer. A removed one leaves its key and has no value.
typedef struct slot_t {
    const void *key;
    jitted_group_t *value;
} slot_t;

typedef struct table_t {
    slot_t *slots;
    size_t size, used; // `used` counts removed ones too
} table_t;

static table_t functions;
static vectorcall_t *original; // that of all functions that are watched
// Of the function that this thread runs.
static _Thread_local bool has_missed;
static _Thread_local PJRT_LoadedExecutable *ran; // a program that named itself

// ---- tables ------------------------------------------------------------------------------------

static size_t place(const void *key, size_t size) {
    return (size_t)(((uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15ull) >> 32) & (size - 1);
}

static slot_t *find(const table_t *table, const void *key) {
    if (!table->size) return NULL;
    for (size_t at = place(key, table->size);; at = (at + 1) & (table->size - 1)) {
        slot_t *slot = &table->slots[at];
        if (slot->key == key) return slot;
        if (!slot->key) return NULL;
    }
}

static jitted_group_t *value_of(const table_t *table, const void *key) {
    const slot_t *slot = find(table, key);
    return slot ? slot->value : NULL;
}

static void insert(table_t *table, const void *key, jitted_group_t *value) {
    size_t at = place(key, table->size);
    while (table->slots[at].key && table->slots[at].key != key)
        at = (at + 1) & (table->size - 1);
    if (!table->slots[at].key) ++table->used;
    table->slots[at] = (slot_t){key, value};
}

// Leaves removed ones out; at least half of the new table is free.
static bool grow(table_t *table) {
    size_t live = 0, size = 64;
    void *memory;
    for (size_t i = 0; i < table->size; ++i)
        live += table->slots[i].value != NULL;
    while (size < 4 * (live + 1))
        size *= 2;
    keel_status_t status = keel_calloc(size, sizeof(slot_t), &memory);
    if (status) {
        keel_status_ignore(status);
        return false;
    }
    table_t grown = {.slots = memory, .size = size};
    for (size_t i = 0; i < table->size; ++i)
        if (table->slots[i].value) insert(&grown, table->slots[i].key, table->slots[i].value);
    keel_free(table->slots);
    *table = grown;
    return true;
}

static bool put(table_t *table, const void *key, jitted_group_t *value) {
    if (2 * (table->used + 1) > table->size && !grow(table)) return false;
    insert(table, key, value);
    return true;
}

static void remove_key(table_t *table, const void *key) {
    slot_t *slot = find(table, key);
    if (slot) slot->value = NULL;
}

// ---- which program ran -------------------------------------------------------------------------

// CPython's, found in the process: it has them, and Keel's library must not need them.
typedef struct method_t {
    const char *name;
    void *function;
    int flags;
    const char *text;
} method_t;

enum { FAST = 0x80, KEYWORDS = 0x02 }; // METH_FASTCALL, METH_KEYWORDS

static struct {
    object_t *(*make)(const method_t *method, object_t *self, object_t *module);
    void *(*pointer)(object_t *number);
    object_t *(*item)(object_t *tuple, ssize_t at);
    object_t *(*call)(object_t *function, object_t *const *arguments, size_t count,
                      object_t *names);
    object_t *(*call_one)(object_t *function, object_t *argument);
    void (*hold)(object_t *object);
    void (*drop)(object_t *object);
    void (*forget_error)(void);
} python;

static bool find_python(void) {
    static const struct {
        void *function;
        const char *name;
    } wanted[] = {
        {&python.make, "PyCFunction_NewEx"},   {&python.pointer, "PyLong_AsVoidPtr"},
        {&python.item, "PyTuple_GetItem"},     {&python.forget_error, "PyErr_Clear"},
        {&python.call, "PyObject_Vectorcall"}, {&python.call_one, "PyObject_CallOneArg"},
        {&python.hold, "Py_IncRef"},           {&python.drop, "Py_DecRef"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
        void *symbol = dlsym(RTLD_DEFAULT, wanted[i].name);
        if (!symbol) return false;
        memcpy(wanted[i].function, &symbol, sizeof symbol);
    }
    return true;
}

// Called with a program and a tuple of its results.
static object_t *name_program(object_t *self, object_t *const *arguments, ssize_t count) {
    (void)self;
    object_t *results = count == 2 ? python.item(arguments[1], 0) : NULL;
    if (!results) return NULL;
    ran = python.pointer(arguments[0]);
    python.hold(results);
    return results;
}

void *jitted_namer(void) {
    static const method_t method = {"name_program", (void *)name_program, FAST, NULL};
    return find_python() ? python.make(&method, NULL, NULL) : NULL;
}

// `self` is a tuple: the function, what to call before with its first argument, what to call after
// with its result, which returns another one, and None. If these two fail, the client gets what the
// function returned.
static object_t *call_around(object_t *self, object_t *const *arguments, ssize_t count,
                             object_t *names) {
    object_t *before = python.item(self, 1), *after = python.item(self, 2);
    object_t *none = python.item(self, 3);
    if (before != none && count) {
        object_t *ignored = python.call_one(before, arguments[0]);
        if (ignored)
            python.drop(ignored);
        else
            python.forget_error();
    }
    object_t *result = python.call(python.item(self, 0), arguments, (size_t)count, names);
    if (!result || after == none) return result;
    object_t *other = python.call_one(after, result);
    if (!other) {
        python.forget_error();
        return result;
    }
    python.drop(result);
    return other;
}

void *jitted_around(void *parts) {
    static const method_t method = {"call_around", (void *)call_around, FAST | KEYWORDS, NULL};
    return find_python() ? python.make(&method, parts, NULL) : NULL;
}

void jitted_executed(PJRT_LoadedExecutable *program) {
    PJRT_LoadedExecutable_Execute_Args args = {KEEL_PJRT_SIZE(PJRT_LoadedExecutable_Execute),
                                               .executable = program};
    keel_engine_t *engine = keel_shim_engine();
    if (engine) keel_engine_executed(engine, &args);
}

// ---- functions ---------------------------------------------------------------------------------

static object_t *call(object_t *function, object_t *const *arguments, size_t argument_count,
                      object_t *names) {
    bool outer_missed = has_missed;
    PJRT_LoadedExecutable *outer_ran = ran, *program;
    has_missed = false;
    ran = NULL;
    object_t *result = original(function, arguments, argument_count, names);
    // Looked up afterwards: the call may have made it.
    const jitted_group_t *group = result && !has_missed ? value_of(&functions, function) : NULL;
    program = ran || !group ? ran : group->first;
    if (group && program) jitted_executed(program);
    has_missed = outer_missed;
    ran = outer_ran;
    return result;
}

bool jitted_watch(void *function, size_t offset, jitted_group_t *group) {
    vectorcall_t **entry = (vectorcall_t **)((char *)function + offset);
    if (!original) original = *entry;
    // Another kind of function, or somebody else's.
    if (*entry != original && *entry != call) return false;
    if (!put(&functions, function, group)) return false;
    *entry = call;
    return true;
}

void jitted_forget(void *function) {
    remove_key(&functions, function);
}

void jitted_missed(void) {
    has_missed = true;
}

jitted_group_t *jitted_group_create(void) {
    void *memory;
    keel_status_t status = keel_calloc(1, sizeof(jitted_group_t), &memory);
    keel_status_ignore(status);
    return status ? NULL : memory;
}

void jitted_group_destroy(jitted_group_t *group) {
    keel_free(group);
}

bool jitted_group_add(jitted_group_t *group, PJRT_LoadedExecutable *program) {
    if (group->first) return group->first != program;
    group->first = program;
    return false;
}
