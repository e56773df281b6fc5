"""How long JAX traces and lowers what it then asks for, from its own events: `keel why --first` has a table."""

import threading
import time
from typing import Any, List, Tuple

from ._imports import when_imported
from ._library import prepared

EVENTS = {"/jax/core/compile/jaxpr_trace_duration": 0, "/jax/core/compile/jaxpr_to_mlir_module_duration": 1}
KEPT = 256  # events that one around them may contain

_thread = threading.local()


def _note(event: str, seconds: float, **more: Any) -> None:
    """One event ends after those within it: what they took is theirs."""
    what = EVENTS.get(event)
    if what is None:
        return
    began = time.monotonic() - seconds
    ended: List[Tuple[float, float]] = getattr(_thread, "ended", [])
    own = seconds
    while ended and ended[-1][0] >= began:
        own -= ended.pop()[1]
    ended.append((began, seconds))
    if len(ended) > KEPT:  # the two oldest become one
        ended[:2] = [(ended[0][0], ended[0][1] + ended[1][1])]
    _thread.ended = ended
    prepared(what, own)


def _listen(monitoring: Any) -> None:
    register = getattr(monitoring, "register_event_duration_secs_listener", None)
    if register is not None:
        register(_note)


def begin() -> None:
    when_imported("jax._src.monitoring", _listen)
