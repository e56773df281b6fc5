"""While a program imports or starts, Python's full collections are rare, unless somebody has set the collector."""

import json
import subprocess

from harness import KEEL, PYTHON, Report, Workspace, run, run_environment

report = Report()
TELL = "import gc, json, sys; out = lambda **told: print(json.dumps(told))\n"
# Four times as many objects as JAX has, which stay. `full` is how many full collections they took.
GROWS = TELL + """
import jax
before = gc.get_stats()[2]["collections"]
kept = [[] for _ in range(600_000)]
out(threshold=gc.get_threshold(), full=gc.get_stats()[2]["collections"] - before)
"""
# As GROWS; then JAX makes its client, and what comes next is looked at by the middle collections.
IMPORTS = TELL + """
import jax
before = gc.get_stats()[2]["collections"]
kept = [[] for _ in range(600_000)]
full, during = gc.get_stats()[2]["collections"] - before, gc.get_threshold()
jax.devices()
more = [[] for _ in range(30_000)]
out(full=full, during=during, after=gc.get_threshold())
"""
YOUNG = TELL + """
import weakref, jax
class Link: pass
first = Link(); first.itself = first; seen = weakref.ref(first); del first
kept = [[] for _ in range(20_000)]
out(is_gone=seen() is None)
"""
ENDS = TELL + """
import jax
collector = next(module for name, module in sys.modules.items() if name.endswith(".collector") and "keel" in name)
jax.jit(lambda x: x + 1)(1.0)
gc.collect(1)
during = gc.get_threshold()
{}
gc.collect(1)
out(during=during, after=gc.get_threshold())
"""
OVER = "collector._until = 0.0"
LONG = "collector._last = 0.0"


def told_by(space, program, *options, python_gc="start", **variables):
    """`python_gc` None: the default."""
    setting = {"KEEL_PYTHON_GC": python_gc} if python_gc else {}
    environment = run_environment(space.path("cache"), space.path("runs"), **setting, **variables)
    answer = run([KEEL, "run", "--quiet", *options, "--", PYTHON, "-c", program], environment)
    report.equal("it runs", answer.code, 0)
    return json.loads(answer.out.splitlines()[-1])


bare = json.loads(subprocess.run(
    [PYTHON, "-c", TELL + "out(now=gc.get_threshold(), version=sys.version_info[:2])"], check=True,
    capture_output=True, text=True).stdout)
young, middle, _ = usual = bare["now"]

with Workspace("collector") as space:
    if bare["version"] >= [3, 14]:  # it has no full collections that come by themselves
        report.equal("as usual", told_by(space, GROWS)["threshold"], usual)
        report.finish()
    started, kept = told_by(space, GROWS), told_by(space, GROWS, python_gc="keep")
    report.equal("a start: old objects are looked at a tenth as often", started["threshold"], [young, middle, 100])
    report.check("a start: there are fewer full collections", started["full"] < kept["full"], (started, kept))
    report.equal("keep: as usual", kept["threshold"], usual)
    imported = told_by(space, IMPORTS, python_gc=None)
    report.equal("without the setting: a tenth as often until JAX makes its client",
                 [imported[when] for when in ("during", "after")], [[young, middle, 100], usual])
    report.check("imports: there are fewer full collections", imported["full"] < kept["full"], (imported, kept))
    report.equal("--python-gc keep: as usual", told_by(space, GROWS, "--python-gc", "keep")["threshold"], usual)
    report.check("a start: young garbage is collected", told_by(space, YOUNG)["is_gone"])
    report.equal("mode off: as usual", told_by(space, GROWS, "--mode", "off")["threshold"], usual)
    own = told_by(space, GROWS.replace("import jax", "gc.set_threshold(900, 5, 5)\nimport jax"))
    report.equal("what the program has set before stays", own["threshold"], [900, 5, 5])
    for name, end in (("no compile for long", OVER), ("many compiles for very long", LONG)):
        ended = told_by(space, ENDS.format(end))
        report.equal(f"{name}: the start is over", ended, {"during": [young, middle, 100], "after": usual})
    own = told_by(space, ENDS.format("gc.set_threshold(900, 5, 5)\n" + OVER))
    report.equal("what the program sets during the start stays", own["after"], [900, 5, 5])
    config = space.path("config")
    config.write_text("python_gc = start\n")
    report.equal("the config file counts", told_by(space, GROWS, python_gc=None, KEEL_CONFIG=str(config))["threshold"],
                 [young, middle, 100])
report.finish()
