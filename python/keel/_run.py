"""The part of `keel run` in a Python that imports JAX, torch_xla or torch_tpu; site/sitecustomize.py calls it."""

import logging
import os

from . import (bytecode, collector, devices, disabled_jit, doors, endings, fixes, graphs, handlers, kernels, loops,
               outlines, own_cache, preparing, rehearsal, service)
from ._imports import when_imported


def _register(plugins) -> None:
    from . import torch_plugin
    plugins.register_plugin("LIBRARY", torch_plugin.LibraryPlugin())


def begin_jax() -> None:
    """JAX warns that an unknown platform is experimental. Keel's is the user's own plugin, and the
    user asked for it."""
    def is_other(record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith("Platform 'keel' is experimental")
    logging.getLogger("jax._src.xla_bridge").addFilter(is_other)
    collector.begin()
    kernels.begin()
    handlers.begin()
    devices.begin()
    outlines.begin()
    service.begin()
    preparing.begin()
    rehearsal.begin_jax()
    loops.begin()
    endings.begin()
    own_cache.begin()
    bytecode.begin()
    disabled_jit.begin()
    doors.begin_jax()


def begin_torch() -> None:
    rehearsal.begin_torch()
    loops.begin()
    endings.begin()
    doors.begin_torch()
    if os.environ.get("PJRT_DEVICE") == "LIBRARY":
        when_imported("torch_xla.experimental.plugins", _register)
    fixes.apply_from_environment()


def begin_torch_tpu() -> None:
    loops.begin()
    graphs.begin()
    rehearsal.begin_torch_tpu(doors.begin_torch_tpu())
