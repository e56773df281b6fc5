"""A case of the corpus: what its comment head and the markers in its source say. README.md tells the
format."""

import dataclasses
import pathlib
import re
import shlex

COMMENT = re.compile(r"^\s*(?:#|//) ?(.*)$")
FIELD = re.compile(r"^([a-z]+):(?: (.*))?$")
MARKER = re.compile(r"(?:#|//) <- (.+)$")
MARK = re.compile(r"^(cause|call|cut|read)(?: (\d+))?$")
OF_CAUSE = ("cause", "subject", "old", "new", "pattern", "advice")
OF_CASE = ("program", "reason", "plugin", "launch")


class Malformed(Exception):
    """A case that does not keep to the format."""


@dataclasses.dataclass
class Cause:
    """What one planted cause should be reported as; None if the case leaves it open."""

    kind: str
    subject: str | None = None
    old: str | None = None
    new: str | None = None
    pattern: str | None = None
    advice: str | None = None
    place: tuple[str, int] | None = None
    call: tuple[str, int] | None = None


@dataclasses.dataclass
class Run:
    """One process: its environment and arguments, the plugin and the cache where they are said."""

    variables: dict[str, str] = dataclasses.field(default_factory=dict)
    arguments: list[str] = dataclasses.field(default_factory=list)
    plugin: str | None = None
    cache: str = "cache"


@dataclasses.dataclass
class Case:
    name: str
    main: pathlib.Path
    causes: list[Cause]
    runs: list[Run]
    cuts: dict[tuple[str, int], int]  # lines that cut a step -> programs of it
    reads: set[tuple[str, int]]  # lines that read and cut nothing
    program: str | None = None
    reason: str | None = None
    plugin: str | None = None
    launch: str = ""


def head(path):
    """The lines of the comment that a file opens with."""
    for line in path.read_text().splitlines():
        comment = COMMENT.match(line)
        if not comment:
            return
        yield comment[1]


def run_of(words):
    """`NAME=value` words set the environment, the rest are arguments; plugin= and cache= are ours."""
    run = Run()
    for word in shlex.split(words):
        name, equals, value = word.partition("=")
        if not equals or not re.fullmatch(r"\w+", name):
            run.arguments.append(word)
        elif name == "plugin":
            run.plugin = value
        elif name == "cache":
            run.cache = value
        else:
            run.variables[name] = value
    return run


def read_head(path):
    causes, runs, fields = [{}], [], {}
    for line in head(path):
        field = FIELD.match(line)
        if line.strip() == "and":
            causes.append({})
        elif not field:
            raise Malformed(f"{path}: the head has a line that is not a field: {line!r}")
        elif field[1] in OF_CAUSE:
            causes[-1][field[1]] = field[2]
        elif field[1] in OF_CASE:
            fields[field[1]] = field[2]
        elif field[1] == "run":
            runs.append(run_of(field[2] or ""))
        else:
            raise Malformed(f"{path}: the head has an unknown field: {field[1]!r}")
    if not all("cause" in cause for cause in causes):
        raise Malformed(f"{path}: the head names no cause")
    causes = [Cause(cause.pop("cause"), **cause) for cause in causes]
    twice = causes[0].kind == "stable"  # what is compiled once is seen in a second process
    return causes, runs or [Run() for _ in range(2 if twice else 1)], fields


def read_markers(files, causes):
    cuts, reads = {}, set()
    for file in files:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            marker = MARKER.search(line)
            for word in marker[1].split(", ") if marker else ():
                mark = MARK.match(word)
                if mark and mark[1] in ("cut", "read"):
                    cuts |= {(str(file), number): int(mark[2] or 2)} if mark[1] == "cut" else {}
                    reads |= {(str(file), number)} if mark[1] == "read" else set()
                    continue
                if not mark or int(mark[2] or 1) > len(causes):
                    raise Malformed(f"{file}:{number}: no such marker: {word!r}")
                cause = causes[int(mark[2] or 1) - 1]
                where = "place" if mark[1] == "cause" else "call"
                if getattr(cause, where):
                    raise Malformed(f"{file}:{number}: {word!r} stands on another line as well")
                setattr(cause, where, (str(file), number))
    return cuts, reads


def read(path):
    """The case of a file, or of a folder with a main file in it."""
    main = path
    files = [path]
    if path.is_dir():
        (main,) = path.glob("main.*")
        files = sorted(file for file in path.rglob("*")
                       if file.suffix == main.suffix and file.is_file())
    causes, runs, fields = read_head(main)
    cuts, reads = read_markers(files, causes)
    return Case(path.stem, main, causes, runs, cuts, reads, **fields)


def read_all(folder):
    return [read(path) for path in sorted(folder.iterdir())
            if not path.name.startswith(("_", "."))]
