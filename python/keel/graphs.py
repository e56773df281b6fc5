"""Whose graphs TorchTPU compiles: the function that Dynamo traced, and what the user calls its tensors.

Its programs name neither, and are compiled on threads without a stack. Everything here is looked up
in Dynamo's own frames while it compiles; a graph that is not understood is compiled as ever, and
known by its line only."""

import functools
import re
import sys
import types
import weakref
from typing import Any, Dict, Iterator, List, Optional, Sequence

from ._imports import when_imported
from ._library import compiles, note_traced

LONGEST = 120  # characters of a name
KEPT = 4096  # compiles whose tensors' names a backward graph may ask for

_own = weakref.WeakKeyDictionary()  # by code: the modules, or none, that it was traced for
_names: Dict[str, List[str]] = {}  # by compile: the names of the tensors that Dynamo's graph takes
_noted: Dict[int, int] = {}  # by id of a graph that will be compiled


# ---- Dynamo's frames ------------------------------------------------------------------------------


def _frames() -> Iterator[Any]:
    frame = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _locals(function: str, file: str) -> Dict[str, Any]:
    """Of the innermost frame of a function on this thread's stack."""
    for frame in _frames():
        if frame.f_code.co_name == function and frame.f_code.co_filename.endswith(file):
            return frame.f_locals
    return {}


def _compile_id() -> str:
    context = getattr(sys.modules.get("torch._guards"), "CompileContext", None)
    return str(context.current_compile_id()) if context else ""


# ---- functions ------------------------------------------------------------------------------------


def _contents(closure: Any) -> Iterator[Any]:
    for cell in closure or ():
        try:
            yield cell.cell_contents
        except ValueError:  # empty
            pass


def _module_of(value: Any) -> Optional[Any]:
    """A module, or that of a bound method."""
    if type(value) is types.MethodType:
        value = value.__self__
    return value if issubclass(type(value), sys.modules["torch"].nn.Module) else None


def _is_torchs(code: Any) -> bool:
    return code.co_filename.startswith(sys.modules["torch"].__path__[0])


def _number(code: Any, modules: List[Any]) -> int:
    """Two modules of one class, and two closures over different ones, have functions of their own."""
    known = _own.setdefault(code, [])
    for number, others in enumerate(known, 1):
        if len(others) == len(modules) and all(other() is module for other, module in zip(others, modules)):
            return number
    known.append([weakref.ref(module) for module in modules])
    return len(known)


class _Function:
    """What is traced. Dynamo traces a function of its own for a module of a library's; then the module's
    class is the function."""

    def __init__(self, dynamo: Dict[str, Any]) -> None:
        code, given = dynamo["code"], dynamo.get("locals") or {}
        held = list(_contents(dynamo.get("closure")))
        modules = [module for module in map(_module_of, [given.get("self"), *held]) if module is not None]
        self.name = getattr(code, "co_qualname", code.co_name)
        self.parameters: Sequence[str] = ()
        self.module: Any = lambda: None  # what a function of Dynamo's own calls
        positional = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)
        self.named = code.co_varnames[positional] if code.co_flags & 8 else ""  # **kwargs
        if _is_torchs(code):
            modules = modules or [module for module in map(_module_of, given.values()) if module is not None]
            forward = getattr(type(modules[0]), "forward", None) if modules else None
            if hasattr(forward, "__code__"):
                self.name, code = type(modules[0]).__qualname__, forward.__code__
                self.parameters = code.co_varnames[1:code.co_argcount]
                self.module = weakref.ref(modules[0])
        number = _number(code, modules)
        if number > 1:
            self.name += f" {number}"
        self.file, self.line = code.co_filename, code.co_firstlineno


# ---- tensors --------------------------------------------------------------------------------------


def _readable(source: str, function: _Function) -> str:
    """"L['self']._modules['0']._parameters['weight']" is 0.weight. Of a function of Dynamo's own, which calls
    a module, the module's parameters of forward() are known."""
    parameters = function.parameters
    name = re.sub(r"\._(?:modules|parameters|buffers)\['([^']+)'\]", r".\1", source)
    name = re.sub(r"^(?:L|G)\['([^']+)'\]", r"\1", name)
    if parameters:
        name = re.sub(r"^fn\.", "", name)
        found = re.match(r"args\[(\d+)\]", name)
        if found and int(found[1]) < len(parameters):
            name = parameters[int(found[1])] + name[found.end():]
    if function.named:
        name = re.sub(re.escape(function.named) + r"\['([^']+)'\]", r"\1", name, count=1)
    name = re.sub(r"^self\.(?=.)", "", name)
    return " ".join(name.split())[:LONGEST]


def _source_of(node: Any, function: _Function) -> str:
    source = getattr(node, "_dynamo_source", None)
    name = getattr(source, "name", None)
    if callable(name):
        name = name()
    return _readable(name, function) if isinstance(name, str) else ""


def _placeholders(graph: Any) -> List[Any]:
    return [node for node in graph.graph.nodes if node.op == "placeholder"]


def _name_of(node: Any, dynamo: List[str]) -> str:
    """Of an argument of AOTAutograd's: it numbers those of Dynamo's graph, and the gradients."""
    found = re.match(r"(primals_|tangents_|arg)(\d+)", node.name)
    if found is None:
        return ""
    number = int(found[2]) - (found[1] != "arg")
    if found[1] == "tangents_":
        return f"gradient of result {number}"
    return dynamo[number] if number < len(dynamo) else ""


def _tensors(graph: Any, inputs: Any, dynamo: List[str]) -> str:
    """A program's arguments are the tensors among its graph's."""
    tensor = sys.modules["torch"].Tensor
    names = [_name_of(node, dynamo) for node, value in zip(_placeholders(graph), inputs)
             if isinstance(value, tensor)]
    return "".join(f"#{number}\t{name}\n" for number, name in enumerate(names))


def _inside(name: str, value: Any) -> Iterator[str]:
    """The tensors that a value is, or has one level down."""
    torch = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        yield name
    elif type(value) is dict:
        yield from (f"{name}[{key!r}]" for key, part in value.items()
                    if type(key) is str and isinstance(part, torch.Tensor))
    elif type(value) in (list, tuple):
        yield from (f"{name}[{i}]" for i, part in enumerate(value) if isinstance(part, torch.Tensor))
    elif issubclass(type(value), torch.nn.Module):
        prefix = "" if name == "self" else name + "."
        for parts in (value.named_parameters(), value.named_buffers()):
            yield from (prefix + part for part, _ in parts)


def _unused(dynamo: Dict[str, Any], function: _Function, used: str) -> str:
    """What was passed, or belongs to a module that was, and is in no graph: nothing uses it. Not a whole
    list, so nothing follows for what is missing here."""
    code, globals = dynamo["code"], dynamo.get("globals") or {}
    values = dict(dynamo.get("locals") or {})
    module = function.module()
    if module is not None:
        values = {**dict(zip(function.parameters, values.get("args") or ())), **(values.get("kwargs") or {}),
                  "self": module}
    else:
        values.update(zip(code.co_freevars, _contents(dynamo.get("closure"))))
        values.update((name, globals[name]) for name in code.co_names if name in globals)
    known = {line.partition("\t")[2] for line in used.splitlines()}
    names = [name for key, value in values.items() for name in _inside(key, value) if name not in known]
    return "".join(f"\t{name[:LONGEST]}\n" for name in names[:KEPT])


# ---- together -------------------------------------------------------------------------------------

_functions: Dict[str, _Function] = {}


def _known(id: str) -> _Function:
    """The function of a compile. Its backward graph is compiled when nothing of Dynamo's runs."""
    dynamo = _locals("_compile", "/torch/_dynamo/convert_frame.py")
    if "code" in dynamo:
        while len(_functions) >= KEPT:
            del _functions[next(iter(_functions))]
        _functions[id] = _Function(dynamo)
    return _functions[id]


def _dynamos(function: _Function) -> List[str]:
    graph = _locals("__call__", "/torch_tpu/_internal/compile/_backend.py").get("graph_module")
    return [_source_of(node, function) for node in _placeholders(graph)] if graph is not None else []


def _note(id: str, function: _Function, has_gradient: bool, names: str) -> int:
    """A function without gradients is one of its own: all of its graph is another."""
    name = function.name if has_gradient else f"{function.name} without gradients"
    return note_traced(id, name, function.file, function.line, names)


def _note_graph(graph: Any, inputs: Any, is_forward: bool) -> int:
    id = _compile_id()
    function = _known(id)
    if is_forward:
        while len(_names) >= KEPT:
            del _names[next(iter(_names))]
        _names[id] = _dynamos(function)
    has_gradient = not is_forward or any(node.name.startswith("primals") for node in _placeholders(graph))
    names = _tensors(graph, inputs, _names.get(id, []))
    dynamo = _locals("_compile", "/torch/_dynamo/convert_frame.py")
    if is_forward and "code" in dynamo:
        names += _unused(dynamo, function, names)
    return _note(id, function, has_gradient, names)


def _note_loaded() -> int:
    """What torch's own cache has from an earlier process."""
    torch = sys.modules["torch"]
    inputs = _locals("__call__", "/torch_tpu/_internal/compile/_backend.py").get("example_inputs") or ()
    has_gradient = torch.is_grad_enabled() and any(
        isinstance(value, torch.Tensor) and value.requires_grad for value in inputs)
    id = _compile_id()
    return _note(id, _known(id), has_gradient, "")


def _tried(function: Any, *arguments: Any) -> int:
    try:
        return function(*arguments)
    except Exception:  # another version of torch's: then it is known by its line
        return 0


def _wrap_compiler(module: Any) -> None:
    compiler = module.StaticCompiler
    ask, compile = compiler.__call__, compiler._compile

    @functools.wraps(ask)
    def asked(self, graph_module, example_inputs, is_fwd=True, *more, **others):
        number = _tried(_note_graph, graph_module, example_inputs, is_fwd)
        _noted[id(graph_module)] = number
        try:
            return ask(self, graph_module, example_inputs, is_fwd, *more, **others)
        finally:
            if not getattr(self, "_async_compile", False):
                _noted.pop(id(graph_module), None)

    @functools.wraps(compile)
    def compiled(self, graph_module, *more, **others):
        with compiles(_noted.pop(id(graph_module), 0)):
            return compile(self, graph_module, *more, **others)

    compiler.__call__, compiler._compile = asked, compiled


def _wrap_load(module: Any) -> None:
    load = module._unpickle_compiled_executable

    @functools.wraps(load)
    def loaded(*arguments, **others):
        with compiles(_tried(_note_loaded)):
            return load(*arguments, **others)

    module._unpickle_compiled_executable = loaded


def begin() -> None:
    package = "torch_tpu._internal.compile."
    when_imported(package + "compiler", lambda module: _tried(_wrap_compiler, module))
    when_imported(package + "torch_tpu_compiled_executable", lambda module: _tried(_wrap_load, module))
