"""The Pythons of this machine."""

import os
import pathlib
import shutil
import subprocess


def pythons(first):
    """Those from 3.`first` on, one for each minor version: its version and its path."""
    managed = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv") / "versions"
    for minor in range(first, 20):
        found = [str(path) for path in sorted(managed.glob(f"3.{minor}.*/bin/python3"))]
        for python in [*found, shutil.which(f"python3.{minor}") or ""]:
            probe = [python, "-c", f"import sys, venv; sys.exit(sys.version_info[1] != {minor})"]
            if python and subprocess.run(probe, capture_output=True).returncode == 0:
                yield f"3.{minor}", python
                break
