// Whether JAX runs a program as an operation: outside any jitted function of the user's, and
// without code of the user's in it.
#include "host/host.h"
#include "host/python.h"

// JAX traced one of its own functions. It did so for an operation if
//
// - its dispatch of a primitive asked, and the primitive holds no function: a loop's body is the
//   user's, but what a scatter combines with is JAX's, a function of one of its modules;
// - or the function is one that JAX itself jits (jnp.tanh), or JAX's own code calls it
//   (jnp.add: ufunc.__call__), and nothing that it was given or closed over is a function of the
//   user's. jax.jit(jnp.tanh) jits another object than JAX did;
// - or a transformation executes what it made of a function that JAX jits.
//
// Whatever is not understood is no operation, so that gates look at it.
static const char source[] = KEEL_PYTHON_GUARDED(
    "    import sys\n"
    "    inside = sys.modules['jax'].__file__.rpartition('/')[0] + '/'\n"
    "    types = sys.modules['types']\n"
    "    function, method = types.FunctionType, types.MethodType\n"
    "    partial = sys.modules['functools'].partial\n"
    "    traced = 'Jaxpr', 'ClosedJaxpr', 'Exported'\n"
    "    plain = bool, int, float, complex, str, bytes, type(None), types.BuiltinFunctionType\n"
    "    clients = 'jax', 'jaxlib', 'functools', 'numpy', 'ml_dtypes', 'builtins'\n"
    "    def package(kind):\n"
    "        return str(type.__dict__['__module__'].__get__(kind)).partition('.')[0]\n"
    "    def is_object(value):\n" // of JAX's, not a plain function: jitted, a ufunc
    "        return callable(value) and package(type(value)) in ('jax', 'jaxlib')\n"
    "    def own_attribute(module, names):\n"
    "        value = sys.modules.get(module)\n"
    "        for name in names.split('.'): value = getattr(value, name, None)\n"
    "        return value\n"
    "    def in_module(info):\n" // "tanh at FILE:LINE", the function by that name
    "        name, _, place = (info or '').partition(' at ')\n"
    "        file = place.rpartition(':')[0]\n"
    "        if not file.startswith(inside): return\n"
    "        for module in list(sys.modules.values()):\n"
    "            if getattr(module, '__file__', None) == file: return getattr(module, name, None)\n"
    "    seen = set()\n"
    "    def holds(value):\n" // code of the user's, or what is not known
    "        kind = type(value)\n"
    "        if kind in plain or id(value) in seen: return False\n"
    "        seen.add(id(value))\n"
    "        if len(seen) > 4096: return True\n"
    "        if isinstance(value, type): return package(value) not in clients\n"
    "        if kind in (tuple, list, set, frozenset): parts = value\n"
    "        elif kind is dict: parts = value.values()\n"
    "        elif kind is partial: parts = value.func, value.args, value.keywords\n"
    "        elif kind is method: parts = value.__func__, value.__self__\n"
    "        elif kind is function:\n"
    "            if not value.__code__.co_filename.startswith(inside): return True\n"
    "            parts = [cell.cell_contents for cell in value.__closure__ or ()]\n"
    "            parts += [value.__defaults__, value.__kwdefaults__, value.__dict__]\n"
    "        elif kind.__name__ in traced: return True\n"
    "        elif kind.__name__ == 'WrappedFun': parts = value.f, value.params\n" // jax.pmap's
    "        elif not callable(value): return False\n"
    "        elif package(kind) not in clients: return True\n"
    "        else: parts = getattr(value, '__dict__', None), getattr(value, '__wrapped__', None)\n"
    "        return any(map(holds, parts))\n"
    "    def is_combiner(name, value):\n"
    "        known = name.startswith(('scatter', 'reduce', 'select_and'))\n"
    "        if not known or not type(value).__name__.endswith('Jaxpr'): return False\n"
    "        info = getattr(value, 'jaxpr', value).debug_info.func_src_info\n"
    "        return callable(in_module(info))\n"
    "    def is_primitive(name, params):\n"
    "        for value in params.values():\n"
    "            if holds(value) and not is_combiner(name, value): return False\n"
    "        return True\n"
    "    def is_operation():\n"
    "        frame, info = sys._getframe(1), None\n"
    "        while frame is not None:\n"
    "            code = frame.f_code\n"
    "            file, name = code.co_filename, code.co_name\n"
    "            if file == inside + '_src/stages.py' and name == 'compile': return False\n"
    "            if file == inside + '_src/pjit.py' and name == 'cache_miss': break\n"
    "            if info is None and 'all_args_info' in code.co_varnames:\n"
    "                info = frame.f_locals['all_args_info'].debug_info.func_src_info\n"
    "                place = info.partition(' at ')[2]\n"
    "                if not place.startswith((inside + '_src/', inside + 'numpy/')): return False\n"
    "            frame = frame.f_back\n"
    "        if frame is None: return is_object(in_module(info))\n"
    "        local, caller = frame.f_locals, frame.f_back\n"
    "        while caller.f_code.co_filename in (inside + '_src/traceback_util.py', '<keel>'):\n"
    "            caller = caller.f_back\n"
    "        file = caller.f_code.co_filename\n"
    "        if file == inside + '_src/dispatch.py' and caller.f_code.co_name == "
    "'apply_primitive':\n"
    "            return is_primitive(caller.f_locals['prim'].name, caller.f_locals['params'])\n"
    "        called = local['fun']\n"
    "        if holds((local['args'], local['kwargs'])): return False\n"
    "        own = own_attribute(getattr(called, '__module__', ''),\n"
    "                            getattr(called, '__qualname__', ''))\n"
    "        if own is not called and is_object(own): return True\n"
    "        return file.startswith(inside) and not holds(called)\n"
    "    if is_operation(): names = 'operation'\n");

bool keel_is_operation(keel_arena_t *arena) {
    const char *const sources[] = {source, NULL};
    return *keel_python_read(sources, arena) != 0;
}
