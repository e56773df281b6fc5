"""Operations that PyTorch/XLA computes on the host are counted as it counts them itself, to the last
one, and named with advice; and what Keel writes reads like its own report."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import (KEEL, ROOT, Report, Workspace, clean_environment, journal, last_json,  # noqa: E402
                     of_kind, run, told, whole_json)

PYTHON = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
STEPS = 4
report = Report()

# The last operations come behind the last compile: only the interpreter's end can tell them. What
# it printed is read with PyTorch/XLA's own reader of reports.
WORKER = f'''
import json, torch, torch_xla, torch_xla.debug.metrics as metrics
device = torch_xla.device()
x = torch.eye(4).to(device)
for _ in range({STEPS}):
    values = torch.linalg.eigvals(x)   # on the host
    x = x + values.real
    torch_xla.sync()
    x.sum().item()
for _ in range({STEPS}):
    torch.linalg.eigvals(x)
names = [name for name in metrics.counter_names() if name.startswith("aten::")]
print(json.dumps({{name: metrics.counter_value(name) for name in names}}))
'''
READER = '''
import json, sys
from torch_xla.debug.metrics_compare_utils import parse_metrics_report
print(json.dumps(parse_metrics_report(sys.stdin.read())))
'''


def environment():
    return clean_environment() | {"KEEL_CONFIG": os.devnull, "TF_CPP_MIN_LOG_LEVEL": "3"}


def keel(space, *words):
    return run([KEEL, *words, "--run-dir", space.runs], environment())


def main():
    with Workspace("host-ops") as space:
        worker, reader = space.path("worker.py"), space.path("reader.py")
        worker.write_text(WORKER)
        reader.write_text(READER)
        answer = run([KEEL, "run", "--quiet", "--cache-dir", space.path("cache"), "--run-dir",
                      space.runs, "--", PYTHON, worker], environment())
        wanted = last_json(answer)
        report.check("the process ends well", answer.code == 0 and wanted, told(answer))
        name, = [path.parent.name for path in space.runs.glob("*/journal.ndjson")]
        got = {}
        for event in of_kind(journal(space.runs, name), "host_ops"):
            for op, times in event["ops"].items():
                got[op] = got.get(op, 0) + times
        report.equal("the journal counts as PyTorch/XLA does", got, wanted)
        report.check("an operation without a lowering is among them",
                     got.get("aten::linalg_eig", 0) >= 2 * STEPS, got)
        figures = whole_json(keel(space, "stats", "--metrics", "--json"))
        report.equal("so do the figures", {op: times for op, times in figures["torch_xla"].items()
                                           if op.startswith("aten::")}, wanted)
        text = keel(space, "stats", "--metrics").out
        read = last_json(run(["sh", "-c", f"printf %s \"$TEXT\" | '{PYTHON}' '{reader}'"],
                             environment() | {"TEXT": text})) or {}
        report.equal("PyTorch/XLA's own reader reads the counters", {
            name.removesuffix("__Value"): value for name, value in read.items()
            if name.startswith("aten::")}, wanted)
        report.equal("and the compiles", read.get("UncachedCompile__Value"),
                     figures["metrics"]["keel_compiles_total"])
        why = keel(space, "why").out
        report.check("keel why names the operation and what to do",
                     "aten::linalg_eig was computed on the host" in why
                     and "Write it with other" in why.replace("\n", " "), why)
    report.finish()


if __name__ == "__main__":
    main()
