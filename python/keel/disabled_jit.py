"""Says once that jit is disabled: each operation is then a program of its own. It may be disabled at
any time, by JAX_DISABLE_JIT, jax.config or `with jax.disable_jit():`, so it is looked at when JAX
compiles. JAX enables jit for the thread that compiles; what a context manager set for that thread is
known from a hook."""

import sys
import threading
from typing import Any

from ._compiles import when_compiled
from ._imports import when_imported

SAID = ("jit is disabled (jax_disable_jit), so each operation is a program of its own: counts of programs, "
        "recompiles and steps mean little")

_is_said = False
_thread = threading.local()


def _look(config: Any, _: Any) -> None:
    global _is_said
    value = getattr(getattr(config, "disable_jit", None), "get_global", None)
    is_disabled = getattr(_thread, "is_disabled", False) or (value is not None and value())
    if _is_said or not is_disabled:
        return
    _is_said = True
    sys.stderr.write(f"keel: {SAID}\n")


def _watch_contexts(config: Any) -> None:
    """JAX calls the hook with what a context manager sets, and again with what it restores."""
    state = getattr(config, "disable_jit", None)
    before = getattr(state, "_update_thread_local_hook", ...)
    if before is ...:
        return  # a JAX with other parts

    def hook(value):
        _thread.is_disabled = value is True
        if before is not None:
            before(value)

    state._update_thread_local_hook = hook


def begin() -> None:
    """Before JAX compiles."""
    when_imported("jax._src.config", _watch_contexts)
    when_compiled(_look)
