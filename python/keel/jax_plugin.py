"""JAX's platform `keel`, named by the entry point in jax_plugins.

JAX calls initialize() for every installed plugin when it first needs a device. Once registered,
Keel would get a client beside JAX's own and take its devices, so it registers only if asked for:
JAX_PLATFORMS=keel, or keel,cpu for jax.devices("cpu") too.
"""

import os
import sys

from . import doors, fixes
from ._library import library_path
from ._run import begin_jax

NAME = "keel"


def _is_asked_for() -> bool:
    import jax
    return NAME in (jax.config.jax_platforms or "").split(",")


def _is_registered() -> bool:
    """By `keel run`, or before JAX reads this list."""
    listed = os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS", "")
    return doors.serves() or any(part.split(os.pathsep)[0] == NAME for part in listed.split(","))


def initialize() -> None:
    fixes.apply_from_environment()
    if _is_registered() or not _is_asked_for():
        return
    try:
        path = library_path()
    except FileNotFoundError as error:
        sys.stderr.write(f"keel: {error}; JAX has no platform {NAME}\n")
        return
    begin_jax()
    from jax._src import xla_bridge
    xla_bridge.register_plugin(NAME, library_path=path)
