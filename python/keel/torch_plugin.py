"""PyTorch/XLA's device KEEL, named by the entry point in torch_xla.plugins.

torch_xla makes an instance whenever it is imported, so this searches for nothing until the
device is used (PJRT_DEVICE=KEEL).
"""

import os

from torch_xla.experimental import plugins

from . import fixes, rehearsal
from ._library import ask_devices, library_path


class KeelPlugin(plugins.DevicePlugin):
    """All devices of the machine are in one process, with a thread each."""

    def library_path(self) -> str:
        return library_path()

    def client_create_options(self) -> dict:
        """Called for each client. The variable is that of torch_xla's own CPU client."""
        try:
            ask_devices(int(os.environ.get("CPU_NUM_DEVICES", -1)))
        except ValueError:
            pass
        return {}

    def configure_single_process(self):
        pass

    def physical_chip_count(self) -> int:
        return 1


class LibraryPlugin(KeelPlugin):
    """The device LIBRARY: torch_xla knows only its path, but torch_xla.launch needs a plugin."""

    def library_path(self) -> str:
        rehearsal.check_torch()
        return os.environ.get("PJRT_LIBRARY_PATH") or super().library_path()


fixes.apply_from_environment()
