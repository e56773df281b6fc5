"""PyTorch/XLA's device KEEL: what the entry point of torch_xla.plugins names.

torch_xla makes an instance of it whenever it is imported, so nothing is looked for before the
device is asked for (PJRT_DEVICE=KEEL).
"""

import os

from torch_xla.experimental import plugins

from . import fixes
from ._library import library_path


class KeelPlugin(plugins.DevicePlugin):
    """All devices of the machine are in one process, a thread each."""

    def library_path(self) -> str:
        return library_path()

    def configure_single_process(self):
        pass

    def physical_chip_count(self) -> int:
        return 1


class LibraryPlugin(KeelPlugin):
    """The device LIBRARY: torch_xla knows it by path alone, and torch_xla.launch wants a plugin."""

    def library_path(self) -> str:
        return os.environ.get("PJRT_LIBRARY_PATH") or super().library_path()


fixes.apply_from_environment()
