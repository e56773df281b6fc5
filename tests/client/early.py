#!/usr/bin/env python3
"""A rehearsal that ended early because of a value that no device computed says so first, with a code of its
own; one that did all that the device would do does not."""

import json

from harness import PYTHON, Report, Workspace, told
from stage import Stage

HEAD = """
import itertools, sys
import jax, jax.numpy as jnp
step = jax.jit(lambda w: (w @ w, jnp.sum(w @ w)))
w = jnp.ones((1024, 1024))
"""
UNSEEN = 4

# What ends early: its source behind HEAD, and how the summary begins. LINE stands for the line with
# "# here", LOOP for that with "# loop".
EARLY = {
    "a loss that is compared": ("""
for i in range(100):  # loop
    w, loss = step(w)
    if float(loss) < 0.5:  # here
        break
""", "early.py:LINE branches on what jit__lambda makes, which no device computed, and the loop at early.py:LOOP ended "
     "in round 1 of 100: on a real cpu:2 it may go on"),
    "a loss that has a name": ("""
best = 1e9
def train():
    for i, _ in enumerate(range(3, 20)):  # loop
        w2, loss = step(w)
        now = float(loss)  # here
        print(now)
        if i > 5 and now < best:
            return i
train()
""", "early.py:LINE branches on what jit__lambda makes, which no device computed, and the loop at early.py:LOOP ended "
     "in round 7 of 17: on a real cpu:2 it may go on"),
    "a bool of a while": ("""
error = jnp.float32(1)
while error > 1e-3:  # loop here
    w, error = step(w)
""", "early.py:LINE branches on what jit_greater makes, which no device computed, and the loop at early.py:LOOP ended: on "
     "a real cpu:2 it may go on"),
    "an iterator without an end": ("""
for i in itertools.count():  # loop
    w, loss = step(w)
    if not loss > 0.5:  # here
        break
""", "early.py:LINE branches on what jit_greater makes, which no device computed, and the loop at early.py:LOOP ended: on "
     "a real cpu:2 it may go on"),
    "a callback that stops": ("""
class Trainer:
    def __init__(self, epochs):
        self.epochs, self.stops = epochs, False
    def log(self, value):
        self.last, self.best = value, getattr(self, "last", None)
        self.stops = self.best is not None and not value < self.best
    def fit(self, w):
        for epoch in range(self.epochs):  # loop
            for _ in range(2):
                w, loss = step(w)
            self.log(float(loss))  # here
            if self.stops:
                break
Trainer(3).fit(w)
""", "early.py:LINE reads what jit__lambda makes, which no device computed, and the loop at early.py:LOOP ended in round 2 "
     "of 3: on a real cpu:2 it may go on"),
    "a try that may go on": ("""
for attempt in range(4):  # loop
    try:
        if float(step(w)[1]) > 0.5:  # here
            continue
        break
    except OSError:
        pass
""", "early.py:LINE reads what jit__lambda makes, which no device computed, and the loop at early.py:LOOP ended in "
     "round 1 of 4: on a real cpu:2 it may go on"),
    "an error that is caught": ("""
try:
    for i in range(9):  # loop
        w, loss = step(w)
        assert loss > 0  # here
except AssertionError:
    pass
""", "early.py:LINE branches on what jit_greater makes, which no device computed, and the loop at early.py:LOOP ended in "
     "round 1 of 9: on a real cpu:2 it may go on"),
}
WHOLE = {
    "a loop to its end": """
for i in range(9):
    w, loss = step(w)
    if float(loss) > 0.5:
        break
""",
    "one loop after the other": """
for i in range(9):
    w, loss = step(w)
    float(loss)
for i in range(20): float(jnp.mean(w))
for i in range(20):
    for _ in range(2): float(jnp.mean(w))
""",
    "a number of steps": """
last, at = 7, 0
for epoch in range(5):
    for batch in range(4):
        w, loss = step(w)
        print(float(loss))
        at += 1
        if at >= last:
            break
    if at >= last:
        break
""",
    "a while that counts": """
at, stops = 0, False
while at < 9 and not stops:
    w, loss = step(w)
    stops = float(loss) > 0.5
    at += 1
""",
    "a while that counts and does not read": """
at = 0
while at < 9:
    w, loss = step(w)
    print(float(loss))
    at += 1
""",
    "the last round": """
for i in range(3):
    w, loss = step(w)
    if i == 2 and float(loss) < 0.5:
        break
""",
    "another try after an error": """
def retried():
    for attempt in range(4):
        try:
            return print(float(step(w)[1]))
        except OSError:
            continue
retried()
for attempt in range(4):
    try:
        print(float(step(w)[1]))
    except OSError:
        pass
    else:
        break
""",
    "values that are known": """
n = jnp.int32(0)
for i in range(9):
    w, loss = step(w)
    n = n + 1
    if n > 3:
        break
print(loss)
""",
}


def line_of(text, mark):
    return next(number for number, line in enumerate(text.splitlines(), 1) if "#" in line and mark in line.split("#")[1])


def check_early(stage):
    for name, (source, begins) in EARLY.items():
        text = HEAD + source
        stage.script("early.py", text)
        answer = stage.rehearse("cpu:2", "early.py", options=("--compile", "none"))
        wanted = "keel: " + begins.replace("LINE", str(line_of(text, "here"))).replace("LOOP", str(line_of(text, "loop")))
        first = next((line for line in answer.err.splitlines() if line.startswith("keel: ")), "")
        report.equal(f"{name} that ends a loop comes first", (answer.code, first), (UNSEEN, wanted))
    left = stage.answer("stats")["rehearsal"]["left"]
    report.equal("keel stats --json has it", [(one["round"], one["rounds"], one["decides"]) for one in left], [(1, 9, True)])
    why = stage.keel("why").out
    report.check("keel why has it", "and the loop at early.py:" in " ".join(why.split()), why)


def check_whole(stage):
    for name, source in WHOLE.items():
        stage.script("whole.py", HEAD + source)
        answer = stage.rehearse("cpu:2", "whole.py", options=("--compile", "none"))
        report.check(f"{name} is not early", answer.code == 0 and " ended" not in answer.err, told(answer))


def check_failed(stage):
    stage.script("failed.py", HEAD + "w, loss = step(w)\nassert loss > 0\n")
    answer = stage.rehearse("cpu:2", "failed.py", options=("--compile", "none"))
    report.check("an error where it was tested is reported", "keel: failed.py:7 branches on what jit_greater makes, which no "
                 "device computed, and an error at failed.py:7 ended the script: on a real cpu:2 it may go on"
                 in answer.err, told(answer))
    report.check("a script that failed had read what no device computed", answer.code == 1 and
                 "keel: the command ended with exit code 1, after it had read values that no device computed: "
                 in answer.err, told(answer))


# A command may end with 4 itself.
OWN = "the command ended with exit code 4"
KEELS = "the command succeeded, but a loop of it ended early in the rehearsal, or may have"


def check_codes(stage):
    """Whose exit code 4 it is."""
    source = next(iter(EARLY.values()))[0]
    stage.script("well.py", HEAD + WHOLE["a loop to its end"])
    stage.script("early.py", HEAD + source)
    stage.script("own.py", HEAD + WHOLE["a loop to its end"] + "sys.exit(4)\n")
    stage.script("both.py", HEAD + source + "sys.exit(4)\n")
    on = ("--on", "cpu:2", "--compile", "none")
    answer = stage.keel("contract", "record", "-o", "keel.contract", *on, "--", PYTHON, "well.py")
    report.check("a rehearsal that ends well is recorded", answer.code == 0, told(answer))
    for script, says in (("early.py", KEELS), ("own.py", OWN), ("both.py", OWN)):
        for words, then in ((("contract", "check", "--contract", "keel.contract"),
                             "; what it would have asked for later is not checked"),
                            (("contract", "record", "-o", "other.contract"), ", so other.contract is not written")):
            answer = stage.keel(*words, *on, "--", PYTHON, script)
            lines = [line for line in answer.err.splitlines() if line.startswith((f"keel: {OWN}{then}", f"keel: {KEELS}"))]
            report.equal(f"keel contract {words[1]} says whose exit code that of {script} is",
                         (answer.code, lines), (UNSEEN, [f"keel: {says}{then}"]))
        answer = stage.keel("smoke", "--on", "cpu:2", "--", PYTHON, script)
        failed = f"keel: {OWN}\n" in answer.err
        report.check(f"keel smoke takes that of {script} for {'a failure' if says == OWN else 'none'}",
                     (answer.code, failed) == ((UNSEEN, True) if says == OWN else (0, False)), told(answer) + answer.out)
        answer = stage.keel("rehearse", "--json", "figures.json", *on, "--", PYTHON, script)
        figures = json.loads((stage.folder / "figures.json").read_text())
        report.equal(f"--json has the exit code of {script} itself", (answer.code, figures["exit_code"]),
                     (UNSEEN, UNSEEN if says == OWN else 0))


def check_ended_at_once(stage):
    """Nothing runs at the end of such a process."""
    text = HEAD + "import os\nprint(float(step(w)[1]), flush=True)  # here\nos._exit(0)\n"
    stage.script("early.py", text)
    answer = stage.rehearse("cpu:2", "early.py", options=("--compile", "none"))
    report.check("what a process read that ends at once is told",
                 f"keel: 1 line reads values that no device computed, as zeros: early.py:{line_of(text, 'here')} "
                 in answer.err, told(answer))


with Workspace("early") as space:
    report = Report()
    check_early(Stage(space, "early"))
    check_whole(Stage(space, "whole"))
    check_ended_at_once(Stage(space, "at once"))
    check_failed(Stage(space, "failed"))
    check_codes(Stage(space, "codes"))
report.finish()
