"""JAX's own persistent cache is off where Keel's does its work: two caches hold everything twice, and
what JAX's own loads is known to Keel by what Keel handed out only. It is off however a script switches
it on."""

import sys
from typing import Any, Optional

from . import doors, own_client
from ._compiles import when_compiled
from ._library import replaces_cache

SETTING = "KEEL_CLIENT_CACHE=keep"
REHEARSAL = 2  # of keel_replaces_cache

_is_said = False
_is_lost = False  # then JAX's cache stays


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


def _ask(config: Any, backend: Any) -> Optional[bool]:
    global _is_lost
    try:
        why = replaces_cache() if not _is_lost and _is_behind_keel(backend) else 0
        if why:
            _say(config, why)
            return False
    except Exception as error:  # of a JAX that has other parts
        _is_lost = True
        sys.stderr.write(f"keel: {type(error).__name__}: {error}; JAX's own cache stays\n")
    return None


def begin() -> None:
    """Before JAX compiles."""
    when_compiled(_ask)
