"""What `keel run` does in a Python that imports torch_xla; site/sitecustomize.py calls it."""

import os

from . import fixes
from ._imports import when_imported


def _register(plugins) -> None:
    from . import torch_plugin
    plugins.register_plugin("LIBRARY", torch_plugin.LibraryPlugin())


def begin() -> None:
    if os.environ.get("PJRT_DEVICE") == "LIBRARY":
        when_imported("torch_xla.experimental.plugins", _register)
    fixes.apply_from_environment()
