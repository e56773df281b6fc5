"""Retraces of a loop, with real JAX: all of them are told, with their steps, and the journal does not
grow with them."""

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
    report.finish()


if __name__ == "__main__":
    main()
