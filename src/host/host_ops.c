#include "host/host_ops.h"

#include <string.h>

#include "host/python.h"

static bool is_host_op(keel_str_t name) {
    static const char prefix[] = "aten::";
    enum { LONGEST = 200 };
    return name.size > sizeof prefix - 1 && name.size < LONGEST &&
           memcmp(name.data, prefix, sizeof prefix - 1) == 0;
}

static keel_object_t *call(const keel_python_t *python, keel_object_t *of, const char *name,
                           keel_object_t *argument) {
    keel_object_t *function = keel_python_attribute(python, of, name);
    if (!function) return NULL;
    keel_object_t *result = argument ? python->call(function, argument, NULL)
                                     : python->call(function, (keel_object_t *)NULL);
    if (!result) python->clear_error();
    python->drop(function);
    return result;
}

static bool add_host_op(const keel_python_t *python, keel_object_t *bridge, keel_object_t *name,
                        keel_arena_t *arena, keel_host_ops_t *out) {
    keel_str_t text = keel_python_text(python, name), kept;
    if (!is_host_op(text)) return true;
    keel_object_t *value = call(python, bridge, "_xla_counter_value", name);
    long long times = value ? python->integer(value) : 0;
    if (value && times < 0) python->clear_error(); // not a number: None if the counter is gone
    python->drop(value);
    if (times <= 0) return true;
    keel_status_t status = keel_arena_str(arena, text, &kept);
    keel_status_ignore(status);
    if (status) return false;
    out->list[out->count++] = (keel_host_op_t){.name = kept.data, .times = (uint64_t)times};
    return true;
}

static void read_counters(const keel_python_t *python, keel_object_t *bridge, keel_arena_t *arena,
                          keel_host_ops_t *out) {
    keel_object_t *names = call(python, bridge, "_xla_counter_names", NULL);
    ptrdiff_t count = names ? python->length(names) : 0;
    if (count < 0) python->clear_error();
    bool goes_on = true;
    for (ptrdiff_t i = 0; i < count && goes_on && out->count < KEEL_HOST_OPS; ++i) {
        keel_object_t *name = python->element(names, i);
        if (!name) python->clear_error();
        goes_on = name && add_host_op(python, bridge, name, arena, out);
        python->drop(name);
    }
    python->drop(names);
}

// Only if it is already imported: this must not load anything.
static keel_object_t *find_bridge(const keel_python_t *python) {
    keel_object_t *modules = python->modules();
    keel_object_t *module = modules ? python->item(modules, "torch_xla") : NULL;
    if (!module) python->clear_error();
    keel_object_t *bridge = module ? keel_python_attribute(python, module, "_XLAC") : NULL;
    python->drop(module);
    return bridge;
}

void keel_host_ops_read(keel_arena_t *arena, keel_host_ops_t *out) {
    keel_python_t python;
    out->count = 0;
    out->has_torch_xla = false;
    if (keel_python_enter(&python)) return;
    keel_object_t *bridge = find_bridge(&python);
    out->has_torch_xla = bridge != NULL;
    if (bridge) read_counters(&python, bridge, arena, out);
    python.drop(bridge);
    keel_python_leave(&python);
}

// ---- the interpreter's end ---------------------------------------------------------------------

static void (*at_exit)(void);

static keel_object_t *ending(keel_object_t *self, keel_object_t *arguments) {
    (void)self;
    (void)arguments;
    keel_python_t python;
    at_exit();
    if (keel_python_enter(&python)) return NULL;
    keel_object_t *nothing = python.make_integer(0);
    keel_python_leave(&python);
    return nothing;
}

bool keel_host_ops_at_exit(void (*at_end)(void)) {
    enum { NO_ARGUMENTS = 4 };
    static keel_python_method_t method = {"keel_at_exit", ending, NO_ARGUMENTS, NULL};
    keel_python_t python;
    if (keel_python_enter(&python)) return false;
    at_exit = at_end;
    keel_object_t *function = python.make_function(&method, NULL, NULL);
    keel_object_t *module = function ? python.import("atexit") : NULL;
    keel_object_t *result = module ? call(&python, module, "register", function) : NULL;
    if (!result) python.clear_error();
    bool is_registered = result != NULL;
    python.drop(result);
    python.drop(module);
    python.drop(function);
    keel_python_leave(&python);
    return is_registered;
}
