"""Says once that jit is disabled: each operation is then a program of its own. It may be disabled at
any time, by JAX_DISABLE_JIT or jax.config, so it is looked at when JAX compiles, in a function that JAX
asks then. JAX enables jit for the thread that compiles, so only the value for all threads counts, and
`with jax.disable_jit():` is not noticed."""

import sys
from typing import Any

from ._imports import when_imported

SAID = ("jit is disabled (jax_disable_jit), so each operation is a program of its own: counts of programs, "
        "recompiles and steps mean little")

_is_said = False


def _look(config: Any) -> None:
    global _is_said
    if _is_said or not config.disable_jit.get_global():
        return
    _is_said = True
    sys.stderr.write(f"keel: {SAID}\n")


def _watch(compilation_cache: Any) -> None:
    is_used = getattr(compilation_cache, "is_cache_used", None)
    config = getattr(compilation_cache, "config", None)
    if is_used is None or not hasattr(getattr(config, "disable_jit", None), "get_global"):
        return  # a JAX with other parts

    def is_cache_used(backend, *rest, **named):
        _look(config)
        return is_used(backend, *rest, **named)

    is_cache_used.__wrapped__ = is_used
    compilation_cache.is_cache_used = is_cache_used


def begin() -> None:
    """Before JAX compiles."""
    when_imported("jax._src.compilation_cache", _watch)
