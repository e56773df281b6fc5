"""A start that compiles Python's packages, and keeps no bytecode of them, says so in the run's summary."""

from harness import KEEL, PYTHON, Report, Workspace, of_kind, journal, run, run_environment, told

report = Report()
PROGRAM = "import jax; jax.jit(lambda x: x + 1)(1.0)"
SAID = "at each start because their bytecode is not kept: PYTHONDONTWRITEBYTECODE is set\n"


def start(space, name, program=PROGRAM, writes=False):
    """With a folder of its own for bytecode, empty at first."""
    environment = run_environment(space.path("cache"), space.path(name),
                                  PYTHONPYCACHEPREFIX=str(space.path("bytecode")))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if not writes:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    answer = run([KEEL, "run", "--", PYTHON, "-c", program], environment)
    report.equal(f"{name}: it runs", answer.code, 0)
    events = [event for path in space.path(name).glob("2*")
              for event in of_kind(journal(path.parent, path.name), "bytecode")]
    return answer, events


with Workspace("bytecode") as workspace:
    lost, events = start(workspace, "not-kept")
    report.equal("not kept: the summary says so once", lost.err.count(SAID), 1)
    report.check("not kept: the journal has the packages that JAX imports", len(events) == 1
                 and events[0]["modules"] > 100 and events[0]["size"] > 4 << 20, events)
    kept, events = start(workspace, "kept", writes=True)
    report.check("kept by this start: no hint", SAID not in kept.err and not events, told(kept))
    later, events = start(workspace, "kept-before")
    report.check("kept by an earlier one: no hint", SAID not in later.err and not events, told(later))
report.finish()
