"""JAX's own persistent cache is off where Keel's does its work: two caches hold everything twice, and
what JAX's own loads is known to Keel by what Keel handed out only. However a script switches it on,
JAX asks one function whether it is used."""

import sys
from typing import Any

from . import doors, own_client
from ._imports import when_imported
from ._library import replaces_cache

SETTING = "KEEL_CLIENT_CACHE=keep"
REHEARSAL = 2  # of keel_replaces_cache

_is_said = False


def _is_behind_keel(backend: Any) -> bool:
    if own_client.is_behind(backend):
        return True
    is_plugins = getattr(backend, "is_c_api", None)
    if is_plugins is None:  # an older jaxlib
        is_plugins = backend.platform_version.startswith("PJRT C API")
    return is_plugins and not doors.runs_without(backend)


def _say(config: Any, why: int) -> None:
    global _is_said
    folder = config.compilation_cache_dir.value
    if _is_said or not folder or not config.enable_compilation_cache.value:
        return
    _is_said = True
    reason = ("in a rehearsal, so that nothing of it reaches a real run" if why == REHEARSAL
              else f"because Keel's does its work; {SETTING} keeps it")
    sys.stderr.write(f"keel: JAX's own cache ({folder}) is off, {reason}\n")


def _replace(compilation_cache: Any) -> None:
    is_used = getattr(compilation_cache, "is_cache_used", None)
    config = getattr(compilation_cache, "config", None)
    if is_used is None or config is None:
        return

    def is_cache_used(backend, *rest, **named):
        try:
            why = replaces_cache() if _is_behind_keel(backend) else 0
            if why:
                _say(config, why)
                return False
        except Exception as error:  # of a JAX that has other parts: its cache stays
            sys.stderr.write(f"keel: {type(error).__name__}: {error}; JAX's own cache stays\n")
            compilation_cache.is_cache_used = is_used
        return is_used(backend, *rest, **named)

    is_cache_used.__wrapped__ = is_used
    compilation_cache.is_cache_used = is_cache_used


def begin() -> None:
    """Before JAX compiles."""
    when_imported("jax._src.compilation_cache", _replace)
