// What JAX compares of a call, besides the program: the function, the containers and types of the
// arguments (also of those that the program does not use), static values, settings. A program shows
// none of it, so if JAX traces a function again and the program is the same, this tells why.
#include "host/host.h"
#include "host/python.h"

// Finds the frames of the call that JAX is compiling for, and stops at the first that is not JAX's.
// It reads no attribute of the user's objects, compares and prints none: an object is its class and
// its identity, which are what a class without __eq__ is compared by. It flattens nothing: JAX's
// frame has the tree. An argument for which there is no room is a hash, by which JAX finds its own
// cached calls too.
static const char source[] = KEEL_PYTHON_GUARDED(
    "    import sys\n"
    "    jax = sys.modules['jax']\n"
    "    inside = jax.__file__.rpartition('/')[0] + '/'\n"
    "    function = sys.modules['types'].FunctionType\n"
    "    module, title, mro, own = (type.__dict__[x].__get__ for x in ('__module__', '__name__',\n"
    "                                                           '__mro__', '__dict__'))\n"
    "    plain = (str, bytes, int, float, complex, bool, type(None), type(...))\n"
    "    lines = []\n"
    "    def put(kind, path, text): lines.append(kind + ' ' + path + '\\t' + text + '\\n')\n"
    "    def find():\n"
    "        frame, met = sys._getframe(), False\n"
    "        while frame is not None:\n"
    "            code = frame.f_code\n"
    "            if code.co_filename.startswith(inside):\n"
    "                met = True\n"
    "                if 'p' in code.co_varnames:\n"
    "                    local = frame.f_locals\n"
    "                    args, kwargs = local.get('args'), local.get('kwargs')\n"
    "                    is_one = type(args) is tuple and type(kwargs) is dict\n"
    "                    if is_one and 'jit_info' in local and hasattr(local.get('p'), "
    "'in_tree'):\n"
    "                        return tell(local['p'], local['jit_info'], local['fun'], args, "
    "kwargs)\n"
    "            elif met: return\n"
    "            frame = frame.f_back\n"
    // A long text may be a path, or a secret: it is its beginning and its hash. What looks like an
    // identity in it is none.
    "    def shown(value):\n"
    "        is_long = type(value) in plain[:2] and len(value) > 16\n"
    "        text = repr(value[:8] if is_long else value)\n"
    "        if is_long: text += '... %x' % (hash(value) & 0xffffffff)\n"
    "        text = text.replace(' 0x', ' 0X')\n"
    "        return text if value == value else '%s ~%s' % (text, hex(id(value)))\n" // NaN
    // A class that is not what its module has by that name may be one of several.
    "    def named(kind):\n"
    "        home = getattr(sys.modules.get(module(kind)), '__dict__', {})\n"
    "        is_one = type(home) is not dict or home.get(title(kind)) is kind\n"
    "        return title(kind) + ('' if is_one else ' ' + hex(id(kind)))\n"
    // Class and identity, "~" before it if the class compares in its own way; so does a tuple for
    // which there is no room.
    "    room = [512]\n"
    "    def told(value, depth=0):\n"
    "        kind = type(value)\n"
    "        if kind in plain: return shown(value)\n"
    "        if type(kind) is not type and (module(kind) + '.').startswith('jax.'):\n"
    "            name = getattr(value, 'name', None)\n" // an enumeration of JAX's
    "            if type(name) is str: return name\n"
    "        if kind is jax.sharding.PartitionSpec:\n"
    "            text = repr(value)\n"
    "            return shown(text) if len(text) > 64 or ' 0x' in text else text\n"
    "        compare = [own(c)['__eq__'] for c in mro(kind) if '__eq__' in own(c)][0]\n"
    "        if compare is own(tuple)['__eq__'] and depth < 8 and tuple.__len__(value) <= "
    "room[0]:\n"
    "            room[0] -= tuple.__len__(value)\n"
    "            parts = [told(x, depth + 1) for x in tuple.__iter__(value)]\n"
    "            return '(' + ', '.join(parts) + ')'\n"
    "        mark = '' if compare is own(object)['__eq__'] else '~'\n"
    "        return title(kind) + ' ' + mark + hex(id(value))\n"
    "    def tell(p, info, fun, args, kwargs):\n"
    "        code = fun.__code__ if type(fun) is function else None\n"
    "        known = code.co_varnames[:code.co_argcount] if code else ()\n"
    "        known += tuple('args[%d]' % i for i in range(len(known), len(args)))\n"
    "        whole = getattr(code, 'co_qualname', '<')\n"
    "        put('f', '', ('one ' if '<' not in whole else 'any ') + told(fun))\n"
    "        static = {i % len(args) for i in info.static_argnums if -len(args) <= i < len(args)}\n"
    "        for i in sorted(static): put('s', known[i], told(args[i]))\n"
    "        for name in sorted(kwargs):\n"
    "            if name in info.static_argnames: put('s', name, told(kwargs[name]))\n"
    "            put('b', name, 'by name')\n"
    "        dynamic = [known[i] for i in range(len(args)) if i not in static]\n"
    "        names = dynamic + [x for x in sorted(kwargs) if x not in info.static_argnames]\n"
    "        trees = [x for part in p.in_tree.children() for x in part.children()]\n"
    "        at, nodes = 0, 128\n"
    "        for name, tree in zip(names, trees):\n"
    "            leaves = list(zip(p.in_avals, p.arg_names))[at:at + tree.num_leaves]\n"
    "            at += tree.num_leaves\n"
    "            nodes -= tree.num_nodes\n"
    "            if nodes < 0:\n"
    "                nodes += tree.num_nodes\n"
    "                types = tuple(x for x, _ in leaves)\n"
    "                put('h', name, '%x %x' % (hash(tree), hash(types)))\n"
    "                hold(name, *tree.node_data())\n"
    "            else: walk(name, tree, iter(leaves))\n"
    "        settings()\n"
    "    def walk(path, node, leaves):\n"
    "        data = node.node_data()\n"
    "        if data is None:\n"
    "            aval, name = next(leaves)\n"
    "            weak = ' weak' if getattr(aval, 'weak_type', False) else ''\n"
    "            put('l', name or path, aval.str_short(True) + weak)\n"
    "            return\n"
    "        kind, more = data\n"
    "        put('n', path, 'None' if kind is plain[6] else named(kind))\n"
    "        parts = node.children()\n"
    "        keys = range(len(parts))\n"
    "        if kind is dict: keys = [x if type(x) in plain else '?' for x in more]\n"
    "        hold(path, kind, more)\n"
    "        for key, part in zip(keys, parts): walk('%s[%r]' % (path, key), part, leaves)\n"
    "    def hold(path, kind, more):\n"
    "        is_empty = more is None or type(more) is tuple and not more\n"
    "        if kind is not dict and not is_empty: put('x', path, told(more))\n"
    "    def settings():\n"
    "        config = sys.modules['jax._src.config']\n"
    "        values = config.trace_context()\n"
    "        words = getattr(config, 'trace_context_names', None)\n"
    "        words = words() if words else list(map(str, range(len(values))))\n"
    "        for word, value in zip(words, values):\n"
    "            text = told(value)\n"
    "            if text not in ('None', 'False', '()'): put('c', word, text)\n"
    "    find()\n"
    "    names = ''.join(lines)\n"
    "    if len(names) > 8192: names = ''\n");

const char *keel_call_read(keel_arena_t *arena) {
    keel_python_t python;
    if (keel_python_enter(&python)) return "";
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_python_ask(&python, source, &text);
    keel_python_leave(&python);
    keel_str_t kept = KEEL_STR("");
    if (!text.failed)
        keel_status_ignore(
            keel_arena_str(arena, (keel_str_t){(const char *)text.data, text.size}, &kept));
    keel_buffer_deinitialize(&text);
    return kept.data;
}
