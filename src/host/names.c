// What the user calls the arguments of a traced function, and which of them the program lacks. A
// library that wraps the function (equinox's filter_jit, flax's nnx.jit) flattens its arguments and
// passes JAX numbered leaves, so the program has the library's names. The user's names are found
// through the frames of the call: the library's frame has what the user passed, and JAX's has the
// same arrays in the program's order. JAX leaves out arguments that nothing uses, which looks as if
// they had not been passed.
#include <string.h>

#include "host/host.h"
#include "host/python.h"

// Only in the client's interpreter can arrays be compared by identity; many have the same shape.
// This code looks at frames and flattens trees as JAX just did, and touches no array.

// What JAX left out, from its innermost frames.
static const char left_out_source[] = KEEL_PYTHON_GUARDED(
    "    import sys\n"
    "    frame = sys._getframe()\n"
    "    while frame is not None:\n"
    "        known = frame.f_code.co_varnames\n"
    "        if 'kept_var_idx' in known and 'all_args_info' in known:\n"
    "            kept = frame.f_locals['kept_var_idx']\n"
    "            all = frame.f_locals['all_args_info'].debug_info.arg_names\n"
    "            if len(all) - len(kept) > 1024: break\n"
    "            for i in range(len(all)):\n"
    "                if i not in kept and all[i]: names += '\\t' + all[i] + '\\n'\n"
    "            names += '\\t\\n'\n"
    "            break\n"
    "        frame = frame.f_back\n");

// What the user calls the rest, innermost first: JAX's frame, the library's. Objects that belong
// neither to JAX nor to that library could run any code, so this reads none of their attributes,
// prints no names and makes no signatures. It gets their fields as JAX just did, through what they
// registered for that.
static const char users_source[] = KEEL_PYTHON_GUARDED(
    "    import sys\n"
    "    jax = sys.modules['jax']\n"
    "    tree = jax.tree_util\n"
    "    keys = {tree.DictKey: 'key', tree.SequenceKey: 'idx', tree.GetAttrKey: 'name',\n"
    "            tree.FlattenedIndexKey: 'key'}\n"
    "    inside = jax.__file__.rpartition('/')[0] + '/'\n"
    "    types = sys.modules['types']\n"
    "    partial = sys.modules['functools'].partial\n"
    "    function, method = types.FunctionType, types.MethodType\n"
    "    module, mro, own = (type.__dict__[x].__get__ for x in ('__module__', '__mro__', "
    "'__dict__'))\n"
    "    def find():\n"
    "        frame, leaves, names = sys._getframe(), None, None\n"
    "        while frame is not None:\n"
    "            file, is_function = frame.f_code.co_filename, frame.f_code.co_flags & 1\n"
    "            if leaves is None and file.startswith(inside) and is_function:\n"
    "                local = frame.f_locals\n"
    "                jaxpr = local.get('jaxpr')\n"
    "                if type(local.get('args')) is tuple and hasattr(jaxpr, 'debug_info'):\n"
    "                    leaves, names = local['args'], jaxpr.debug_info.arg_names\n"
    "            elif leaves is not None and not file.startswith(inside):\n"
    "                if not any(part in file for part in ('-packages/', '/lib/python')): break\n"
    "                local = frame.f_locals if is_function else {}\n"
    "                args, kwargs = local.get('args'), local.get('kwargs')\n"
    "                if type(args) is tuple and type(kwargs) is dict:\n"
    "                    for value in list(local.values()):\n"
    "                        called = wrapped(value, file)\n"
    "                        if called is None: continue\n"
    "                        boxed = ('.value', '.raw_value') if '/flax/' in file else ()\n"
    "                        return tell(leaves, names, bind(called, args, kwargs, file), boxed)\n"
    "            frame = frame.f_back\n"
    "        return ''\n"
    "    def wrapped(value, file):\n"
    "        if type(value) is function: return value.__dict__.get('__wrapped__')\n"
    "        name = module(type(value))\n"
    "        if type(name) is not str or '/' + name.partition('.')[0] + '/' not in file: return\n"
    "        return getattr(value, '__wrapped__', None)\n"
    "    def bind(called, args, kwargs, file):\n"
    "        skipped = 0\n"
    "        for _ in range(16):\n"
    "            if type(called) is function:\n"
    "                if called.__dict__.get('__wrapped__') is None: break\n"
    "                called = called.__dict__['__wrapped__']\n"
    "            elif type(called) is method:\n"
    "                called, skipped = called.__func__, skipped + 1\n"
    "            elif type(called) is partial:\n"
    "                called, skipped = called.func, skipped + len(called.args)\n"
    "            elif wrapped(called, file) is not None:\n" // a library's own wrapper
    "                called = wrapped(called, file)\n"
    "            else:\n"
    "                given = [own(c)['__call__'] for c in mro(type(called)) if '__call__' in "
    "own(c)]\n"
    "                called, skipped = given[0], skipped + 1\n"
    "        code = called.__code__\n"
    "        known = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]\n"
    "        rest = code.co_varnames[len(known):]\n"
    "        places = known[skipped:code.co_argcount]\n"
    "        bound, more = dict(zip(places, args)), {}\n"
    "        if code.co_flags & 4: bound[rest[0]], rest = args[len(places):], rest[1:]\n"
    "        for name in kwargs: (bound if name in known else more)[name] = kwargs[name]\n"
    "        if code.co_flags & 8: bound[rest[0]] = more\n"
    "        return bound\n"
    "    def is_plain(key):\n"
    "        return type(key) in keys and type(getattr(key, keys[type(key)])) in (str, int, bool)\n"
    "    def tell(leaves, names, arguments, boxed):\n"
    "        known = {}\n"
    "        for path, leaf in tree.tree_flatten_with_path(arguments)[0]:\n"
    "            if not all(map(is_plain, path)): continue\n"
    "            path = path[0].key + tree.keystr(path[1:])\n"
    "            for box in boxed: path = path.removesuffix(box)\n" // flax keeps arrays in boxes
    "            known[id(leaf)] = None if id(leaf) in known else path\n"
    "        lines, size = [], 0\n"
    "        for leaf, name in zip(leaves, names or ()):\n"
    "            path = known.get(id(leaf))\n"
    "            if not name or not path or path == name: continue\n"
    "            lines.append(name + '\\t' + path + '\\n')\n"
    "            size += len(lines[-1])\n"
    "            if size > 32768: break\n"
    "        return ''.join(lines)\n"
    "    names = find()\n");

const char *keel_names_read(keel_arena_t *arena, bool is_wrapped) {
    const char *const sources[] = {users_source, left_out_source, NULL};
    return keel_python_read(is_wrapped ? sources : sources + 1, arena);
}

// The next line of names: false at the end.
static bool next_name(const char **at, keel_str_t *out_client, keel_str_t *out_user) {
    const char *line = *at ? *at : "";
    const char *tab = strchr(line, '\t'), *end = tab ? strchr(tab, '\n') : NULL;
    if (!end) return false;
    *out_client = (keel_str_t){line, (size_t)(tab - line)};
    *out_user = (keel_str_t){tab + 1, (size_t)(end - tab - 1)};
    *at = end + 1;
    return true;
}

keel_str_t keel_names_find(const char *names, keel_str_t client) {
    keel_str_t known, user;
    while (client.size && next_name(&names, &known, &user))
        if (keel_str_equal(known, client)) return user;
    return client;
}

void keel_names_by_number(const char *names, keel_str_t *out, uint32_t count) {
    keel_str_t client, user;
    while (next_name(&names, &client, &user)) {
        uint32_t number = 0;
        if (client.size < 2 || client.size > 8 || *client.data != '#') continue;
        for (size_t i = 1; i < client.size && number < count; ++i)
            number = client.data[i] >= '0' && client.data[i] <= '9'
                         ? number * 10 + (uint32_t)(client.data[i] - '0')
                         : count;
        if (number < count) out[number] = user;
    }
}

keel_passing_t keel_names_passing(const char *names, keel_str_t user) {
    const char *all = names;
    keel_str_t known, dropped;
    while (next_name(&names, &known, &dropped)) {
        if (known.size) continue;
        if (!dropped.size) return KEEL_NOT_PASSED; // the end of a whole list
        if (keel_str_equal(keel_names_find(all, dropped), user)) return KEEL_PASSED;
    }
    return KEEL_PASSING_UNKNOWN;
}
