"""Known faults of clients, mended when asked for.

Asked for by `keel run --fix[=NAME,...]`, by KEEL_FIX=NAME,... (or `all`) in the environment of a
process that `keel run` started, or in code:

    keel.fixes.apply(["sharding-retrace"])
    keel.fixes.apply()              # all

A fix is applied when the code that it mends is imported, to the versions that have the fault, and
only where that code is what it expects; else it is skipped and says so. What became of it stands on
stderr and in the run's journal.
"""

import json
import os
import re
import sys
import threading
from importlib import import_module, metadata
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from .._imports import when_imported
from .._library import note_fix

ALL = "all"


class Fix(NamedTuple):
    """One of fixes.json; `client` is a distribution, `first` and `last` its versions that have the
    fault."""

    name: str
    label: str
    reference: str
    url: str
    client: str
    first: str
    last: str
    sentence: str


class Mismatch(Exception):
    """The code is not what a fix expects; the text goes on "its code is not what is mended: "."""


_states: Dict[str, Optional[str]] = {}  # by name; None while its module is awaited
_lock = threading.Lock()


def known() -> List[Fix]:
    """All fixes there are."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixes.json")
    with open(path, encoding="utf-8") as file:
        return [Fix(**fields) for fields in json.load(file)]


def states() -> Dict[str, Optional[str]]:
    """What became of each fix asked for: "applied", "skipped", or None until its code is
    imported."""
    with _lock:
        return dict(_states)


def apply(names: Optional[Iterable[str]] = None) -> None:
    """Applies fixes by name, all by default; one that was asked for already is left alone.

    Raises ValueError for a name that is not known."""
    table = {fix.name: fix for fix in known()}
    wanted = list(table) if names is None else list(names)
    for name in wanted:
        if name not in table:
            raise ValueError(f"{name}: no such fix; there are {', '.join(table)}")
    for name in wanted:
        with _lock:
            if name in _states:
                continue
            _states[name] = None
        _arm(table[name])


def apply_from_environment() -> None:
    """Applies what KEEL_FIX asks for. An unknown name is said, and the others are applied."""
    wanted = [name.strip() for name in os.environ.get("KEEL_FIX", "").split(",") if name.strip()]
    if ALL in wanted:
        apply()
        return
    for name in wanted:
        try:
            apply([name])
        except ValueError as error:
            _say(f"KEEL_FIX: {error}")


def _arm(fix: Fix) -> None:
    mender = import_module("." + fix.name.replace("-", "_"), __name__)
    when_imported(mender.MODULE, lambda module: _mend(fix, mender, module))


def _numbers(version: str) -> Tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _mend(fix: Fix, mender, module) -> None:
    version, why = "", ""
    try:
        version = metadata.version(fix.client)
        if not _numbers(fix.first) <= _numbers(version) <= _numbers(fix.last):
            why = f"it is for {fix.client} {fix.first} to {fix.last}"
        else:
            mender.apply(module)
    except Mismatch as error:
        why = (f"the code of {fix.client} {version} is not what it mends ({fix.first} to "
               f"{fix.last}): {error}")
    except Exception as error:  # whatever it is, the program goes on as it would without
        why = f"{type(error).__name__}: {error}"
    _tell(fix, f"{fix.client} {version}".strip(), why)


def _tell(fix: Fix, client: str, why: str) -> None:
    state = "skipped" if why else "applied"
    with _lock:
        _states[fix.name] = state
    _say(f"fix {fix.name} {state}, {client} ({fix.reference}){': ' if why else ''}{why}")
    note_fix(fix.name, state, fix.label, fix.reference, client, why)


def _say(text: str) -> None:
    try:
        if os.environ.get("KEEL_QUIET") != "1":
            sys.stderr.write(f"keel: {text}\n")
    except (AttributeError, OSError, ValueError):  # without a stderr, or with a closed one
        pass
