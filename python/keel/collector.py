"""While a program imports (python_gc = imports), or starts (start), Python's garbage collector looks at old objects a
tenth as often.

What imports and traces make mostly stays, and a full collection looks through all of it: a
sixth of a warm start of MaxText, less of others. Young objects, which most garbage is, are collected as always.
Who has set the collector keeps what was set. Imports end when JAX has made its first client, before which no garbage
can hold an array on a device.
"""

import gc
import os
import sys
import time
from typing import Any, Callable, Dict, Optional, Tuple

from ._compiles import when_compiled

SETTING = "KEEL_PYTHON_GC"
IMPORTS, START = "imports", "start"
DEFAULTS = ((700, 10, 10), (2000, 10, 10))  # of Python before 3.14, which has no full collections
OLD = 100  # collections of middle objects before one of old ones
PATIENCE = 60.0  # seconds without a compile after which a start is over
LONGEST = 600.0

_before: Optional[Tuple[int, int, int]] = None  # while a program starts
_ours: Optional[Tuple[int, int, int]] = None
_until = _last = 0.0


def _end() -> None:
    global _before
    before, _before = _before, None
    if before is not None and gc.get_threshold() == _ours:
        gc.set_threshold(*before)


def _imports_are_over() -> bool:
    """Only looks: what would stand in front of the client's making would be in its tracebacks."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bool(getattr(bridge, "_backends", bridge is not None)) or time.monotonic() > _until


def _start_is_over() -> bool:
    return time.monotonic() > min(_until, _last)


_is_over: Callable[[], bool] = _start_is_over


def _look(phase: str, info: Dict[str, int]) -> None:
    """Stays with the collector: taken out while it calls, it would hide a call from the next one."""
    if _before is not None and info["generation"] and phase == "stop" and _is_over():
        _end()


def _ask(config: Any, backend: Any) -> None:
    global _until
    _until = time.monotonic() + PATIENCE


def begin() -> None:
    """Before JAX is imported."""
    global _before, _ours, _until, _last, _is_over
    now, wanted = gc.get_threshold(), os.environ.get(SETTING, IMPORTS)
    if wanted not in (IMPORTS, START) or os.environ.get("KEEL_MODE") == "off":
        return
    if not gc.isenabled() or now not in DEFAULTS or sys.version_info >= (3, 14):
        return
    _until, _last = time.monotonic() + PATIENCE, time.monotonic() + LONGEST
    _before, _ours = now, (now[0], now[1], OLD)
    gc.set_threshold(*_ours)
    gc.callbacks.append(_look)
    _is_over = _start_is_over if wanted == START else _imports_are_over
    if wanted == START:
        when_compiled(_ask)
