"""JAX asks every executable how its parameters and results are laid out and sharded. Over PJRT's C API
its client has an answer to most of these questions only in the optimized program, which it fetches and
parses whole, each time. Keel gives it the program's outline instead (src/pjrt/outlines.h), but only
while one of these functions runs: whoever asks for the program's text gets all of it.
"""

from typing import Any

from . import jitted
from ._imports import when_imported
from ._library import mark_outlines

ASKED, MADE = 0, 1  # keel_outlines_t
QUESTIONS = ("get_parameter_shardings", "get_output_shardings", "get_parameter_layouts",
             "get_output_layouts")
# Inside, the client asks the executable that it makes for the shapes and shardings of its results.
MAKERS = ("compile_and_load", "deserialize_executable")

_is_done = False


def _mark_around(kind: Any, name: str, what: int, mark: Any) -> None:
    original = getattr(kind, name, None)
    if original is None:
        return

    def marked(self, *given, **named):
        mark(what, True)
        try:
            return original(self, *given, **named)
        finally:
            mark(what, False)

    marked.__name__, marked.__wrapped__ = name, original
    setattr(kind, name, jitted.unseen(marked))


def _mark_all(xla_client: Any) -> None:
    global _is_done
    mark = None if _is_done else mark_outlines()
    if mark is None:
        return
    _is_done = True
    kinds = getattr(xla_client, "_xla", xla_client)  # the module that has the classes
    for name in QUESTIONS:
        _mark_around(getattr(kinds, "LoadedExecutable", None), name, ASKED, mark)
    for name in MAKERS:
        _mark_around(getattr(kinds, "Client", None), name, MADE, mark)


def _listen(xla_client: Any) -> None:
    """Once JAX has a client of a plugin: its own CPU client answers from what it has."""
    make = getattr(xla_client, "make_c_api_client", None)
    if make is None:
        return

    def marking(*given, **named):
        client = make(*given, **named)
        _mark_all(xla_client)
        return client

    marking.__wrapped__ = make
    xla_client.make_c_api_client = marking


def begin() -> None:
    jitted.hide()
    when_imported("jaxlib.xla_client", _listen)
