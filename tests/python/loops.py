#!/usr/bin/env python3
"""Which loops ended early after a read, with each Python from 3.12 on that is here: each gives the places of a
loop's instructions in its own way. What is read stands for a value that no device computed."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "client"))
from harness import Report, Workspace  # noqa: E402
from pythons import pythons  # noqa: E402

HEAD = """
from keel import loops
noted = []
loops.note_left = lambda read, file, line, function, round, rounds, *more: noted.append([line, round, rounds])
"""
TAIL = """
loops._tell()
import json
print(json.dumps(noted))
"""
READ = "(loops._note(1) or 0)"
# The source between them, and the round and the number of rounds that each loop which ended early was in.
CASES = {
    "a loop that goes on to its end": ("for i in range(6):\n    read()\n", []),
    "a loop in a function": ("def f():\n    for i in range(6):\n        read()\nf()\n", []),
    "a loop that is left": ("for i in range(6):\n    if i == 2 and not read():\n        break\n", [[3, 6]]),
    "a loop in a loop": ("for i in range(3):\n    for j in range(4):\n        if read() < 1:\n            break\n", [[1, 4]]),
    "a loop that is left each time": ("for i in range(3):\n    for j in range(4):\n        if j > i and read() < 1:\n            break\n", []),
    "a while": ("on = True\nwhile on:\n    on = bool(read())\n", [[0, 0]]),
    "a number from a function": ("def one():\n    return float(read())\nn = 0\nwhile True:\n    m = one()\n    n += 1\n    if m < 1e-6 or n == 9:\n        break\n", [[0, 0]]),
    "a number that does not end it": ("def one():\n    return float(read())\nn = 0\nwhile True:\n    m = one()\n    n += 1\n    if m < -1 or n == 9:\n        break\n", []),
    "a difference": ("last, n = 9.0, 0\nwhile True:\n    now = float(read())\n    change = abs(last - now)\n    last, n = now, n + 1\n    if change < 1e-6 or n == 9:\n        break\n", [[0, 0]]),
    "the last of a list": ("losses, n = [], 0\nwhile True:\n    losses.append(float(read()))\n    n += 1\n    if losses[-1] < 1e-6 or n == 9:\n        break\n", [[0, 0]]),
    "an attribute": ("class State: loss = 1.0\nstate, n = State(), 0\nstate.loss = 1.0\nwhile state.loss > 1e-6 and n < 9:\n    state.loss = float(read())\n    n += 1\n", [[0, 0]]),
    "a value of a dictionary": ("metrics, n = {'loss': 1.0}, 0\nwhile metrics['loss'] > 1e-6 and n < 9:\n    metrics['loss'] = float(read())\n    n += 1\n", [[0, 0]]),
    "an end of what is read": ("items = iter([1.0, 2.0, None])\nwhile True:\n    item = next(items)\n    if item is None:\n        break\n    read()\n", []),
    "a while that counts": ("at = 0\nwhile at < 4:\n    read()\n    at += 1\n", []),
}


report = Report()
with Workspace("loops") as space:
    for version, python in pythons(12):
        for name, (source, wanted) in CASES.items():
            script = space.path("script.py")
            script.write_text(HEAD + source.replace("read()", READ) + TAIL)
            answer = subprocess.run([python, script], text=True, capture_output=True,
                                    env=os.environ | {"PYTHONPATH": str(ROOT / "python")})
            told = json.loads(answer.stdout) if answer.returncode == 0 else answer.stderr
            report.equal(f"{name}, Python {version}", [one[1:] for one in told], wanted)
report.finish()
