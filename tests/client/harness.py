"""What the client tests share: processes with JAX behind Keel, their journals, and a small report.

Each test is a plain script that prints a line a case and `N passed, N failed` at the end. It needs
a build (KEEL_TEST_BUILD, default `build`) and the project's own Python, which runs it.
"""

import collections
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("KEEL_TEST_BUILD") or ROOT / "build").resolve()
LIBRARY = BUILD / "lib" / "libkeel_pjrt.so"
KEEL = BUILD / "bin" / "keel"
PYTHON = ROOT / ".venv" / "bin" / "python"
DEADLINE = 900  # seconds that no single process should come near, on a slow and busy machine
FOREIGN_SETTINGS = ("KEEL_", "JAX_", "XLA_", "PJRT_", "TPU_", "LIBTPU_")


def embedded_plugin():
    for line in (ROOT / ".venv" / "keel-plugin").read_text().splitlines():
        if line.startswith("library="):
            return (ROOT / ".venv" / line.removeprefix("library=")).resolve()  # as a journal has it
    sys.exit("client tests: .venv/keel-plugin names no library; run tools/setup")


PLUGIN = embedded_plugin()


def other_plugins():
    """Name and path of the plugins that are not embedded; none if they were not set up."""
    table = ROOT / ".venv-plugins" / "plugins.tsv"
    if not table.exists():
        return []
    rows = [line.split("\t") for line in table.read_text().splitlines()]
    return [(name, table.parent / library) for name, _, library in rows]


class Report:
    """Counts cases and prints them as they come."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.started = time.monotonic()

    def check(self, name, good, detail=""):
        """Returns whether it was good, so that a caller can say more."""
        if good:
            self.passed += 1
            print(f"ok       {name}", flush=True)
        else:
            self.failed += 1
            print(f"FAILED   {name}{': ' + str(detail) if detail != '' else ''}", flush=True)
        return bool(good)

    def equal(self, name, got, wanted):
        return self.check(name, got == wanted, f"{got!r} where {wanted!r} was expected")

    def skip(self, name, why):
        self.skipped += 1
        print(f"skipped  {name}: {why}", flush=True)

    def finish(self):
        """Prints the count and ends the test."""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{skipped} "
              f"in {time.monotonic() - self.started:.0f} s")
        sys.exit(1 if self.failed or not self.passed else 0)


class Workspace:
    """A folder of its own for a test, with a cache and runs in it; gone when the test ends."""

    def __init__(self, name):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"keel-{name}-"))
        self.runs = self.folder / "runs"

    def __enter__(self):
        if not LIBRARY.exists():
            sys.exit(f"client tests: {LIBRARY} is not there; build first, or set KEEL_TEST_BUILD")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return self.folder / name


def clean_environment():
    """The environment without anything that steers Keel, JAX or XLA. Most of these tests are about the
    plugin door, so without a plugin `keel run` takes the embedded one for JAX too, or what
    KEEL_TEST_JAX_CPU says."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith(FOREIGN_SETTINGS)} | {
                "KEEL_JAX_CPU": os.environ.get("KEEL_TEST_JAX_CPU") or "embedded"}


def run_environment(cache, runs, **more):
    """That of a command of keel, with a cache and runs of the test's own."""
    return clean_environment() | {"KEEL_CACHE_DIR": str(cache), "KEEL_RUN_DIR": str(runs),
                                  "KEEL_CONFIG": os.devnull, **more}


def bare_environment(plugin=PLUGIN):
    """JAX on the plugin itself, registered under the name that Keel's door has."""
    return clean_environment() | {"PJRT_NAMES_AND_LIBRARY_PATHS": f"keel:{plugin}",
                                  "JAX_PLATFORMS": "keel", "TF_CPP_MIN_LOG_LEVEL": "3"}


def keel_environment(cache, runs, run, mode="on", plugin=PLUGIN, **more):
    """JAX through Keel's door, with as many devices as the plugin shows by itself; the journal is in
    runs/<run>."""
    return bare_environment(LIBRARY) | {
        "KEEL_PLUGIN": str(plugin), "KEEL_CPU_DEVICES": "4", "KEEL_CACHE_DIR": str(cache), "KEEL_RUN_DIR": str(runs),
        "KEEL_RUN_ID": run, "KEEL_MODE": mode, "KEEL_CONFIG": os.devnull, **more}


Answer = collections.namedtuple("Answer", "code out err")


def start(command, environment, **options):
    """Starts a process, and a group with it, of which finish() collects the answer."""
    return subprocess.Popen([str(part) for part in command], env=environment, text=True,
                            start_new_session=True, stdin=options.pop("stdin", subprocess.DEVNULL),
                            stdout=subprocess.PIPE, stderr=options.pop("stderr", subprocess.PIPE),
                            **options)


def finish(process, seconds=DEADLINE):
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # what `keel run` started holds its output open
        out, err = process.communicate()
        return Answer("timeout", out, err)
    return Answer(process.returncode, out, err)


def errors_until(process, text, seconds=DEADLINE):
    """What a process says on stderr until it has said `text`, or ends, or the time is over; finish()
    gives the rest."""
    said, end = b"", time.monotonic() + seconds
    while text.encode() not in said and select.select(
            [process.stderr], [], [], max(0, end - time.monotonic()))[0]:
        more = os.read(process.stderr.fileno(), 1 << 16)
        if not more:
            break
        said += more
    return said.decode(errors="replace")


def run(command, environment, seconds=DEADLINE, **options):
    return finish(start(command, environment, **options), seconds)


def worker(script, *arguments):
    """The command of a Python script beside this file."""
    return [PYTHON, HERE / script, *arguments]


def last_json(answer):
    """The last line that a worker printed, as JSON; None if it died before."""
    try:
        return json.loads(answer.out.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return None


def whole_json(answer):
    """All that a command printed, as JSON; None if it is none."""
    try:
        return json.loads(answer.out)
    except ValueError:
        return None


def told(answer, lines=6):
    """The end of what a process said, for a failed case."""
    return f"exit code {answer.code}; " + " | ".join((answer.err or "").splitlines()[-lines:])


def journal(runs, run):
    """The events of a run; none if there is no journal."""
    path = pathlib.Path(runs) / run / "journal.ndjson"
    if not path.exists():
        return []
    events = []
    for line in path.read_bytes().splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            pass  # the unfinished last line of a killed process
    return events


def of_kind(events, *kinds):
    return [event for event in events if event["event"] in kinds]


def compiles(events, cacheable=True):
    """Compile events, of programs that may be cached or of the others."""
    return [event for event in of_kind(events, "compile")
            if event.get("cacheable", True) == cacheable]


def executions(events):
    """How often each program ran, by digest; a number that no line gives is its own name."""
    names, counts = {}, {}
    for event in events:
        if "number" in event:
            names[event["pid"], event["number"]] = event["program"]
        for program, count in event.get("executes", {}).items():
            counts[program] = counts.get(program, 0) + count
        numbered = event.get("counts", [])
        for number, count in zip(numbered[::2], numbered[1::2]):
            program = names.get((event["pid"], number), number)
            counts[program] = counts.get(program, 0) + count
    return counts


def loads(events):
    return of_kind(events, "load")


def entries(cache):
    """The entry files of a cache folder, by key."""
    return {path.stem: path for path in sorted(pathlib.Path(cache).glob("entries/*/*.keel"))}
