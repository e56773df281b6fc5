"""The Python stack at compile time, read in every Python that is there: what user code is kept,
what is left out, and that the interpreter is left as it was."""

import os
import pathlib
import sys
import tempfile

from harness import (PYTHON, Report, Workspace, clean_environment, finish, journal, keel_environment,
                     last_json, of_kind, run, start, told)

PROBE = pathlib.Path(os.environ.get("KEEL_TEST_STACK_PROBE", ""))
OLDEST = (3, 9)

HEAD = '''
import ctypes, json, os, sys, threading
LIBRARY, HELD = ctypes.CDLL({probe!r}), ctypes.PyDLL({probe!r})
def ask(function=LIBRARY.probe, buffer=ctypes.create_string_buffer(1 << 20)):
    answer = function(buffer, ctypes.c_size_t(len(buffer)))
    assert answer == 0, answer
    return json.loads(buffer.value)
'''
# What lies in a folder of libraries calls back, and asks by itself.
HELPER = '''
def through(function):
    return function()
def ask_here(function):
    return function()
'''
# An installed package that is run, and asks by way of another one.
RUNS = '''
import helper
def work():
    return helper.through(ask)
print(json.dumps(work()))
'''
# A script's name, and its lines behind HEAD; it prints one line of JSON.
SCRIPTS = {
    "user": '''
import helper
class Model:
    def step(self):
        return helper.through(lambda: ask())
def main():
    return Model().step()
print(json.dumps(main()))
''',
    "held": '''
def main():
    return ask(HELD.probe)
print(json.dumps(main()))
''',
    "library": '''
import helper
namespace = {"ask": ask, "helper": helper}
exec(compile("print(__import__('json').dumps(helper.ask_here(ask)))", "<string>", "exec"), namespace)
''',
    "threads": '''
answers = [None, None]
def work():
    answers[0] = ask()
thread = threading.Thread(target=work)
thread.start()
thread.join()
answers[1] = ask(LIBRARY.probe_on_foreign_thread)
print(json.dumps(answers))
''',
    "error": '''
try:
    print(json.dumps(["nothing was raised", ask(HELD.probe_with_error)]))
except LookupError as error:
    print(json.dumps(["LookupError", str(error)]))
''',
    "deep": '''
def down(depth):
    return down(depth - 1) if depth else ask()
sys.setrecursionlimit(10000)
print(json.dumps([down(500), down(3000)]))
''',
    # The script is an installed package, run by its command or by -m: it is the user's code.
    "package": '''
import subprocess
print(subprocess.run([sys.executable, "-m", "runs"], capture_output=True, text=True).stdout)
''',
    "counts": '''
def hold():
    return ask()
def references():
    # The interpreter's own caches count too, so the second call is the first to compare.
    return [sys.getrefcount(thing) for thing in (hold.__code__, ask.__code__, sys._getframe())]
hold()
before = references()
for _ in range(500):
    hold()
print(json.dumps([before, references(), sys.exc_info()[0]]))
''',
    "names": '''
exec(compile("def f():\\n  return ask()\\n", "/caf\\u00e9/\\udcff.py", "exec"))
exec(compile("def g():\\n  return f()\\n", "/caf\\u00e9/\\u4e16.py", "exec"))
print(json.dumps(g()))
''',
    "ending": '''
class Last:
    def __init__(self):
        self.things = LIBRARY.probe, ctypes.create_string_buffer(4096), ctypes.c_size_t(4096), os.write
    def __del__(self):
        probe, buffer, size, write = self.things
        probe(buffer, size)
        write(1, buffer.value + b"\\n")
sys.last = Last()
threading.last = [sys.last]
''',
}

# A real client, which releases the interpreter's lock while it compiles.
CLIENT = '''
import jax, jax.numpy as jnp
def loss(x):
    return (x * 2.0).sum()
def step(x):
    return jax.jit(loss)(x)
def main():
    x = jnp.ones((3,))
    step(x)
main()
'''


def pythons():
    """One interpreter of each version that is there, the project's own first."""
    root = pathlib.Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser()
    found = [PYTHON, *sorted(root.glob("versions/3.*/bin/python3"))]
    versions = {}
    for path in found:
        answer = finish(start([path, "-c", "import sys; print(list(sys.version_info[:3]))"],
                              clean_environment()))
        version = last_json(answer)
        if version and tuple(version) not in versions:
            versions[tuple(version)] = path
    return versions


class Place:
    """The scripts in a folder, with a library beside them."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.libraries = self.folder / "lib" / "python3.99" / "site-packages"
        self.libraries.mkdir(parents=True)
        (self.libraries / "helper.py").write_text(HELPER)
        package = self.libraries / "runs"
        package.mkdir()
        (package / "__main__.py").write_text(HEAD.format(probe=str(PROBE)) + RUNS)
        for name, body in SCRIPTS.items():
            self.script(name).write_text(HEAD.format(probe=str(PROBE)) + body)

    def script(self, name):
        return self.folder / f"{name}.py"

    def line(self, name, text):
        lines = self.script(name).read_text().splitlines()
        return 1 + next(i for i, line in enumerate(lines) if text in line)

    def ask(self, python, name):
        environment = clean_environment() | {"PYTHONPATH": str(self.libraries),
                                             "PYTHONDONTWRITEBYTECODE": "1"}
        answer = finish(start([python, self.script(name)], environment))
        return last_json(answer), told(answer)


def check_user(report, place, python, version, label):
    got, why = place.ask(python, "user")
    path = str(place.script("user"))
    long = version >= (3, 11)
    wanted = [
        [path, place.line("user", "function(buffer"), "ask"],
        [path, place.line("user", "helper.through"),
         "Model.step.<locals>.<lambda>" if long else "<lambda>"],
        [path, place.line("user", "helper.through"), "Model.step" if long else "step"],
        [path, place.line("user", "Model()"), "main"],
        [path, place.line("user", "json.dumps(main"), "<module>"],
    ]
    report.check(f"{label}: the user's frames, innermost first", got == [None, 1, wanted],
                 f"{got}; {why}")
    got, why = place.ask(python, "held")
    report.check(f"{label}: a client that keeps the interpreter's lock is answered too",
                 got and not got[0] and [frame[2] for frame in got[2]] == ["ask", "main", "<module>"],
                 f"{got}; {why}")


def check_others(report, place, python, label):
    got, why = place.ask(python, "library")
    # The script itself calls what was made of a string, so it is all that is shown.
    report.check(f"{label}: what libraries run for the user is left out",
                 got and not got[0] and got[1] == 2
                 and {frame[0] for frame in got[2]} == {str(place.script("library"))},
                 f"{got}; {why}")
    got, why = place.ask(python, "package")
    report.check(f"{label}: where an installed package is what is run, its frames are the user's",
                 got and not got[0] and [frame[2] for frame in got[2]] == ["ask", "work", "<module>"]
                 and {frame[0] for frame in got[2]} == {str(place.libraries / "runs" / "__main__.py")},
                 f"{got}; {why}")
    got, why = place.ask(python, "threads")
    report.check(f"{label}: each thread has its own stack; one that Python does not know has none",
                 got and [frame[2] for frame in got[0][2]] == ["ask", "work"] and got[0][1] == 3
                 and got[1] == ["Python does not know the thread", 0, []], f"{got}; {why}")
    got, why = place.ask(python, "error")
    report.check(f"{label}: an exception on its way arrives", got == ["LookupError", "on its way"],
                 f"{got}; {why}")
    got, why = place.ask(python, "deep")
    report.check(f"{label}: deep stacks are cut and counted",
                 got and [len(stack[2]) for stack in got] == [64, 64]
                 and [stack[1] for stack in got] == [503 - 64, 2048 - 64], f"{str(got)[:300]}; {why}")
    got, why = place.ask(python, "counts")
    report.check(f"{label}: nothing is held afterwards", got and got[0] == got[1] and got[2] is None,
                 f"{got}; {why}")
    got, why = place.ask(python, "names")
    report.check(f"{label}: paths may hold any character; one that is not text is passed over",
                 got and got[1] == 1 and ["/caf\u00e9/\u4e16.py", 2, "g"] in got[2], f"{got}; {why}")
    got, why = place.ask(python, "ending")
    report.check(f"{label}: at the interpreter's end it is left alone",
                 got == ["Python is not running", 0, []], f"{got}; {why}")


def check_client(report):
    with Workspace("stack") as space:
        script = space.path("train.py")
        script.write_text(CLIENT)
        lines = CLIENT.splitlines()
        wanted = [{"file": str(script), "line": 1 + lines.index(line), "function": function}
                  for line, function in (("    return jax.jit(loss)(x)", "step"),
                                         ("    step(x)", "main"), ("main()", "<module>"))]
        for name, more in (("read", {}), ("off", {"KEEL_STACK": "off"})):
            answer = run([PYTHON, script], keel_environment(space.path(name), space.runs, name, **more))
            events = [event for event in of_kind(journal(space.runs, name), "ask")
                      if event["name"] == "jit_loss"]
            got = events[0] if len(events) == 1 else {}
            if name == "read":
                report.check("JAX: what is asked for has the stack", got.get("stack") == wanted
                             and got["stack_left_out"] > 0 and "stack_skipped" not in got,
                             f"{got}; {told(answer)}")
            else:
                report.check("JAX: switched off it is left alone", not got.get("stack", True)
                             and got["stack_skipped"] == "the setting stack is off",
                             f"{got}; {told(answer)}")


def main():
    report = Report()
    if not PROBE.is_file():
        sys.exit(f"stack test: no library at '{PROBE}'; KEEL_TEST_STACK_PROBE names it")
    with tempfile.TemporaryDirectory(prefix="keel-stack-") as folder:
        place = Place(folder)
        for version, python in pythons().items():
            label = ".".join(map(str, version))
            if version >= OLDEST:
                check_user(report, place, python, version, label)
                check_others(report, place, python, label)
                continue
            got, why = place.ask(python, "user")
            report.check(f"{label}: is too old, and told so",
                         got == ["this Python is older than 3.9, or no CPython", 0, []],
                         f"{got}; {why}")
    check_client(report)
    report.finish()


main()
