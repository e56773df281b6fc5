"""Retraces of a loop, with real JAX: Keel tells all of them, with their steps. The journal does not grow
with them; if each is compiled, it has a line for each."""

from harness import PYTHON, Report, Workspace
from stage import Stage

report = Report()

LOOP = '''
import sys, jax, numpy as np
x = jax.device_put(np.ones((4,), np.float32))
for i in range(int(sys.argv[1])):
    jax.jit(lambda x: x * 2.5)(x)
'''
LINE = 5
EXPLAINED = 16

# It calls a function of the process. JAX's own client cannot load it, so it is never stored.
CALLBACK = '''
import sys, jax, numpy as np
x = jax.device_put(np.ones((4,), np.float32))
for i in range(int(sys.argv[1])):
    def f(x):
        jax.debug.callback(lambda v: None, x)
        return x * 2.5
    jax.jit(f)(x)
'''
CALLBACK_LINE = 8

# A step that is steady, beside a function that is jitted anew in the first half of them, by two lines.
BESIDE = '''
import jax, numpy as np
x = jax.device_put(np.ones((64, 64), np.float32))
@jax.jit
def step(x):
    return (x @ x.T).sum() * 0.5 + x.mean()
def scaled(x):
    return jax.jit(lambda x: x * 2.5)(x)
for i in range(100):
    if i < 50:
        scaled(x)
        scaled(x)
    step(x)
'''


def run_and_ask(stage, name, text, *words):
    stage.script(name, text)
    answer = stage.keel("run", "--", PYTHON, name, *words)
    report.check(f"{name} {words}: it runs", answer.code == 0, answer.err)
    entries = [entry for entry in stage.answer("why") if entry["what"] == "retrace"]
    return answer.err, entries, stage.answer("stats")


def journal_bytes(stage):
    return (stage.runs / stage.newest() / "journal.ndjson").stat().st_size


def check_loop(stage, times):
    said, entries, stats = run_and_ask(stage, "loop.py", LOOP, str(times))
    report.equal(f"{times}: all but the first are retraces", sum(entry["times"] for entry in entries), times - 1)
    report.equal(f"{times}: from the second step", min(entry["step"] for entry in entries), 2)
    report.equal(f"{times}: to the last", max(entry["last_step"] for entry in entries), times)
    report.equal(f"{times}: at one line", {entry["line"] for entry in entries}, {LINE})
    report.equal(f"{times}: the figures count them", (stats["retrace_count"], stats["loads"] + stats["compiles"]),
                 (times - 1, times))
    loads = [event for event in stage.events() if event["event"] == "load"]
    took = sum(event["seconds"] + event["overhead_seconds"] for event in loads)
    first = loads[0] if stats["compiles"] == 0 else {"seconds": 0, "overhead_seconds": 0}
    took -= first["seconds"] + first["overhead_seconds"]
    report.check(f"{times}: they took what their loads took, Keel's own time included",
                 abs(sum(entry["seconds"] for entry in entries) - took) < 1e-4,
                 ([entry["seconds"] for entry in entries], took))
    report.check(f"{times}: the summary names them", f"keel: {times - 1} retraces cost " in said
                 and f": loop.py:{LINE}; run `keel why`" in said, said)
    text = stage.keel("why").out
    report.check(f"{times}: they are one item", f"steps 2-{times} " in text and f"; {times - 1} times" in text, text)
    return journal_bytes(stage)


def check_compiled(stage, name, text, line, times, miss):
    said, entries, stats = run_and_ask(stage, name, text, str(times))
    report.equal(f"{name}: each is compiled", (stats["compiles"], stats["loads"]), (times, 0))
    report.equal(f"{name}: all but the first are retraces", sum(entry["times"] for entry in entries), times - 1)
    report.equal(f"{name}: the figures count them", stats["retrace_count"], times - 1)
    report.equal(f"{name}: the first few are explained", len(entries), min(EXPLAINED, times - 1))
    report.equal(f"{name}: from the second step", min(entry["step"] for entry in entries), 2)
    report.equal(f"{name}: to the last", max(entry["last_step"] for entry in entries), times)
    report.equal(f"{name}: at one line", {entry["line"] for entry in entries}, {line})
    compiles = [event for event in stage.events() if event["event"] == "compile"]
    took = sum(event["seconds"] + event["overhead_seconds"] for event in compiles[1:])
    report.check(f"{name}: they took what their compiles took, Keel's own time included",
                 0 < took and abs(stats["retrace_seconds"] - took) < 1e-4, (stats["retrace_seconds"], took))
    asks = [event["what"] for event in stage.events() if event["event"] == "ask"]
    report.equal(f"{name}: each ask but the first is a retrace's", asks, ["compile"] + ["retrace"] * len(entries))
    report.check(f"{name}: the summary names them", f"keel: {times - 1} retraces cost " in said
                 and f": {name}:{line}; run `keel why`" in said, said)
    told = " ".join(stage.keel("why").out.split())
    report.check(f"{name}: they are one item", f"steps 2-{times} " in told
                 and f"; {times - 1} times, compiled each time ({miss}" in told, told)


def check_beside(stage):
    said, entries, _ = run_and_ask(stage, "beside.py", BESIDE)
    report.equal("beside: all are counted", sum(entry["times"] for entry in entries), 99)
    report.equal("beside: up to the step of the last", max(entry["last_step"] for entry in entries), 50)
    report.check("beside: the summary names them", "keel: 99 retraces cost " in said, said)


def main():
    with Workspace("retraces") as space:
        loop = Stage(space, "loop")
        small, large = (check_loop(loop, times) for times in (300, 600))
        report.check("twice the retraces are no larger journal", large < 1.2 * small, (small, large))
        check_beside(Stage(space, "beside"))
        callback = Stage(space, "callback")
        callback.environment["KEEL_JAX_CPU"] = "own"
        check_compiled(callback, "callback.py", CALLBACK, CALLBACK_LINE, 60,
                       "it calls functions of this process")
        readonly = Stage(space, "readonly")
        readonly.environment["KEEL_MODE"] = "readonly"
        check_compiled(readonly, "loop.py", LOOP, LINE, 60, "the cache has no such entry")
        unused = Stage(space, "unused")
        (unused.folder / "cache").mkdir()
        (unused.folder / "cache").chmod(0o777)
        check_compiled(unused, "loop.py", LOOP, LINE, 60, "no cache folder is used")
    report.finish()


if __name__ == "__main__":
    main()
