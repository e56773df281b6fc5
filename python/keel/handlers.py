"""Reports the functions that a client registers for programs to call by name, on any platform, to
Keel's library: processes that compile without the client, in a rehearsal or from what a run recorded,
register them too (src/compiler/handlers.h). Without them, a program that calls cuSOLVER or Python does
not compile there.
"""

import ctypes
from typing import Any, List, Tuple

from . import callbacks
from ._imports import when_imported
from ._library import add_handler, add_type

STAGES = ("instantiate", "prepare", "initialize", "execute")
DELETER = 16  # offset in XLA_FFI_TypeInfo: its size, its extensions, then functions

_get_name = ctypes.pythonapi.PyCapsule_GetName
_get_name.restype, _get_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def _address(capsule: Any) -> int:
    return _get_pointer(capsule, _get_name(capsule)) if capsule is not None else 0


def _report(name: Any, function: Any, platform: str, api_version: int, traits: Any = 0) -> None:
    stages = function if isinstance(function, dict) else {"execute": function}
    try:
        name = name if isinstance(name, bytes) else name.encode()
        add_handler(name, platform.encode(), api_version, int(traits),
                    [_address(stages.get(stage)) for stage in STAGES])
    except (AttributeError, TypeError, ValueError):  # JAX says what is wrong with it
        return


def _type_functions(info: int) -> List[int]:
    """The deleter and what follows it, as far as the struct reaches."""
    size = ctypes.c_size_t.from_address(info).value if info else 0
    count = min(max(size - DELETER, 0) // ctypes.sizeof(ctypes.c_void_p), 3)
    found = [ctypes.c_void_p.from_address(info + DELETER + 8 * i).value or 0 for i in range(count)]
    return found + [0] * (3 - count)


def _report_type(name: str, description: Any, platform: str) -> None:
    parts = description if isinstance(description, dict) else {"type_id": description}
    try:
        add_type(name.encode(), platform.encode(), _address(parts["type_id"]),
                 _type_functions(_address(parts.get("type_info"))))
    except (AttributeError, KeyError, TypeError, ValueError):
        return


def _follow(xla_client: Any, name: str, report: Any, defaults: Tuple) -> None:
    register = getattr(xla_client, name, None)
    if register is None:
        return

    def both(first, second, platform="cpu", *rest, **named):
        register(first, second, platform, *rest, **named)
        platform = getattr(xla_client, "xla_platform_names", {}).get(platform, platform)
        given = list(rest) + list(defaults[len(rest):])
        for i, (word, _) in enumerate((("api_version", 0), ("traits", 0))[:len(defaults)]):
            given[i] = named.get(word, given[i])
        report(first, second, platform, *given)

    both.__wrapped__ = register
    setattr(xla_client, name, both)


def _begin(xla_client: Any) -> None:
    _follow(xla_client, "register_custom_call_target", _report, (0, 0))
    _follow(xla_client, "register_custom_type", _report_type, ())
    # jaxlib has those for host callbacks in its own runtime before Python runs.
    for name, stages in getattr(xla_client, "custom_call_targets", lambda _: {})("Host").items():
        if name in callbacks.NAMES:
            _report(name, stages, "Host", 1)
    # Those that were registered before, and wait for their platform's plugin.
    for platform, waiting in getattr(xla_client, "_custom_callback", {}).items():
        for name, function, *rest in waiting:
            _report(name, function, platform, *rest)
    for platform, waiting in getattr(xla_client, "_custom_type_id", {}).items():
        for name, description in waiting:
            _report_type(name, description, platform)


def begin() -> None:
    when_imported("jaxlib.xla_client", _begin)
