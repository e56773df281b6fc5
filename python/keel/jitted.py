"""Counts the executions of JAX's own client. What jax.jit made executes in C++; the object's own
pointer to its code is replaced by one of Keel's that counts (src/shim/jitted.h). What JAX executes in
Python is counted in ExecuteReplicated, where all of it passes.
"""

import ctypes
import functools
import sys
import types
import weakref
from ctypes import PYFUNCTYPE, c_bool, c_size_t, c_uint64, c_void_p, py_object
from typing import Any, Dict, Optional, Tuple

from ._imports import when_imported

FUNCTIONS = (  # with the interpreter's lock
    ("executed", PYFUNCTYPE(None, c_uint64)),
    ("make_group", PYFUNCTYPE(c_void_p)),
    ("free_group", PYFUNCTYPE(None, c_void_p)),
    ("add_program", PYFUNCTYPE(c_bool, c_void_p, c_uint64)),
    ("namer", PYFUNCTYPE(py_object)),
    ("around", PYFUNCTYPE(py_object, py_object)),
    ("watch", PYFUNCTYPE(c_bool, c_void_p, c_size_t, c_void_p)),
    ("forget", PYFUNCTYPE(None, c_void_p)),
    ("missed", PYFUNCTYPE(None)),
)

OWN = "<keel>"  # the file of code that runs between the user's and JAX's
HAS_VECTORCALL = 1 << 11
POINTER_SIZE = ctypes.sizeof(c_void_p)

_door: Any = None
_is_hidden = False
_registry: Any = None  # of the trees that JAX makes results with; None: programs name themselves not
_handed_out: Dict[int, Any] = {}


def unseen(function: Any) -> Any:
    """Between the user's code and JAX's, so that no stack shows it as the user's."""
    function.__code__ = function.__code__.replace(co_filename=OWN)
    return function


class _Named:
    """The results of a program that names itself when JAX makes them anew."""

    def __init__(self, handle: int, results: Any):
        self.handle, self.results = handle, results


class _Group:
    """Functions that share JAX's table of executables."""

    def __init__(self):
        self.address = _door.make_group()

    def __del__(self):
        if _door is not None:
            _door.free_group(self.address)


class _Watched:
    """A function that jax.jit made; ends with it."""

    def __init__(self, function: Any, shared_by: Tuple):
        self.shared_by = shared_by
        try:
            self.function = weakref.ref(function)
        except TypeError:
            self.function = lambda: None
        self.address, self.offset = 0, None
        self.group: Optional[_Group] = None
        self.is_watched = False

    def __del__(self):
        if self.is_watched and _door is not None:
            _door.forget(self.address)


_made: "weakref.WeakSet[_Watched]" = weakref.WeakSet()
_groups: "weakref.WeakKeyDictionary[Any, Dict[Tuple, _Group]]" = weakref.WeakKeyDictionary()


def _group_of(function: Any, rest: Tuple) -> _Group:
    try:
        shared = _groups.setdefault(function, {})
        if rest not in shared:
            shared[rest] = _Group()
        return shared[rest]
    except TypeError:  # it cannot be shared either
        return _Group()


def _vectorcall_offset(kind: type) -> Optional[int]:
    """Where objects of this class have the pointer. None if the class is not laid out as expected."""
    head = object.__basicsize__ + POINTER_SIZE  # of a class: what every object has, and a count
    words = [ctypes.c_ssize_t.from_address(id(kind) + head + POINTER_SIZE * at).value for at in range(5)]
    _, size, item_size, _, offset = words  # its name, sizes, destructor
    is_known = (size, item_size) == (kind.__basicsize__, kind.__itemsize__)
    has_one = kind.__flags__ & HAS_VECTORCALL and 0 < offset <= size - POINTER_SIZE
    return offset if is_known and has_one else None


def _naming(handle: int, results: Any, data: Any) -> Any:
    """JAX's data of a program, so that each execution without Python says which program it was."""
    leaves, tree = _registry.flatten(_Named(handle, results))
    if len(leaves) != len(data.out_avals) or tree.children() != [data.out_pytree_def]:
        return data
    return data._replace(out_pytree_def=tree)


def _note_program(watched: _Watched, answer: Tuple) -> Tuple:
    """What JAX's Python answers when its path in C++ asks for a program."""
    if not watched.is_watched or _door is None:
        return answer
    _door.missed()
    results, data, *rest = answer
    made = data is not None and _handed_out.get(id(data.xla_executable))
    if not made:
        return answer
    names_itself = _door.add_program(watched.group.address, made.handle)
    if names_itself and _registry is not None:
        data = _naming(made.handle, results, data)
    return (results, data, *rest)


def _watch(watched: _Watched) -> None:
    watched.group = _group_of(watched.function(), watched.shared_by)
    if _door.watch(watched.address, watched.offset, watched.group.address):
        watched.is_watched = True


class _Around(tuple):
    """The parts of what `around` makes (src/shim/jitted.h). Pickled, that is the function alone: what
    is read elsewhere is that process's."""

    def __reduce__(self):
        return functools.partial(types.SimpleNamespace, call_around=self[0]), ()


def _around(door: Any, function: Any, before: Any, after: Any) -> Any:
    try:
        return door.around(_Around((function, before, after, None)))
    except ValueError:  # not with this Python
        return function


def _follow_functions(module: Any, door: Any) -> None:
    make = module.pjit

    def pjit(name, function, cache_miss, *rest, **named):
        watched = _Watched(function, _shared_by(rest, named))
        note = functools.partial(_note_program, watched)
        made = make(name, function, _around(door, cache_miss, None, note), *rest, **named)
        watched.address, watched.offset = id(made), _vectorcall_offset(type(made))
        if watched.offset is not None:
            _made.add(watched)
            if _door is not None:
                _watch(watched)
        return made

    pjit.__wrapped__ = make
    module.pjit = unseen(pjit)


def _shared_by(rest: Tuple, named: Dict[str, Any]) -> Tuple:
    """What JAX compares besides the function itself before two functions share executables."""
    def plain(value):
        return tuple(value) if isinstance(value, list) else value
    key = (*map(plain, rest), *((name, plain(named[name])) for name in sorted(named)))
    try:
        hash(key)
    except TypeError:
        return tuple(map(id, key))
    return key


def _count(replicated: Any) -> None:
    made = _handed_out.get(id(replicated.xla_executable))
    if made is not None and _door is not None:
        _door.executed(made.handle)


def _count_in_python(pxla: Any) -> None:
    counted = _around(_door, pxla.ExecuteReplicated.__call__, _count, None)
    bind = ctypes.pythonapi.PyInstanceMethod_New
    bind.restype, bind.argtypes = py_object, (py_object,)
    pxla.ExecuteReplicated.__call__ = bind(counted)


def hide() -> None:
    """Keeps what is `unseen` out of the lines and the tracebacks that JAX shows. Before JAX is imported."""
    global _is_hidden
    for name in () if _is_hidden else ("source_info_util", "traceback_util"):
        when_imported("jax._src." + name, lambda util: util.register_exclusion(OWN))
    _is_hidden = True


def prepare(door: Any) -> None:
    """Before JAX makes its first function."""
    hide()
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        when_imported("jaxlib._jax", lambda module: _follow_functions(module, door))


def _prepare_naming() -> None:
    """Where it does not work, all executions count for the function's first program."""
    global _registry
    try:
        from jax._src import tree_util
        registry, results = tree_util.dispatch_registry, (object(), [object()])
        registry.register_node(_Named, lambda named: ((named.results,), named.handle), _door.namer())
        leaves, tree = registry.flatten(_Named(0, results))
        if tree.unflatten(leaves) == results:
            _registry = registry
    except Exception as error:
        sys.stderr.write(f"keel: cpu: {type(error).__name__}: {error}; executions of functions with "
                         "several programs are counted for the first of them\n")


def begin(door: Any, handed_out: Dict[int, Any]) -> None:
    global _door, _handed_out
    from jax._src.interpreters import pxla
    _handed_out, _door = handed_out, door
    _prepare_naming()
    _count_in_python(pxla)
    for watched in list(_made):
        _watch(watched)
