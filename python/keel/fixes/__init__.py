"""Fixes for known bugs of clients, applied on request.

Request them with `keel run --fix[=NAME,...]`, by KEEL_FIX=NAME,... (or `all`) in the environment of a
process that `keel run` started, or in code:

    keel.fixes.apply(["sharding-retrace"])
    keel.fixes.apply()              # all

A fix is applied when the code that it changes is imported, to the versions that have the bug, and
only if that code is as expected; otherwise it is skipped with a message. The outcome is printed to
stderr and written to the run's journal.
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
    bug."""

    name: str
    label: str
    reference: str
    url: str
    client: str
    first: str
    last: str
    sentence: str


class Mismatch(Exception):
    """The code is not what a fix expects; the text says how."""


_states: Dict[str, Optional[str]] = {}  # by name; None until its module is imported
_lock = threading.Lock()


def known() -> List[Fix]:
    """All fixes."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixes.json")
    with open(path, encoding="utf-8") as file:
        return [Fix(**fields) for fields in json.load(file)]


def states() -> Dict[str, Optional[str]]:
    """The outcome of each requested fix: "applied", "skipped", or None until its code is
    imported."""
    with _lock:
        return dict(_states)


def apply(names: Optional[Iterable[str]] = None) -> None:
    """Applies fixes by name, all by default; one that was already requested is skipped.

    Raises ValueError for an unknown name."""
    table = {fix.name: fix for fix in known()}
    wanted = list(table) if names is None else list(names)
    for name in wanted:
        if name not in table:
            raise ValueError(f"{name}: no such fix; the fixes are {', '.join(table)}")
    for name in wanted:
        with _lock:
            if name in _states:
                continue
            _states[name] = None
        _arm(table[name])


def apply_from_environment() -> None:
    """Applies the fixes in KEEL_FIX. Reports an unknown name, and applies the others."""
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
    code = import_module("." + fix.name.replace("-", "_"), __name__)
    when_imported(code.MODULE, lambda module: _apply_to(fix, code, module))


def _numbers(version: str) -> Tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _apply_to(fix: Fix, code, module) -> None:
    version, why = "", ""
    try:
        version = metadata.version(fix.client)
        if not _numbers(fix.first) <= _numbers(version) <= _numbers(fix.last):
            why = f"it is for {fix.client} {fix.first} to {fix.last}"
        else:
            code.apply(module)
    except Mismatch as error:
        why = (f"the code of {fix.client} {version} is not the code that it fixes ({fix.first} to "
               f"{fix.last}): {error}")
    except Exception as error:  # the program must run on as it would without the fix
        why = f"{type(error).__name__}: {error}"
    _report(fix, f"{fix.client} {version}".strip(), why)


def _report(fix: Fix, client: str, why: str) -> None:
    state = "skipped" if why else "applied"
    with _lock:
        _states[fix.name] = state
    _say(f"fix {fix.name} {state}, {client} ({fix.reference}){': ' if why else ''}{why}")
    note_fix(fix.name, state, fix.label, fix.reference, client, why)


def _say(text: str) -> None:
    try:
        if os.environ.get("KEEL_QUIET") != "1":
            sys.stderr.write(f"keel: {text}\n")
    except (AttributeError, OSError, ValueError):  # no stderr, or a closed one
        pass
