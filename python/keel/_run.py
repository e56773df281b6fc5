"""What `keel run` does in a Python that imports torch_xla; site/sitecustomize.py calls it."""

import os

from . import fixes
from ._imports import when_imported


def _register(plugins) -> None:
    from . import torch_plugin
    torch_plugin.register(plugins, "LIBRARY")


def begin() -> None:
    # `keel run` asks for the device LIBRARY, which torch_xla knows by path alone: torch_xla.launch
    # wants a registered plugin.
    if os.environ.get("PJRT_DEVICE") == "LIBRARY":
        when_imported("torch_xla.experimental.plugins", _register)
    fixes.apply_from_environment()
