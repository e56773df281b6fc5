"""Runs a function whenever JAX compiles: before each compile, JAX asks one function whether its own
persistent cache is used."""

from typing import Any, Callable, Optional

from ._imports import when_imported

Ask = Callable[[Any, Any], Optional[bool]]


def when_compiled(ask: Ask) -> None:
    """Calls ask(config, backend) for each program that JAX compiles, with JAX's configuration. False
    keeps JAX's cache out of it, None leaves that to JAX. It should raise nothing."""
    def replace(compilation_cache: Any) -> None:
        is_used = getattr(compilation_cache, "is_cache_used", None)
        config = getattr(compilation_cache, "config", None)
        if is_used is None or config is None:
            return  # a JAX with other parts

        def is_cache_used(backend, *rest, **named):
            answer = ask(config, backend)
            return is_used(backend, *rest, **named) if answer is None else answer

        is_cache_used.__wrapped__ = is_used
        compilation_cache.is_cache_used = is_cache_used

    when_imported("jax._src.compilation_cache", replace)
