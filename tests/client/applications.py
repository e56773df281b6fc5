"""Installed packages that count as the user's: one that is started, one whose main a script calls, and
those that a setting names. A row has the package's line and the script's."""

from harness import (KEEL, Report, Workspace, PYTHON, of_kind, journal, run, run_environment, told,
                     whole_json)

report = Report()

LOOP = '''
import jax, jax.numpy as jnp
import helper
class Trainer:
    def __init__(self):
        self.step = helper.jit(lambda x: (jnp.tanh(x) * x).sum())
    def train(self, sizes):
        for size in sizes:
            self.step(jnp.ones(size)) # asks
'''
FILES = {
    "trainer/__init__.py": "",
    "trainer/loop.py": LOOP,
    "trainer/__main__.py": '''
from trainer import loop
def main(sizes=(8, 8, 9, 9)):
    loop.Trainer().train(sizes)
if __name__ == "__main__":
    main()
''',
    "helper.py": '''
import jax
def jit(function):
    jitted = jax.jit(function)
    def call(x):
        return jitted(x) # helps
    return call
''',
}
STARTS = '''
from trainer import __main__
def run():
    __main__.main() # starts
run()
'''
USES = '''
from trainer import loop
def run():
    loop.Trainer().train((8, 8, 9, 9)) # uses
run()
'''


def line_of(text, mark):
    return next(number for number, line in enumerate(text.splitlines(), 1) if mark in line)


def recompile_of(space, name, command, **more):
    """The one recompile of a run as `keel why --json` has it, and what `keel why` prints."""
    environment = run_environment(space.path("cache-" + name), space.path(name), PYTHONPATH=str(
        space.path("lib/site-packages")), **more)
    answer = run([KEEL, "run", "--", PYTHON, *command], environment, cwd=space.folder)
    report.check(f"{name}: it ran", answer.code == 0, told(answer, 8))
    why = run([KEEL, "why", "--json"], environment, cwd=space.folder)
    found = [entry for entry in whole_json(why) or [] if entry["recompile"]]
    report.equal(f"{name}: one recompile", len(found), 1)
    text = run([KEEL, "why"], environment, cwd=space.folder).out
    return (found or [{}])[0], text


def place(entry):
    """Its file and line, and the script's."""
    file = entry["file"]
    shown = file.rsplit("site-packages/", 1)[-1] if "site-packages/" in file else file.rsplit("/", 1)[-1]
    has_script = "script_file" in entry
    return shown, entry["line"], (entry["script_file"].rsplit("/", 1)[-1], entry["script_line"]) if has_script else None


def main():
    with Workspace("w") as space:
        packages = space.path("lib/site-packages")
        for name, text in FILES.items():
            (packages / name).parent.mkdir(parents=True, exist_ok=True)
            (packages / name).write_text(text)
        for name, text in {"starts.py": STARTS, "uses.py": USES}.items():
            space.path(name).write_text(text)
        asks, starts, uses = line_of(LOOP, "# asks"), line_of(STARTS, "# starts"), line_of(USES, "# uses")
        helps = line_of(FILES["helper.py"], "# helps")

        entry, text = recompile_of(space, "module", ["-m", "trainer"])
        report.equal("a package that is started counts as the user's", place(entry),
                     ("trainer/loop.py", asks, None))
        report.check("and is shown without the folders above it", f" trainer/loop.py:{asks}" in text, text)

        entry, text = recompile_of(space, "starts", ["starts.py"])
        report.equal("so does one whose main the script calls",
                     (place(entry), entry.get("application")),
                     (("trainer/loop.py", asks, ("starts.py", starts)), "trainer"))
        report.check("the row shows both lines", f" trainer/loop.py:{asks}" in text and
                     f", for starts.py:{starts}" in text, text)
        report.check("the journal has both", any(
            event["site"].get("script_line") == starts and event["site"]["file"].endswith("trainer/loop.py")
            for folder in space.path("starts").iterdir() if folder.is_dir()
            for event in of_kind(journal(folder.parent, folder.name), "compile") if "site" in event))
        page = space.path("page.html")
        run([KEEL, "report", "-o", page], run_environment(space.path("cache"), space.path("starts")),
            cwd=space.folder)
        shown = page.read_text() if page.exists() else ""
        report.check("the report shows both", f"trainer/loop.py:{asks}" in shown and
                     f"starts.py:{starts}" in shown)

        entry, text = recompile_of(space, "uses", ["uses.py"])
        report.equal("a library that a script calls does not", place(entry),
                     ("uses.py", uses, None))

        entry, text = recompile_of(space, "named", ["uses.py"], KEEL_APPLICATION="trainer,helper")
        report.equal("a setting names packages", (place(entry), entry.get("application")),
                     (("helper.py", helps, ("uses.py", uses)), "trainer,helper"))
    report.finish()


if __name__ == "__main__":
    main()
