"""PyTorch/XLA's device KEEL: what the entry point of torch_xla.plugins names.

torch_xla makes an instance of it whenever it is imported, so nothing is looked for before the
device is asked for (PJRT_DEVICE=KEEL).
"""

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


def register(module, name: str) -> None:
    """Makes the device known by `name`; `module` is torch_xla.experimental.plugins."""
    module.register_plugin(name, KeelPlugin())


fixes.apply_from_environment()
