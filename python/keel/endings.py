"""In a rehearsal: the next step after an error that ended the script, if it is one that a rehearsal is likely to meet
first: data that are only on the machine with the device, or a mesh that is not the target's."""

import atexit
import os
import re
import sys
from typing import Optional

TARGET, PROCESS, PROCESSES = "KEEL_REHEARSE", "KEEL_REHEARSE_PROCESS", "KEEL_REHEARSE_PROCESSES"
DEVICES = "KEEL_REHEARSE_DEVICES"  # of one process
# In the words of jax.make_mesh and create_device_mesh, and of numpy where the devices are an array.
MESHES = (r"Number of devices (\d+) must .* product of mesh_shape \(([\d, ]+)\)",
          r"cannot reshape array of size (\d+) into shape \(([\d, ]+)\)")


def _data(error: BaseException) -> Optional[str]:
    """Hubs and data sets derive their errors from FileNotFoundError, too."""
    cause: Optional[BaseException] = error
    while cause is not None and not isinstance(cause, FileNotFoundError):
        cause = cause.__cause__
    if cause is None:
        return None
    what = cause.filename or (str(cause).splitlines() or [type(cause).__name__])[0]
    return f"{what}: not there; a rehearsal reads what a run reads, so give it that, or some data of the same shapes"


def _mesh(error: BaseException) -> Optional[str]:
    found = next(filter(None, (re.search(words, str(error)) for words in MESHES)), None)
    devices = int(os.environ.get(DEVICES, "0")) * int(os.environ.get(PROCESSES) or 1)
    if found is None or int(found[1]) != devices:
        return None
    shape, needed = [int(size) for size in re.findall(r"\d+", found[2])], 1
    for size in shape:
        needed *= size
    return (f"a mesh of {' x '.join(map(str, shape))} is {needed} devices, {os.environ[TARGET]} has {devices}; "
            f"rehearse on a target of {needed}, or change the mesh")


def _tell() -> None:
    """Python keeps the error that ended the script."""
    error = getattr(sys, "last_value", None)
    try:
        advice = error and isinstance(error, Exception) and (_data(error) or _mesh(error))
        if advice:
            sys.stderr.write(f"keel: {advice}\n")
    except Exception:  # the error itself has been printed
        pass


def begin() -> None:
    """Before JAX or PyTorch/XLA makes its client. What ends one process of several ends them all."""
    if os.environ.get(TARGET) and os.environ.get(PROCESS, "0") == "0":
        atexit.register(_tell)
