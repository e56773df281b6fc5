"""The kernel behind JAX's host callbacks (jax.debug.print, pure_callback, io_callback) on a plugin.

jaxlib's own kernel needs a state that XLA makes when it loads a program, and PJRT registers kernels
without one. So this kernel takes its place: it calls the same Python function with the same arrays.
The functions of a program are passed at each execution, as XLA's user data, under a type's number
that only jaxlib's kernel knows; it is called once to learn that number.

Structs: xla/ffi/api/c_api.h, and FfiLoadedHostCallbacks of xla/python/ifrt.
"""

import ctypes
import math
import threading
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, List, Optional, Tuple

NAMES = ("xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback")

METADATA = 1  # the extension that asks for a kernel's version
INTERNAL, UNIMPLEMENTED = 13, 12
TOKEN = 17
TYPES = {  # by XLA_FFI_DataType; those without a name in NumPy are ml_dtypes'
    1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32",
    9: "uint64", 10: "float16", 11: "float32", 12: "float64", 15: "complex64", 16: "bfloat16",
    18: "complex128", 21: "int4", 22: "uint4", 26: "int2", 27: "uint2", 32: "float4_e2m1fn", 19: "float8_e5m2", 20: "float8_e4m3fn", 23: "float8_e4m3b11fnuz",
    24: "float8_e5m2fnuz", 25: "float8_e4m3fnuz", 28: "float8_e4m3", 29: "float8_e3m4",
    33: "float8_e8m0fnu",
}
PACKED = {21: 4, 22: 4, 26: 2, 27: 2, 32: 4}  # bits of an element; NumPy's have a byte each


class _Extension(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("type", c_int), ("next", c_void_p)]


class _Version(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extensions", c_void_p), ("major", c_int), ("minor", c_int)]


class _Metadata(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("version", _Version)]


class _MetadataRequest(ctypes.Structure):
    _fields_ = [("head", _Extension), ("metadata", POINTER(_Metadata))]


class _Buffer(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extensions", c_void_p), ("dtype", c_int), ("data", c_void_p),
                ("rank", c_int64), ("dims", POINTER(c_int64))]


class _Buffers(ctypes.Structure):  # arguments, or results
    _fields_ = [("size", c_size_t), ("extensions", c_void_p), ("count", c_int64),
                ("types", c_void_p), ("items", POINTER(POINTER(_Buffer)))]


class _Span(ctypes.Structure):
    _fields_ = [("data", POINTER(ctypes.c_char)), ("size", c_size_t)]


class _Scalar(ctypes.Structure):
    _fields_ = [("dtype", c_int), ("value", POINTER(c_uint64))]


class _Attributes(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extensions", c_void_p), ("count", c_int64),
                ("types", c_void_p), ("names", POINTER(POINTER(_Span))),
                ("items", POINTER(POINTER(_Scalar)))]


class _ErrorArgs(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extensions", c_void_p), ("message", c_char_p), ("code", c_int)]


class _DestroyArgs(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extensions", c_void_p), ("error", c_void_p)]


class _UserDataArgs(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extensions", c_void_p), ("context", c_void_p),
                ("type", POINTER(c_int64)), ("data", c_void_p)]


_Create = ctypes.CFUNCTYPE(c_void_p, POINTER(_ErrorArgs))
_Destroy = ctypes.CFUNCTYPE(None, POINTER(_DestroyArgs))
_GetUserData = ctypes.CFUNCTYPE(c_void_p, POINTER(_UserDataArgs))
_GetState = ctypes.CFUNCTYPE(c_void_p, c_void_p)


class _Ffi(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extensions", c_void_p), ("version", _Version),
                ("internal", c_void_p), ("create_error", c_void_p), ("error_message", c_void_p),
                ("destroy_error", c_void_p), ("register_handler", c_void_p), ("stream", c_void_p),
                ("register_type", c_void_p), ("get_user_data", c_void_p), ("set_state", c_void_p),
                ("get_state", c_void_p)]


class _Frame(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extensions", POINTER(_Extension)), ("ffi", POINTER(_Ffi)),
                ("context", c_void_p), ("stage", c_int), ("arguments", _Buffers),
                ("results", _Buffers), ("attributes", _Attributes)]


class _Functions(ctypes.Structure):
    _fields_ = [("items", POINTER(c_void_p)), ("count", c_uint32)]


Kernel = ctypes.CFUNCTYPE(c_void_p, POINTER(_Frame))


class _Failure(Exception):
    """What the kernel returns to XLA instead of a result."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


def _error(ffi: _Ffi, code: int, message: str) -> Optional[int]:
    text = message.encode(errors="replace").replace(b"\0", b"?")
    args = _ErrorArgs(ctypes.sizeof(_ErrorArgs), None, text, code)
    return _Create(ffi.create_error)(ctypes.byref(args))


def _destroy(ffi: _Ffi, error: int) -> None:
    args = _DestroyArgs(ctypes.sizeof(_DestroyArgs), None, error)
    _Destroy(ffi.destroy_error)(ctypes.byref(args))


def _user_data(frame: _Frame, type_number: int) -> int:
    args = _UserDataArgs(ctypes.sizeof(_UserDataArgs), None, frame.context,
                         ctypes.pointer(c_int64(type_number)), None)
    error = _GetUserData(frame.ffi.contents.get_user_data)(ctypes.byref(args))
    if error or not args.data:
        if error:
            _destroy(frame.ffi.contents, error)
        raise _Failure(INTERNAL, "the plugin does not pass on the program's host callbacks")
    return args.data


def _dtype(number: int) -> Any:
    import ml_dtypes
    import numpy
    name = TYPES.get(number)
    if name is None:
        raise _Failure(UNIMPLEMENTED, f"host callbacks with XLA's element type {number} do not work "
                                      "on a plugin behind Keel")
    return numpy.dtype(getattr(ml_dtypes, name, name))


def _bytes(buffer: _Buffer, size: int) -> Any:
    """The buffer's memory, as an array that does not own it."""
    import numpy
    if not size:
        return numpy.empty(0, numpy.uint8)
    return numpy.frombuffer((ctypes.c_char * size).from_address(buffer.data), numpy.uint8)


def _shape(buffer: _Buffer) -> Tuple[int, ...]:
    return tuple(buffer.dims[: buffer.rank])


def _unpacked(packed: Any, bits: int, count: int) -> Any:
    """A byte for each element. The first one is in the lowest bits."""
    import numpy
    shifts = numpy.arange(0, 8, bits, dtype=numpy.uint8)
    return ((packed[:, None] >> shifts) & ((1 << bits) - 1)).astype(numpy.uint8).reshape(-1)[:count]


def _packed(elements: Any, bits: int) -> Any:
    import numpy
    each = 8 // bits
    padded = numpy.zeros(-(-elements.size // each) * each, numpy.uint8)
    padded[: elements.size] = elements & ((1 << bits) - 1)
    shifts = numpy.arange(0, 8, bits, dtype=numpy.uint8)
    return numpy.bitwise_or.reduce(padded.reshape(-1, each) << shifts, axis=1)


def _argument(buffer: _Buffer) -> Any:
    """A copy, because the function may keep it and XLA reuses the buffer."""
    if buffer.dtype == TOKEN:
        return None
    dtype, shape, bits = _dtype(buffer.dtype), _shape(buffer), PACKED.get(buffer.dtype)
    count = math.prod(shape)
    if bits:
        array = _unpacked(_bytes(buffer, -(-count * bits // 8)), bits, count).view(dtype)
    else:
        array = _bytes(buffer, count * dtype.itemsize).copy().view(dtype)
    array = array.reshape(shape)
    array.flags.writeable = False
    return array


def _return(buffer: _Buffer, result: Any) -> None:
    import numpy
    if buffer.dtype == TOKEN:
        return
    dtype, bits = _dtype(buffer.dtype), PACKED.get(buffer.dtype)
    elements = numpy.ascontiguousarray(result, dtype).reshape(-1).view(numpy.uint8)
    if bits:
        elements = _packed(elements, bits)
    _bytes(buffer, elements.size)[:] = elements


def _items(buffers: _Buffers) -> List[_Buffer]:
    return [buffers.items[at].contents for at in range(buffers.count)]


def _index(attributes: _Attributes) -> int:
    for at in range(attributes.count):
        name = attributes.names[at].contents
        if name.data[: name.size] == b"index":
            return attributes.items[at].contents.value[0]
    raise _Failure(INTERNAL, "a host callback without its index")


def _function(frame: _Frame, type_number: int) -> Any:
    data = _user_data(frame, type_number)
    functions = ctypes.cast(data, POINTER(_Functions)).contents
    index = _index(frame.attributes)
    if index >= functions.count:
        raise _Failure(INTERNAL, f"host callback {index} of {functions.count}")
    return ctypes.cast(functions.items[index], ctypes.py_object).value


_thread = threading.local()


def is_within() -> bool:
    """Whether this thread runs a callback."""
    return getattr(_thread, "is_within", False)


def _run(frame: _Frame, type_number: int) -> None:
    function = _function(frame, type_number)
    arguments = [_argument(buffer) for buffer in _items(frame.arguments)]
    was_within, _thread.is_within = is_within(), True
    try:
        results = function(*arguments)
    except BaseException as error:
        raise _Failure(INTERNAL, "CpuCallback error calling callback: " + _told(error)) from None
    finally:
        _thread.is_within = was_within
    for buffer, result in zip(_items(frame.results), results):
        _return(buffer, result)


def _told(error: BaseException) -> str:
    """As jaxlib tells it: the frames down to where it was raised, without Keel's own."""
    lines, at = [], error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    frame = at.tb_frame if at is not None else None
    while frame is not None:
        code = frame.f_code
        if code.co_filename != __file__:
            lines.append(f'  File "{code.co_filename}", line {frame.f_lineno}, in {code.co_name}\n')
        frame = frame.f_back
    return "".join(["Traceback (most recent call last):\n", *reversed(lines),
                    f"{type(error).__name__}: {error}"])


class Callback:
    """The kernel that takes the place of jaxlib's, whose address `theirs` is."""

    def __init__(self, theirs: int):
        self._theirs = Kernel(theirs)
        self._type: Optional[int] = None
        self._is_theirs = False  # jaxlib's own kernel works: it needs no state
        self._kernel = Kernel(self._call)
        self.address = ctypes.cast(self._kernel, c_void_p).value

    def _ask(self, frame: Any) -> Optional[int]:
        """Calls jaxlib's kernel, and learns the number of the type. If it asks for a state, it has
        called nothing yet, and its error is not the program's."""
        real = ctypes.pointer(frame.contents.ffi.contents)  # a field's value changes with the field
        learned, asked = [], []

        def get_user_data(args):
            learned.append(args.contents.type[0])
            return _GetUserData(real.contents.get_user_data)(args)

        def get_state(args):
            asked.append(True)
            return _error(real.contents, INTERNAL, "no state")

        room = ctypes.create_string_buffer(max(real.contents.size, ctypes.sizeof(_Ffi)))
        ctypes.memmove(room, real, real.contents.size)
        ffi = _Ffi.from_buffer(room)
        kept = _GetUserData(get_user_data), _GetState(get_state)
        ffi.get_user_data, ffi.get_state = (ctypes.cast(each, c_void_p).value for each in kept)
        frame.contents.ffi = ctypes.pointer(ffi)
        try:
            error = self._theirs(frame)
        finally:
            frame.contents.ffi = real
        if asked and learned:
            _destroy(real.contents, error)
            self._type = learned[0]
            return None
        self._is_theirs = True
        return error

    def _execute(self, frame: Any) -> Optional[int]:
        if self._is_theirs:
            return self._theirs(frame)
        if self._type is None:
            error = self._ask(frame)
            if self._is_theirs:
                return error
        _run(frame.contents, self._type)
        return None

    def _call(self, frame: Any) -> Optional[int]:
        ffi = frame.contents.ffi.contents
        asked = frame.contents.extensions
        if asked and asked.contents.type == METADATA:
            request = ctypes.cast(asked, POINTER(_MetadataRequest)).contents
            version = request.metadata.contents.version
            version.major, version.minor = ffi.version.major, ffi.version.minor
            return None
        try:
            return self._execute(frame)
        except _Failure as failure:
            return _error(ffi, failure.code, str(failure))
        except BaseException as error:
            return _error(ffi, INTERNAL, f"host callback: {type(error).__name__}: {error}")
