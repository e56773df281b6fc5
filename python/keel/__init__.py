"""Keel for Python: marks steps, finds Keel's library, and works around known bugs of clients.

    import keel
    keel.step()                     # the end of a training step; does nothing without Keel
    keel.freeze()                   # from now on, a new program is an error
    with keel.allowed(): ...        # except in here
    with keel.contract(path): ...   # a program that it does not list is an error
    keel.library_path()             # libkeel_pjrt.so
    keel.fixes.apply(["sharding-retrace"])

This package does not load JAX or PyTorch/XLA, nor start Keel: `keel run`, JAX_PLATFORMS=keel or
PJRT_DEVICE=KEEL does.
"""

from . import fixes
from ._library import allowed, contract, freeze, library_path, step
from ._version import version

__version__ = version

__all__ = ["allowed", "contract", "fixes", "freeze", "library_path", "step", "version"]
