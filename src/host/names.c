// What the user calls the arguments of a traced function. A library that wraps it (equinox's
// filter_jit, flax's nnx.jit) takes apart what it was called with and hands JAX leaves by number,
// so that the program's own names are the library's. The user's stand in the frames of the call:
// the library's has what the user passed, and JAX's the very same arrays, in the program's order.
#include <string.h>

#include "host/host.h"
#include "host/python.h"

enum { FILE_INPUT = 257 }; // Py_file_input

// Runs in the client's interpreter, in a namespace of its own. It looks at frames and takes trees
// apart as JAX did a moment ago, and touches no array. Innermost first: JAX's frame, the library's.
static const char source[] =
    "def find():\n"
    "    import inspect, sys\n"
    "    import jax\n"
    "    tree = jax.tree_util\n"
    "    inside = jax.__file__.rpartition('/')[0] + '/'\n"
    "    frame, leaves, names = sys._getframe(), None, None\n"
    "    while frame is not None:\n"
    "        local, file = frame.f_locals, frame.f_code.co_filename\n"
    "        if leaves is None and file.startswith(inside):\n"
    "            jaxpr = local.get('jaxpr')\n"
    "            if type(local.get('args')) is tuple and hasattr(jaxpr, 'debug_info'):\n"
    "                leaves, names = local['args'], jaxpr.debug_info.arg_names\n"
    "        elif leaves is not None and not file.startswith(inside):\n"
    "            if not any(part in file for part in ('-packages/', '/lib/python')): break\n"
    "            args, kwargs = local.get('args'), local.get('kwargs')\n"
    "            if type(args) is tuple and type(kwargs) is dict:\n"
    "                for value in list(local.values()):\n"
    "                    if hasattr(type(value), '__call__') and hasattr(value, '__wrapped__'):\n"
    "                        bound = inspect.signature(value).bind(*args, **kwargs)\n"
    "                        boxed = ('.value', '.raw_value') if '/flax/' in file else ()\n"
    "                        return tell(tree, leaves, names, bound.arguments, boxed)\n"
    "        frame = frame.f_back\n"
    "    return ''\n"
    "def tell(tree, leaves, names, arguments, boxed):\n"
    "    known = {}\n"
    "    for path, leaf in tree.tree_flatten_with_path(dict(arguments))[0]:\n"
    "        path = str(path[0].key) + tree.keystr(path[1:])\n"
    "        for box in boxed: path = path.removesuffix(box)\n" // flax keeps arrays in boxes
    "        known[id(leaf)] = None if id(leaf) in known else path\n"
    "    lines, size = [], 0\n"
    "    for leaf, name in zip(leaves, names or ()):\n"
    "        path = known.get(id(leaf))\n"
    "        if not name or not path or path == name: continue\n"
    "        lines.append(name + '\\t' + path + '\\n')\n"
    "        size += len(lines[-1])\n"
    "        if size > 32768: break\n"
    "    return ''.join(lines)\n"
    "try:\n"
    "    names = find()\n"
    "except KeyboardInterrupt:\n"
    "    names = ''\n"
    "    __import__('_thread').interrupt_main()\n"
    "except BaseException:\n"
    "    names = ''\n";

const char *keel_names_read(keel_arena_t *arena) {
    keel_python_t python;
    if (keel_python_enter(&python)) return "";
    keel_str_t kept = KEEL_STR("");
    bool can_run = python.run && python.make_dict;
    keel_object_t *space = can_run ? python.make_dict() : NULL;
    keel_object_t *done = space ? python.run(source, FILE_INPUT, space, space) : NULL;
    keel_object_t *names = done ? python.item(space, "names") : NULL;
    if (!names) python.clear_error();
    keel_status_ignore(keel_arena_str(arena, keel_python_text(&python, names), &kept));
    python.drop(names);
    python.drop(done);
    python.drop(space);
    keel_python_leave(&python);
    return kept.data;
}

keel_str_t keel_names_find(const char *names, keel_str_t client) {
    for (const char *line = names ? names : ""; *line;) {
        const char *tab = strchr(line, '\t'), *end = tab ? strchr(tab, '\n') : NULL;
        if (!end) break;
        if (keel_str_equal((keel_str_t){line, (size_t)(tab - line)}, client))
            return (keel_str_t){tab + 1, (size_t)(end - tab - 1)};
        line = end + 1;
    }
    return client;
}
