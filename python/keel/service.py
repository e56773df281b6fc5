"""JAX's key-value service, through which the processes of a run meet.

XLA's client leaves the fields of its callbacks as they are if it has no service, so Keel needs to
know whether it has one. The options of a GPU's client show it; those of a TPU's do not.
"""

import functools
import os

from ._imports import when_imported

SERVICE = "KEEL_CLIENT_SERVICE"  # set while a client that has a service is made


def _tell(xla_bridge) -> None:
    make = getattr(xla_bridge, "make_tpu_client", None)
    if make is None:
        return

    @functools.wraps(make)
    def make_and_tell(*arguments, **named):
        from jax._src import distributed
        if distributed.global_state.client is None:
            return make(*arguments, **named)
        os.environ[SERVICE] = "1"
        try:
            return make(*arguments, **named)
        finally:
            os.environ.pop(SERVICE, None)

    xla_bridge.make_tpu_client = make_and_tell


def begin() -> None:
    """Before JAX reads its environment."""
    when_imported("jax._src.xla_bridge", _tell)
