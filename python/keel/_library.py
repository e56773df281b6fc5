"""Keel's library: where it is, and its functions for a process that has loaded it."""

import contextlib
import ctypes
import os
from typing import Any, Callable, Iterator, List, Optional, Sequence, Type

NAME = "libkeel_pjrt.so"
HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = (
    os.path.join(HERE, "native", "lib"),  # in a wheel
    os.path.normpath(os.path.join(HERE, "..", "..", "..")),  # lib/keel/python, built or installed
)

_step: Optional[Callable[[], None]] = None
_prepared: Any = None
_notes: List[object] = []  # what the library may be calling now, so none is freed


def _find() -> Optional[str]:
    named = os.environ.get("KEEL_LIBRARY")  # set by `keel run`
    if named:
        return named
    paths = (os.path.join(place, NAME) for place in PLACES)
    return next((path for path in paths if os.path.isfile(path)), None)


def library_path() -> str:
    """The path of libkeel_pjrt.so: the one of `keel run`, otherwise the one in this package.

    Raises FileNotFoundError if there is none."""
    path = _find()
    if path is None:
        raise FileNotFoundError(f"{NAME} is in none of {', '.join(PLACES)}: install the wheel of "
                                "keel, or run the command with `keel run`")
    return path


def _open(flags: int, kind: Type[ctypes.CDLL] = ctypes.CDLL) -> Optional[ctypes.CDLL]:
    path = _find()
    try:
        return kind(path, mode=flags) if path else None
    except OSError:
        return None


def step() -> None:
    """Marks the end of a step. Does nothing in a process that has not loaded Keel."""
    global _step
    if _step is None:
        library = _open(os.RTLD_NOLOAD | os.RTLD_NOW)
        mark = getattr(library, "keel_step", None)
        if mark is None:
            return
        mark.argtypes, mark.restype = (), None
        _step = mark
    _step()


def _call(name: str, *arguments: bool) -> None:
    function = getattr(_open(os.RTLD_NOLOAD | os.RTLD_NOW), name, None)
    if function is None:
        return
    function.argtypes, function.restype = (ctypes.c_bool,) * len(arguments), None
    function(*arguments)


def freeze() -> None:
    """From now on, no program may be new: one that is gets an error, or what KEEL_ON_DRIFT says.
    Does nothing in a process that has not loaded Keel."""
    _call("keel_freeze")


@contextlib.contextmanager
def allowed() -> Iterator[None]:
    """Inside, on this thread, programs may be new and may be missing in the contract:

        with keel.allowed():
            evaluate(model)
    """
    _call("keel_allow", True)
    try:
        yield
    finally:
        _call("keel_allow", False)


def replaces_cache() -> int:
    """Whether Keel's cache does the work of the client's own: 0 no, 1 yes, 2 in a rehearsal."""
    replaces = getattr(_open(os.RTLD_NOLOAD | os.RTLD_NOW), "keel_replaces_cache", None)
    if replaces is None:
        return 0
    replaces.argtypes, replaces.restype = (), ctypes.c_int
    return replaces()


def _is_asked_for() -> bool:
    """Whether this process's client is, or will be, behind Keel."""
    platforms = os.environ.get("JAX_PLATFORMS", "").split(",")
    return ("KEEL_RUN_ID" in os.environ or "keel" in platforms
            or os.environ.get("PJRT_DEVICE") == "KEEL"
            or _open(os.RTLD_NOLOAD | os.RTLD_NOW) is not None)


@contextlib.contextmanager
def contract(path: "os.PathLike[str] | str", on_drift: str = "refuse") -> Iterator[None]:
    """Inside, this process is held to the contract: a program that it does not allow is the client's
    own exception, or with on_drift="warn" a line on stderr. All threads; contracts may be nested, and
    the innermost counts.

    Raises RuntimeError if the process does not run through Keel, ValueError for a contract that cannot
    be read."""
    library = _open(os.RTLD_NOW) if _is_asked_for() else None
    hold = getattr(library, "keel_hold_contract", None)
    release = getattr(library, "keel_release_contract", None)
    if hold is None or release is None:
        raise RuntimeError("this process does not run through Keel, so nothing holds it to a contract: "
                           "start it with `keel run -- CMD`")
    hold.argtypes, hold.restype = (ctypes.c_char_p, ctypes.c_char_p), ctypes.c_char_p
    release.argtypes, release.restype = (), None
    why = hold(os.fsencode(os.path.abspath(path)), on_drift.encode())
    if why:
        raise ValueError(why.decode(errors="replace"))
    try:
        yield
    finally:
        release()


def _tell(function: str, plugin: str) -> bool:
    tell = getattr(_open(os.RTLD_NOW), function, None)
    if tell is None:
        return False
    tell.argtypes, tell.restype = (ctypes.c_char_p,), ctypes.c_bool
    return tell(os.fsencode(os.path.abspath(plugin)))


def offer(plugin: str) -> bool:
    """Has the library stand for this plugin when a client loads it next, and wrap it if it is named
    later. False if it cannot be loaded."""
    return _tell("keel_offer", plugin)


def wrap(plugin: str) -> bool:
    """Has the library wrap this plugin. False if it wraps another one in this process."""
    return _tell("keel_wrap", plugin)


def ask_devices(count: int) -> None:
    """Says how many devices the client's own setting asks for on CPU; -1: none."""
    ask = getattr(_open(os.RTLD_NOW), "keel_ask_devices", None)
    if ask is None:
        return
    ask.argtypes, ask.restype = (ctypes.c_int64,), None
    ask(count)


def _name(function: str, text: str) -> None:
    name = getattr(_open(os.RTLD_NOW), function, None)
    if name is None:
        return
    name.argtypes, name.restype = (ctypes.c_char_p,), None
    name(text.encode())


def name_devices(prefix: str) -> None:
    """Says what the client's own CPU devices are called, before their numbers."""
    _name("keel_name_devices", prefix)


def name_kind(kind: str) -> None:
    """Says what the memory that results lie in is called, for a client that must know it, if the plugin
    does not say."""
    _name("keel_name_kind", kind)


def mark_outlines() -> Optional[Callable[[int, bool], None]]:
    """A function that reports when a question begins or ends that an executable's outline answers; its
    first argument is the kind of question. It keeps the interpreter's lock: releasing that takes longer."""
    mark = getattr(_open(os.RTLD_NOW, ctypes.PyDLL), "keel_mark_outlines", None)
    if mark is not None:
        mark.argtypes, mark.restype = (ctypes.c_int, ctypes.c_bool), None
    return mark


def add_kernel(name: bytes, function: int) -> None:
    """Registers a kernel with the plugin: a name that programs call, and its function's address."""
    add = getattr(_open(os.RTLD_NOW), "keel_add_kernel", None)
    if add is None:
        return
    add.argtypes, add.restype = (ctypes.c_char_p, ctypes.c_void_p), None
    add(name, function)


def add_handler(name: bytes, platform: bytes, api_version: int, traits: int,
                stages: Sequence[int]) -> None:
    """Reports a function that programs call by name: its stages' addresses, 0 if it has none."""
    add = getattr(_open(os.RTLD_NOW), "keel_add_handler", None)
    if add is None:
        return
    add.restype = None
    add.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint32,
                    ctypes.c_void_p * len(stages))
    add(name, platform, api_version, traits, (ctypes.c_void_p * len(stages))(*stages))


def add_type(name: bytes, platform: bytes, number: int, functions: Sequence[int]) -> None:
    """Reports a type of such functions' state: the addresses of its number and its functions."""
    add = getattr(_open(os.RTLD_NOW), "keel_add_type", None)
    if add is None:
        return
    add.restype = None
    add.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p,
                    ctypes.c_void_p * len(functions))
    add(name, platform, number, (ctypes.c_void_p * len(functions))(*functions))


def when_unreal(note: Optional[Callable[[int], None]]) -> None:
    """In a rehearsal: calls `note` when a line first reads a value that no device computed, with a number
    for the line. None: nothing is called any more."""
    ask = getattr(_open(os.RTLD_NOW), "keel_when_unreal", None)
    if ask is None:
        return
    kind = ctypes.CFUNCTYPE(None, ctypes.c_uint64)
    ask.argtypes, ask.restype = (kind,), None
    _notes.append(kind(note) if note else kind())
    ask(_notes[-1])


def note_left(read: int, file: str, line: int, function: str, round: int, rounds: int, decides: bool,
              raised: bool) -> None:
    """Writes to the run's journal that the loop at this line ended after that line's reads, or that an error
    there ended the script."""
    note = getattr(_open(os.RTLD_NOW), "keel_note_left", None)
    if note is None:
        return
    note.argtypes = (ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64,
                     ctypes.c_bool, ctypes.c_bool)
    note.restype = None
    note(read, os.fsencode(file), line, function.encode(errors="replace"), round, rounds, decides, raised)


def prepared(what: int, seconds: float) -> None:
    """How long this thread took to trace (0) or lower (1) what it will ask for. Called often."""
    global _prepared
    if _prepared is None:
        _prepared = getattr(_open(os.RTLD_NOLOAD | os.RTLD_NOW), "keel_note_preparing", None)
        if _prepared is None:
            return
        _prepared.argtypes, _prepared.restype = (ctypes.c_int, ctypes.c_double), None
    _prepared(what, seconds)


def note_traced(id: str, function: str, file: str, line: int, names: str) -> int:
    """Says what torch.compile traced for a graph that this thread will ask for, and what its arguments are
    called, a line "#NUMBER\\tNAME" each. A number for `compiles`; 0: it is not noted."""
    note = getattr(_open(os.RTLD_NOLOAD | os.RTLD_NOW), "keel_note_traced", None)
    if note is None:
        return 0
    note.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_char_p)
    note.restype = ctypes.c_uint64
    return note(*(text.encode(errors="replace") for text in (id, function)), os.fsencode(file), line,
                names.encode(errors="replace"))


@contextlib.contextmanager
def compiles(number: int) -> Iterator[None]:
    """Inside, what was noted is compiled: by this thread, or by others for it."""
    mark = getattr(_open(os.RTLD_NOLOAD | os.RTLD_NOW), "keel_note_compiles", None) if number else None
    if mark is None:
        yield
        return
    mark.argtypes, mark.restype = (ctypes.c_uint64, ctypes.c_bool), None
    mark(number, True)
    try:
        yield
    finally:
        mark(number, False)


def note_bytecode(modules: int, size: int, why: str) -> None:
    """Writes to the run's journal how many modules have no bytecode that is kept, the bytes of their
    source, and why."""
    note = getattr(_open(os.RTLD_NOLOAD | os.RTLD_NOW), "keel_note_bytecode", None)
    if note is None:
        return
    note.argtypes, note.restype = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p), None
    note(modules, size, why.encode(errors="replace"))


def note_fix(*texts: str) -> bool:
    """Writes a fix to the run's journal: name, state, label, reference, client, why."""
    note = getattr(_open(os.RTLD_NOW), "keel_note_fix", None)
    if note is None:
        return False
    note.argtypes, note.restype = (ctypes.c_char_p,) * len(texts), None
    note(*(text.encode(errors="replace") for text in texts))
    return True
