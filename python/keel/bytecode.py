"""Notes Python modules that are compiled at each start, because nothing keeps their bytecode: starting a
large program then takes up to twice as long. Looked at when JAX compiles first, when most is imported.
"""

import os
import sys
from typing import Any, Iterator, Optional, Tuple

from ._compiles import when_compiled
from ._library import note_bytecode

LEAST = 4 << 20  # bytes of source that take about a second
SWITCH = "PYTHONDONTWRITEBYTECODE"

_is_noted = False


def _sources() -> Iterator[Tuple[str, str]]:
    """The source of each module, and where its bytecode would be."""
    for module in list(sys.modules.values()):
        try:
            # Any other look would make a lazy module load.
            spec = object.__getattribute__(module, "__dict__").get("__spec__")
            source, kept = spec.origin, spec.cached
        except Exception:
            continue
        if source and kept and source.endswith(".py"):
            yield source, kept


def _why(kept: str) -> Optional[str]:
    """Why this file of bytecode is not written."""
    if sys.dont_write_bytecode:
        return f"{SWITCH} is set" if os.environ.get(SWITCH) else "Python does not write it"
    folder = os.path.dirname(kept)
    while folder and not os.path.isdir(folder):  # Python makes those
        folder = os.path.dirname(folder)
    return None if os.access(folder, os.W_OK) else f"{folder} cannot be written"


def _note() -> None:
    modules = size = 0
    first, has = "", {}
    for source, kept in _sources():
        folder = os.path.dirname(source)
        if folder not in has:  # one module stands for its folder: most have all or none
            has[folder] = os.path.exists(kept) or not _why(kept)
        if has[folder] or os.path.exists(kept):
            continue
        modules, size = modules + 1, size + os.path.getsize(source)
        first = first or kept
    if size >= LEAST:
        note_bytecode(modules, size, _why(first) or "")


def _ask(config: Any, backend: Any) -> None:
    global _is_noted
    if _is_noted:
        return
    _is_noted = True
    try:
        _note()
    except Exception:  # only a hint
        pass


def begin() -> None:
    """Before JAX compiles."""
    when_compiled(_ask)
