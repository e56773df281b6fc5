"""On a terminal text takes its whole width and no more, paths are whole, and in a pipe nothing is
cut or wrapped."""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from terminal import in_terminal  # noqa: E402

FILE = "/srv/projects/language/modelling/engineering/experiments/train.py"
OLD, NEW = "f32[8,512] of " + "a_long_name " * 20, "f32[5,512] of " + "a_long_name " * 20
COMMAND = ["/opt/environments/language/bin/python", FILE] + [f"--option-{number}" for number in range(60)]
RUN = "20260301-120000-0000aaaa"


def write_journal():
    folder = pathlib.Path("runs") / RUN
    folder.mkdir(parents=True)
    site = {"file": FILE, "line": 48, "function": "main"}
    subject = {"program": "aa" * 32, "key": "bb" * 32, "name": "jit_step"}
    events = [
        {"event": "start", "argv": COMMAND, "cwd": "/home/bob", "mode": "on",
         "plugin": {"path": "/p.so", "platform": "cpu", "api_major": 0, "api_minor": 81}},
        subject | {"event": "compile", "seconds": 4.0, "recompile": True, "site": site},
        subject | {"event": "explain", "what": "compile", "seconds": 4.0, "recompile": True, "site": site,
                   "against": {"program": "cc" * 32, "name": "jit_step", "is_ours": True},
                   "roots": [site | {"kind": "shape", "subject": "batch['tokens']", "old": OLD, "new": NEW}]},
        {"event": "end", "wall": 5.0},
    ]
    lines = [json.dumps({"t": 1772366400 + at, "pid": 10} | event) for at, event in enumerate(events)]
    (folder / "journal.ndjson").write_text("\n".join(lines) + "\n")


def on_terminal(columns, *command):
    return in_terminal(["keel", *command], columns, variables={"NO_COLOR": "1"})[0]


def in_pipe(*command):
    return subprocess.run(["keel", *command], stdout=subprocess.PIPE, text=True).stdout


def longest(text):
    """Of the lines that are more than one long word, such as a path."""
    return max(len(line) for line in text.splitlines() if FILE not in line)


write_journal()
os.environ["KEEL_RUN_DIR"] = "runs"
for columns in (60, 100, 160):
    why = on_terminal(columns, "why")
    print(columns, "why fits:", longest(why) <= columns, "fills:", longest(why) > columns - 20,
          "path is whole:", f"{FILE}:48" in why, "values are cut:", OLD not in why and "..." in why)
    runs = on_terminal(columns, "runs")
    print(columns, "runs fits:", longest(runs) <= columns, "fills:", longest(runs) > columns - 20,
          "is cut:", "..." in runs, "script is whole:", FILE in runs.split())
    page = on_terminal(columns, "explain", "shape")
    prose = "".join(page.split("```")[::2])
    print(columns, "explain fits:", longest(prose) <= columns, "fills:", longest(prose) > columns - 20)
    stats = on_terminal(columns, "stats")
    print(columns, "stats path is whole:", f"{FILE}:48" in stats, "values are cut:", OLD not in stats)
for command in ("why", "runs", "stats"):
    text = in_pipe(command)
    print(command, "in a pipe is whole:", " ".join(COMMAND) in text and "..." not in text,
          command == "runs" or (OLD in text and NEW in text and f"{FILE}:48" in text))
page = in_pipe("explain", "shape")
print("explain in a pipe is the page:", page.startswith("# `shape`: "), max(map(len, page.splitlines())) > 120)
