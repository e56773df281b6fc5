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
