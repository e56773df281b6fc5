"""Says once that jit is disabled: each operation is then a program of its own. It may be disabled at
any time, by JAX_DISABLE_JIT or jax.config, so it is looked at when JAX compiles. JAX enables jit for the
thread that compiles, so only the value for all threads counts, and `with jax.disable_jit():` is not
noticed."""

import sys
from typing import Any

from ._compiles import when_compiled

SAID = ("jit is disabled (jax_disable_jit), so each operation is a program of its own: counts of programs, "
        "recompiles and steps mean little")

_is_said = False


def _look(config: Any, _: Any) -> None:
    global _is_said
    value = getattr(getattr(config, "disable_jit", None), "get_global", None)
    if _is_said or value is None or not value():
        return
    _is_said = True
    sys.stderr.write(f"keel: {SAID}\n")


def begin() -> None:
    """Before JAX compiles."""
    when_compiled(_look)
