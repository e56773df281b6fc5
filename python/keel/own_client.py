"""Puts Keel behind JAX's own client for CPU: JAX keeps its compiler, and what it compiles comes from
Keel's cache if it can, is recorded, and is held to a contract.

JAX compiles in one function of Python. It is given to Keel's engine here (src/shim/own.c), as the
bytes that JAX would send to a plugin. The engine calls back for what only this client can do: compile
what JAX gave, serialize, load. JAX gets its own executable, or the very exception that its compiler
raised. Anything unexpected: JAX's own function, and one line on stderr.
"""

import atexit
import ctypes
import io
import math
import os
import struct
import sys
import threading
import time
from ctypes import (CFUNCTYPE, POINTER, PYFUNCTYPE, c_bool, c_char_p, c_int, c_int32, c_int64, c_size_t, c_ssize_t,
                    c_uint64, c_void_p)
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import jitted
from ._library import library_path
from ._version import version

CODES = ("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
         "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
         "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED")
UNKNOWN = 2
FIGURES = tuple(place + name + "_size_in_bytes" for place in ("", "host_") for name in (
    "generated_code", "argument", "output", "alias", "temp"))
LARGE = 1 << 20  # bytes of a constant that is not copied into the program
BESIDE = "keel.constant "  # KEEL_BESIDE
# Types whose constants Python can read in place. Asking for others would print them.
SHARED = ("f16", "f32", "f64", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
COMPILERS = ("libjax_common.so", "_jax.so", "xla_extension.so")  # what has it, in versions of jaxlib


class _Text(ctypes.Structure):
    _fields_ = [("data", c_char_p), ("size", c_size_t)]


class _Device(ctypes.Structure):
    _fields_ = [("kind", c_char_p), ("id", c_int32), ("process", c_int32), ("is_addressable", c_bool)]


class _Facts(ctypes.Structure):
    _fields_ = [("library", c_char_p), ("platform", c_char_p), ("version", c_char_p),
                ("devices", POINTER(_Device)), ("device_count", c_size_t), ("process", c_int32)]


class _Calls(ctypes.Structure):
    _fields_ = [("compile", CFUNCTYPE(c_int, c_uint64, c_void_p)),
                ("load", CFUNCTYPE(c_int, c_uint64, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p)),
                ("serialize", CFUNCTYPE(c_int, c_uint64, c_void_p)),
                ("memory", CFUNCTYPE(c_int, c_uint64, POINTER(c_int64), c_void_p)),
                ("program", CFUNCTYPE(c_int, c_uint64, c_void_p)),
                ("drop", CFUNCTYPE(None, c_uint64)),
                ("whole", CFUNCTYPE(c_int, c_void_p))]


class _Door(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("calls_size", c_size_t), ("version", c_char_p),
                ("begin", CFUNCTYPE(c_int, POINTER(_Facts), POINTER(_Calls), c_void_p)),
                ("give", CFUNCTYPE(None, c_void_p, c_char_p, c_size_t)),
                ("spent", CFUNCTYPE(None, c_uint64)),
                ("copy", CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)),
                ("compile", CFUNCTYPE(c_int, _Text, _Text, POINTER(_Text), c_size_t, POINTER(c_uint64),
                                      POINTER(c_uint64), c_void_p)),
                ("load", CFUNCTYPE(c_int, _Text, _Text, POINTER(c_uint64), POINTER(c_uint64), c_void_p)),
                ("serialized", CFUNCTYPE(None, c_uint64, _Text)),
                ("stored", CFUNCTYPE(c_bool, c_uint64, c_void_p)),
                ("destroy", CFUNCTYPE(None, c_uint64)),
                ("unseen", CFUNCTYPE(c_int, _Text, c_void_p)),
                ("end", CFUNCTYPE(None)),
                ("make_buffer", CFUNCTYPE(c_void_p)),
                ("read_buffer", CFUNCTYPE(c_void_p, c_void_p, POINTER(c_size_t))),
                ("free_buffer", CFUNCTYPE(None, c_void_p)),
                *jitted.FUNCTIONS]


class _Made:
    """An executable of this client."""

    def __init__(self, executable: Any, devices: List[int], options: bytes):
        self.executable: Optional[Any] = executable  # until JAX has it
        self.devices, self.options = devices, options
        self.handle = 0


class _End:
    """Kept by an executable; ends with it."""

    def __init__(self, handle: int, identity: int):
        self.handle, self.identity = handle, identity

    def __del__(self):
        if _door is not None:
            _handed_out.pop(self.identity, None)
            _functions.destroy(self.handle)


class _Asked:
    """What this thread compiles."""

    def __init__(self, original, backend, module, devices, options, host_callbacks):
        self.original, self.backend, self.module = original, backend, module
        self.devices, self.options, self.host_callbacks = devices, options, host_callbacks
        self.program: Tuple[bytes, List[Any]] = b"", []  # what the engine got
        self.error: Optional[BaseException] = None


class _Loads:
    """What JAX loads by itself on this thread: from its own cache, from a pickle."""

    def __init__(self, load, data: bytes, devices, options):
        self.load, self.data, self.devices = load, data, devices
        self.options = b"" if options is None else options.SerializeAsString()
        self.error: Optional[BaseException] = None


_door: Optional[_Door] = None  # while Keel is behind the client
_functions: Optional[_Door] = None  # the same, also for what other threads do when the process ends
_client: Any = None
_calls: Optional[_Calls] = None  # kept, because the engine calls them
_thread = threading.local()
_made: Dict[int, _Made] = {}  # by the engine's number, until JAX has them
_handed_out: Dict[int, _Made] = {}  # by the identity of an executable that lives
_serialize = _deserialize_own = None  # jaxlib's own


def _say(text: str) -> None:
    sys.stderr.write(f"keel: {text}\n")


_said = set()


def _give_up(what: str, error: BaseException) -> None:
    """JAX goes on without Keel, if the run is held to nothing that forbids it."""
    if _door is None:
        return
    why = f"{what}: {type(error).__name__}: {error}"
    if what not in _said:
        _said.add(what)
        _say(f"cpu: {why}; JAX compiles it without Keel")
    out, text = _functions.make_buffer(), why.encode(errors="replace")
    try:
        if _functions.unseen(_Text(text, len(text)), out):
            from jax._src.lib import xla_client
            raise xla_client.XlaRuntimeError(_text_of(out).decode(errors="replace"))
    finally:
        _functions.free_buffer(out)


# ---- what the engine asks for --------------------------------------------------------------------

def _give(out: int, data: bytes) -> None:
    _functions.give(out, data, len(data))


def _failed(out: int, error: BaseException) -> int:
    text = str(error)
    code, _, rest = text.partition(": ")
    known = code in CODES
    _give(out, (rest if known else f"{type(error).__name__}: {text}").encode(errors="replace"))
    return CODES.index(code) or UNKNOWN if known else UNKNOWN


def _known(call, *given, **named):
    """What this thread compiles inside is known to Keel."""
    before, _thread.is_known = getattr(_thread, "is_known", False), True
    try:
        return call(*given, **named)
    finally:
        _thread.is_known = before


def _compile(number: int, out: int) -> int:
    asked = _thread.asked
    if asked.error is not None:
        return _failed(out, asked.error)
    try:
        executable = _known(asked.original, asked.backend, asked.module, asked.devices, asked.options,
                            asked.host_callbacks)
        _made[number] = _Made(executable, _ids(asked.devices), asked.options.SerializeAsString())
        return 0
    except BaseException as error:
        asked.error = error
        return _failed(out, error)


def _ids(devices: Any) -> List[int]:
    return [device.id for device in devices]


# Before the client's own bytes: what loads them, if nobody asks for them at that moment.
_HEAD = struct.Struct("<4sII")  # a mark, how many devices, the size of the compile options
MARK = b"KOC1"


def _head(devices: List[int], options: bytes) -> bytes:
    return (_HEAD.pack(MARK, len(devices), len(options)) + struct.pack(f"<{len(devices)}I", *devices)
            + options)


def _read_head(at: int, size: int) -> Tuple[List[int], bytes, int]:
    """The devices, the compile options, and where the client's own bytes begin."""
    if size < _HEAD.size:
        raise ValueError("these bytes are not an executable of JAX's client")
    mark, count, options_size = _HEAD.unpack(ctypes.string_at(at, _HEAD.size))
    head_size = _HEAD.size + 4 * count + options_size
    if mark != MARK or head_size > size:
        raise ValueError("these bytes are not an executable of JAX's client")
    devices = list(struct.unpack(f"<{count}I", ctypes.string_at(at + _HEAD.size, 4 * count)))
    return devices, ctypes.string_at(at + head_size - options_size, options_size), head_size


# Functions of their own: what ctypes.pythonapi has is everybody's, with the types that the last one set.
_make_bytes = PYFUNCTYPE(ctypes.py_object, c_void_p, c_ssize_t)(
    ("PyBytes_FromStringAndSize", ctypes.pythonapi))
_data_of = PYFUNCTYPE(c_void_p, ctypes.py_object)(("PyBytes_AsString", ctypes.pythonapi))


def _bytes_at(at: int, size: int) -> bytes:
    """As ctypes.string_at, for an executable with large constants."""
    if size < LARGE:
        return ctypes.string_at(at, size)
    made = _make_bytes(None, size)
    _functions.copy(_data_of(made), at, size)
    return made


def _load(number: int, at: int, size: int, others: int, others_size: int, out: int) -> int:
    try:
        asked = getattr(_thread, "asked", None)
        if isinstance(asked, _Loads) and asked.data == ctypes.string_at(at, size):
            return _load_asked(number, asked, out)
        devices, options, head_size = _read_head(at, size)
        if others_size:
            options = ctypes.string_at(others, others_size)
        executable = _deserialize(_bytes_at(at + head_size, size - head_size), devices, options)
        _made[number] = _Made(executable, devices, options)
        return 0
    except BaseException as error:
        return _failed(out, error)


def _load_asked(number: int, asked: _Loads, out: int) -> int:
    try:
        _made[number] = _Made(asked.load(), _ids(asked.devices), asked.options)
        return 0
    except BaseException as error:
        asked.error = error
        return _failed(out, error)


def _deserialize(data: bytes, devices: List[int], options: bytes) -> Any:
    asked = getattr(_thread, "asked", None)
    if isinstance(asked, _Asked):
        return _deserialize_own(_client, data, asked.devices, asked.options)
    from jax._src.lib import xla_client
    by_id = {device.id: device for device in _client.devices()}
    listed = xla_client.DeviceList(tuple(by_id[number] for number in devices))
    return _deserialize_own(_client, data, listed,
                            xla_client.CompileOptions.ParseFromString(options))


def _serialize_made(number: int, out: int) -> int:
    try:
        made = _made[number]
        _give(out, _head(made.devices, made.options))
        _give(out, _serialize(made.executable))
        return 0
    except BaseException as error:
        return _failed(out, error)


def _memory(number: int, figures: Any, out: int) -> int:
    try:
        stats = _made[number].executable.get_compiled_memory_stats()
        for at, name in enumerate(FIGURES):
            figures[at] = getattr(stats, name)
        return 0
    except BaseException as error:
        return _failed(out, error)


def _program(number: int, out: int) -> int:
    try:
        module, = _made[number].executable.hlo_modules()
        _give(out, module.as_serialized_hlo_module_proto())
        return 0
    except BaseException as error:
        return _failed(out, error)


def _drop(number: int) -> None:
    _made.pop(number, None)


def _whole(out: int) -> int:
    asked = _thread.asked
    try:
        _give(out, _put_back(asked.module, *asked.program))
        return 0
    except BaseException as error:
        if not isinstance(error, Exception):  # the user's Ctrl-C
            asked.error = error
        return _failed(out, error)


# ---- where JAX compiles --------------------------------------------------------------------------

def _text_of(buffer: int) -> bytes:
    size = c_size_t()
    return ctypes.string_at(_functions.read_buffer(buffer, ctypes.byref(size)), size.value)


def _look_at(module: Any) -> Tuple[bool, List[Any]]:
    """Whether the module has operations of CHLO, or composites that stand for some; and its constants,
    whose contents nobody looks at."""
    from jaxlib.mlir import ir
    composed, constants, advance = [], [], ir.WalkResult.ADVANCE

    def look(operation):
        name = operation.name
        if name == "stablehlo.constant":
            constants.append(operation)
        elif name[0] == "c" or name == "stablehlo.composite":
            if name == "stablehlo.composite":
                name = ir.StringAttr(operation.attributes["name"]).value
            if name.startswith("chlo."):
                composed.append(name)
        return advance

    module.operation.walk(look)
    return bool(composed), constants


def _may_be_large(shaped: Any) -> bool:
    return math.prod(shaped.shape) >= LARGE // 8 and str(shaped.element_type) in SHARED


def _has_large(constants: List[Any]) -> bool:
    """By type: a program has thousands of constants of few types."""
    return any(map(_may_be_large, {constant.result.type for constant in constants}))


def _bytes_of(constant: Any) -> Optional[Any]:
    """Those of a large constant where MLIR has them; None for any other."""
    if not _may_be_large(constant.result.type) or len(constant.attributes) > 1:
        return None  # attributes, such as a sharding, would be lost with its place
    value = constant.attributes["value"]
    if value.is_splat:
        return None
    data = memoryview(value)
    return data if data.nbytes >= LARGE and data.c_contiguous else None


def _put_beside(module: Any) -> List[Any]:
    """Takes the large constants out of a module and gives their bytes; in the place of each is now
    what the engine takes for it (src/read/mlir_beside.c)."""
    from jaxlib.mlir import ir
    beside = []
    for constant in _look_at(module)[1]:
        data = _bytes_of(constant)
        if data is None:
            continue
        with module.context:
            place = ir.Operation.create(
                "stablehlo.custom_call", results=[constant.result.type], loc=constant.location,
                attributes={"call_target_name": ir.StringAttr.get(f"{BESIDE}{len(beside)}")},
                ip=ir.InsertionPoint(constant))
        constant.result.replace_all_uses_with(place.results[0])
        constant.erase()
        beside.append(data)
    return beside


def _put_back(module: Any, program: bytes, beside: List[Any]) -> bytes:
    """That program with its constants where their places are, so that both have one key: what is
    serialized as a whole may have its operations in another order."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    whole, places = stablehlo.deserialize_portable_artifact(module.context, program), []

    def look(operation):
        if operation.name == "stablehlo.custom_call":
            target = ir.StringAttr(operation.attributes["call_target_name"]).value
            if target.startswith(BESIDE):
                places.append((target, operation))
        return ir.WalkResult.ADVANCE

    whole.operation.walk(look)
    constants = {f"{BESIDE}{number}": data.obj for number, data in enumerate(beside)}
    if sorted(target for target, _ in places) != sorted(constants):
        return _serialized(module)  # as it is then keyed
    for target, place in places:
        with module.context:
            constant = ir.Operation.create(
                "stablehlo.constant", results=[place.results[0].type], loc=place.location,
                attributes={"value": constants[target]}, ip=ir.InsertionPoint(place))
        place.results[0].replace_all_uses_with(constant.results[0])
        place.erase()
    return stablehlo.serialize_portable_artifact(whole, stablehlo.get_current_version(), True)


def _copy_of(module: Any) -> Any:
    """Constants belong to the context, so they are not copied."""
    from jaxlib.mlir import ir
    copied = ir.Module.create(module.operation.location)
    attributes = module.operation.attributes
    for name in attributes:
        name = getattr(name, "name", name)  # older jaxlibs give pairs
        copied.operation.attributes[name] = attributes[name]
    for operation in module.body:
        copied.body.append(operation.operation.clone())
    return copied


def _program_of(asked: _Asked) -> Tuple[bytes, List[Any]]:
    """The bytes that JAX would send to a plugin, which it asks for on this thread next, without its
    large constants, and the bytes of these."""
    began = time.perf_counter_ns()
    beside: List[Any] = []
    asked.program = _serialized(asked.module, beside), beside
    _functions.spent(time.perf_counter_ns() - began)
    return asked.program


def _serialized(module: Any, beside: Optional[List[Any]] = None) -> bytes:
    """Of a copy: serializing changes the module. `beside`: large constants go there."""
    from jax._src.lib import _jax
    from jaxlib.mlir.dialects import stablehlo
    from jaxlib.mlir.passmanager import PassManager
    version = stablehlo.get_current_version()
    is_composed, constants = _look_at(module)
    is_large = _has_large(constants)
    if is_large or not is_composed:
        module = _copy_of(module)
        PassManager.parse("builtin.module(canonicalize)", module.context).run(module.operation)
    if is_large and beside is not None:  # equal ones are one now, and where they stay
        beside.extend(_put_beside(module))
    if not is_composed:  # as below, in less than half of the time
        return stablehlo.serialize_portable_artifact(module, version, True)
    code = io.BytesIO()
    module.operation.write_bytecode(code)
    return _jax.mlir.serialize_portable_artifact(code.getvalue(), version, True)


def _hand_out(handle: int, number: int) -> Any:
    made = _made.pop(number)
    executable, made.executable = made.executable, None
    made.handle = handle
    _handed_out[id(executable)] = made
    executable.keep_alive(_End(handle, id(executable)))
    return executable


def _texts_of(constants: Sequence[Any]) -> Any:
    """Where they are, as long as they live."""
    import numpy  # which JAX needs too
    given = (_Text * len(constants))()
    for text, data in zip(given, constants):
        text.data = ctypes.cast(numpy.frombuffer(data, numpy.uint8).ctypes.data, c_char_p)
        text.size = data.nbytes
    return given


def _compile_through_engine(asked: Any, program: bytes, options: bytes, beside: Sequence[Any]) -> Any:
    return _through_engine(asked, _functions.compile, program, options,
                           _texts_of(beside) if beside else None, len(beside))


def _through_engine(asked: Any, ask: Any, data: bytes, options: bytes, *beside: Any) -> Any:
    """What the door's `ask` gives for these bytes, with the constants beside them."""
    handle, number = c_uint64(), c_uint64()
    out = _functions.make_buffer()
    before, _thread.asked = getattr(_thread, "asked", None), asked
    try:
        failed = ask(_Text(data, len(data)), _Text(options, len(options)), *beside, ctypes.byref(handle),
                     ctypes.byref(number), out)
        if asked.error is not None:
            if not failed:
                _hand_out(handle.value, number.value)  # and let go
            return None
        if failed and _door is None:
            raise RuntimeError("the process ends")
        if failed:
            from jax._src.lib import xla_client
            asked.error = xla_client.XlaRuntimeError(_text_of(out).decode(errors="replace"))
            return None
        return _hand_out(handle.value, number.value)
    finally:
        _thread.asked = before
        _functions.free_buffer(out)


jitted.unseen(_known)
jitted.unseen(_compile)
jitted.unseen(_through_engine)
jitted.unseen(_compile_through_engine)


def _stand_behind(compiler: Any) -> None:
    original = compiler.backend_compile_and_load

    def backend_compile_and_load(backend, module, executable_devices, options, host_callbacks):
        asked = _Asked(original, backend, module, executable_devices, options, host_callbacks)
        if backend is not _client or _door is None:
            return original(backend, module, executable_devices, options, host_callbacks)
        try:
            program, beside = _program_of(asked)
            executable = _compile_through_engine(asked, program, options.SerializeAsString(), beside)
        except Exception as error:
            _give_up("a program could not be given to Keel", error)
            return _known(original, backend, module, executable_devices, options, host_callbacks)
        if asked.error is not None:
            raise asked.error
        return executable

    backend_compile_and_load.__wrapped__ = original
    compiler.backend_compile_and_load = jitted.unseen(backend_compile_and_load)


def _module_of(computation: Any) -> Any:
    from jaxlib.mlir import ir
    if isinstance(computation, ir.Module):
        return computation
    from jax._src.interpreters import mlir
    return ir.Module.parse(computation, mlir.make_ir_context())


def _see_compiles(kinds: Any) -> None:
    """What the client compiles without the function above: whoever has it can ask it himself."""
    original = kinds.Client.compile_and_load

    def compile_and_load(self, computation, executable_devices, *rest, **named):
        if self is not _client or _door is None or getattr(_thread, "is_known", False):
            return original(self, computation, executable_devices, *rest, **named)
        try:
            from jax._src.lib import xla_client
            options = rest[0] if rest else named.get("compile_options") or xla_client.CompileOptions()
            asked = _Asked(lambda *_: original(self, computation, executable_devices, *rest, **named), self,
                           _module_of(computation), executable_devices, options, [])
            program, beside = _program_of(asked)
            executable = _compile_through_engine(asked, program, options.SerializeAsString(), beside)
        except Exception as error:
            _give_up("a program could not be given to Keel", error)
            return original(self, computation, executable_devices, *rest, **named)
        if asked.error is not None:
            raise asked.error
        return executable

    kinds.Client.compile_and_load = jitted.unseen(compile_and_load)


def _stored_bytes(executable: Any) -> Optional[bytes]:
    """Those that it was loaded from, which it does not serialize to itself."""
    made = _handed_out.get(id(executable))
    if made is None or _door is None:
        return None
    out = _functions.make_buffer()
    try:
        if not _functions.stored(made.handle, out):
            return None
        size = c_size_t()
        at = _functions.read_buffer(out, ctypes.byref(size))
        # Its head has the options that it was stored with, which need not be this run's.
        _, _, head_size = _read_head(at, size.value)
        return ctypes.string_at(at + head_size, size.value - head_size)
    finally:
        _functions.free_buffer(out)


def _tell(executable: Any, data: bytes) -> bytes:
    made = _handed_out.get(id(executable))
    if made is not None and _door is not None:
        _functions.serialized(made.handle, _Text(data, len(data)))
    return data


def _see_loads(kinds: Any) -> None:
    """What JAX's own cache, or a pickle, loads."""
    global _deserialize_own
    original = _deserialize_own = kinds.Client.deserialize_executable

    def deserialize_executable(self, serialized, *rest, **named):
        if self is not _client or _door is None:
            return original(self, serialized, *rest, **named)
        given = dict(zip(("executable_devices", "options"), rest)) | named
        devices = given.get("executable_devices") or self.local_devices()
        try:
            asked = _Loads(lambda: original(self, serialized, *rest, **named), bytes(serialized), devices,
                           given.get("options"))
            executable = _through_engine(asked, _functions.load, asked.data, asked.options)
        except Exception as error:
            _give_up("a load could not be given to Keel", error)
            return original(self, serialized, *rest, **named)
        if asked.error is not None:
            raise asked.error
        return executable

    kinds.Client.deserialize_executable = jitted.unseen(deserialize_executable)


def _serialize_stored(kinds: Any) -> None:
    """A loaded executable serializes to bytes that load and then fail, so its stored ones are given."""
    global _serialize
    of_executable, of_client = kinds.LoadedExecutable.serialize, kinds.Client.serialize_executable
    _serialize = of_executable

    def serialize(self):
        stored = _stored_bytes(self)
        return _tell(self, of_executable(self) if stored is None else stored)

    def serialize_executable(self, executable):
        stored = _stored_bytes(executable)
        return _tell(executable, of_client(self, executable) if stored is None else stored)

    kinds.LoadedExecutable.serialize, kinds.Client.serialize_executable = serialize, serialize_executable


# ---- begin and end -------------------------------------------------------------------------------

def _compiler_file() -> str:
    import jaxlib
    folder = os.path.dirname(jaxlib.__file__)
    for name in COMPILERS:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"{folder} has none of {', '.join(COMPILERS)}")


def _facts(client: Any) -> _Facts:
    import jaxlib
    devices = client.devices()
    local = {device.id for device in client.local_devices()}
    listed = (_Device * len(devices))(*(
        _Device(device.device_kind.encode(), device.id, device.process_index, device.id in local)
        for device in devices))
    version = f"jaxlib {jaxlib.__version__}, {client.platform_version}"
    return _Facts(os.fsencode(_compiler_file()), client.platform.encode(), version.encode(), listed,
                  len(devices), client.process_index())


def _end() -> None:
    global _door
    door, _door = _door, None
    if door is not None:
        door.end()


def _after_fork() -> None:
    """A child has none of the client's threads, and ending the client would wait for them."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_client))


def _open() -> _Door:
    path = library_path()
    get = getattr(ctypes.CDLL(path), "keel_own_door", None)
    if get is not None:
        get.restype = POINTER(_Door)
        door = get().contents
        sizes = ctypes.sizeof(_Door), ctypes.sizeof(_Calls)
        if (door.size, door.calls_size) == sizes and door.version.decode() == version:
            return door
    raise RuntimeError(f"{path} and the Python files in {os.path.dirname(__file__)}, which are of Keel "
                       f"{version}, are not of one build: install both from the same")


def is_behind(client: Any) -> bool:
    return _door is not None and client is _client


def prepare() -> bool:
    """Before JAX is imported."""
    jitted.prepare(_open())
    return True


def begin(client: Any) -> bool:
    """Whether Keel is behind this client, in the place of an earlier one. Raises what the settings
    refuse."""
    global _door, _functions, _client, _calls
    door, is_first = _open(), _calls is None
    if is_first:
        _calls = _Calls(*(kind(function) for (_, kind), function in zip(
            _Calls._fields_, (_compile, _load, _serialize_made, _memory, _program, _drop, _whole))))
    facts, out = _facts(client), door.make_buffer()
    _door, _functions, _client = door, door, client
    began = 0
    try:
        began = door.begin(ctypes.byref(facts), ctypes.byref(_calls), out)
        if began < 0:
            raise RuntimeError(_text_of(out).decode(errors="replace"))
    finally:
        door.free_buffer(out)
        if began <= 0:
            _door = None
    if began and is_first:
        _follow(door)
    return bool(began)


def _follow(door: _Door) -> None:
    from jax._src import compiler
    from jaxlib import xla_client
    kinds = getattr(xla_client, "_xla", xla_client)  # the module that has the classes
    _serialize_stored(kinds)
    _see_loads(kinds)
    _see_compiles(kinds)
    _stand_behind(compiler)
    jitted.begin(door, _handed_out)
    atexit.register(_end)
    os.register_at_fork(after_in_child=_after_fork)
