"""Passes jaxlib's kernels for CPU, such as LAPACK, on to the plugin. JAX registers them with jaxlib's
own runtime, and the plugin is another one.

A kernel is a function of XLA's FFI that a program calls by name. libkeel_pjrt.so registers it as soon
as the plugin has a client that runs on CPU.
"""

import ctypes
from typing import Any

from . import callbacks
from ._imports import when_imported
from ._library import add_kernel

TYPED_FFI = 1  # the only version of custom calls that a plugin can be given
CPU = ("cpu", "Host")

_kept = []  # what the functions that the plugin calls belong to
_get_name = ctypes.pythonapi.PyCapsule_GetName
_get_name.restype, _get_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def _address(function: Any) -> int:
    return _get_pointer(function, _get_name(function))


def _pass_on(name: Any, function: Any, platform: str = "cpu", api_version: int = 0) -> None:
    if platform not in CPU or api_version != TYPED_FFI:
        return
    if isinstance(function, dict):  # by stage; a plugin takes kernels of one stage only
        if set(function) != {"execute"}:
            return
        function = function["execute"]
    try:
        name = name if isinstance(name, bytes) else name.encode()
        address = _address(function)
    except (AttributeError, TypeError, ValueError):  # JAX says what is wrong with it
        return
    _kept.append(function)
    add_kernel(name, address)


def _pass_callbacks_on(xla_client) -> None:
    """jaxlib registers these with its runtime before Python runs."""
    targets = getattr(xla_client, "custom_call_targets", lambda platform: {})("Host")
    for name, stages in targets.items():
        function = stages.get("execute") if isinstance(stages, dict) else None
        if function is None:
            continue
        if name in callbacks.NAMES:
            callback = callbacks.Callback(_address(function))
            _kept.append(callback)
            add_kernel(name.encode(), callback.address)


def _listen(xla_client) -> None:
    """Kernels that wait for jaxlib's own CPU client, and all later ones."""
    register = getattr(xla_client, "register_custom_call_target", None)
    if register is None:
        return

    def both(name, fn, platform="cpu", api_version=0, *rest, **named):
        register(name, fn, platform, api_version, *rest, **named)
        _pass_on(name, fn, platform, api_version)

    both.__wrapped__ = register
    xla_client.register_custom_call_target = both
    for platform in CPU:
        for name, fn, api_version, *_ in getattr(xla_client, "_custom_callback", {}).get(platform, ()):
            _pass_on(name, fn, platform, api_version)


def _begin(xla_client) -> None:
    _listen(xla_client)
    _pass_callbacks_on(xla_client)


def begin() -> None:
    when_imported("jaxlib.xla_client", _begin)
