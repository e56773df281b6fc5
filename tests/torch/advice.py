"""Each advice for PyTorch/XLA, followed to the letter: the accident of advice_programs.py compiles
again and `keel why` gives that advice, the mended one is one program."""

import ast
import collections
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import (KEEL, ROOT, Report, Workspace, clean_environment,  # noqa: E402
                     journal, run, told)

PYTHON = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
SCRIPT = HERE / "advice_programs.py"
# The cause that each accident is told by, and words of its advice.
ADVICE = {
    "shape": ("shape", "set drop_last=True"),
    "dtype": ("dtype", "x.to(dtype) before it goes to the device"),
    "arguments": ("arguments", "stand in zeros"),
    "constant": ("constant", "a tensor of one dimension on the device"),
    "index": ("constant", "x.index_select(0, i)"),
    "read_back": ("host_read", "x.index_select(0, i)"),
    "structure": ("structure", "torch.where"),
    "gradient": ("gradient", "then sync if each micro-step syncs"),
    "size": ("size", "torch.where with a mask"),
    "grown": ("shape", "index_copy_"),
    "state_made": ("arguments", "fill optimizer.state[p]"),
    "replaced": ("donation", "without assign=True"),
    "copied": ("donation", "on the host (value.cpu())"),
    "counted": ("shape", "torch.where with the mask"),
    "host_read": ("host_read", "behind the step's sync"),
    "endless": (None, None),  # told of runs as a whole: tests/corpus/torch/loop_never_ended.py
}
report = Report()

def functions():
    """The function that each line stands in."""
    lines = {}
    for node in ast.parse(SCRIPT.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            lines |= dict.fromkeys(range(node.lineno, node.end_lineno + 1), node.name)
    return lines

def asked_for(event, lines):
    """The function that asked for a program; "" where another file did."""
    site = event.get("site") or {}
    return lines.get(site.get("line"), "") if site.get("file") == str(SCRIPT) else ""

def main():
    lines = functions()
    environment = clean_environment() | {"KEEL_CONFIG": os.devnull, "TF_CPP_MIN_LOG_LEVEL": "3"}
    with Workspace("advice") as space:

        runs = space.path("runs")
        answer = run([KEEL, "run", "--quiet", "--lines", "--cache-dir", space.path("cache"),
                      "--run-dir", runs, "--", PYTHON, SCRIPT], environment)
        report.check("the process ends well", answer.code == 0, told(answer))
        report.check("every mended program ran", answer.out.split()[-1:] == ["done"], answer.out)
        why = json.loads(run([KEEL, "why", "--json", "--all", "--run-dir", runs], environment).out)
        events = [event for path in runs.glob("*/journal.ndjson")
                  for event in journal(runs, path.parent.name)]
    compiled = collections.Counter(asked_for(event, lines) for event in events
                                   if event["event"] == "compile")
    given = collections.defaultdict(set)
    for item in why:
        stands = [(item.get("file"), item.get("line")), (item.get("call_file"), item.get("call_line"))]
        for name in {lines.get(line) for file, line in stands if file == str(SCRIPT)}:
            given[name] |= {(item["kind"], item["advice"]["torch"])}
    for pair, (kind, words) in ADVICE.items():
        accident = given[f"{pair}_accident"]
        if kind:
            report.check(f"{pair}: the advice is given",
                         any(got == kind and words in advice for got, advice in accident), accident)
        report.check(f"{pair}: the accident is several programs", compiled[f"{pair}_accident"] > 1,
                     compiled[f"{pair}_accident"])
        # None where it is the accident's first.
        report.check(f"{pair}: mended, it is one program", compiled[f"{pair}_mended"] <= 1,
                     (compiled[f"{pair}_mended"], given[f"{pair}_mended"]))
    report.check("each pair has its advice", {name.rsplit("_", 1)[0] for name in lines.values()} ==
                 set(ADVICE) | {"settle", "made", "linear"}, sorted(set(lines.values())))
    report.finish()

main()
