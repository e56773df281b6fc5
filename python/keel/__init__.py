"""Keel for Python: marks steps, tells where the library is, and mends known faults of clients.

    import keel
    keel.step()                     # the end of a training step; nothing without Keel
    keel.library_path()             # libkeel_pjrt.so
    keel.fixes.apply(["sharding-retrace"])

Nothing here loads JAX or PyTorch/XLA, or starts Keel: `keel run`, JAX_PLATFORMS=keel or
PJRT_DEVICE=KEEL do.
"""

from . import fixes
from ._library import library_path, step
from ._version import version

__version__ = version

__all__ = ["fixes", "library_path", "step", "version"]
