"""PyTorch/XLA held to a contract: what is listed runs, what is not is an exception at the sync, with
cause and line, and the process may go on."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import KEEL, ROOT, Report, Workspace, clean_environment, run, told  # noqa: E402

PYTHON = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
TRAIN = '''
import sys, torch, torch_xla
device = torch_xla.device()
w = torch.zeros(4, 1, device=device)
def step(rows):
    global w
    x = torch.ones(rows, 4).to(device)
    w = w - 0.1 * (x.t() @ (x @ w - 1.0))
    torch_xla.sync()
for rows in [8] * int(sys.argv[1]):
    step(rows)
if "short" in sys.argv:
    try:
        step(5)
        print("passed")
    except Exception as error:
        print("refused", error)
w = torch.zeros(4, 1, device=device)
step(8)
print("done", w.sum().item())
'''
SHORT_LINE = next(n for n, line in enumerate(TRAIN.splitlines(), 1) if "torch_xla.sync()" in line)
report = Report()


def main():
    with Workspace("torch-enforcement") as space:
        script = space.path("train.py")
        script.write_text(TRAIN)
        contract = space.path("keel.contract")
        environment = clean_environment() | {"KEEL_CONFIG": os.devnull, "KEEL_RUN_DIR": str(space.runs),
                                             "KEEL_CACHE_DIR": str(space.path("cache"))}

        def keel(*words):
            return run([KEEL, *words], environment, cwd=space.folder)

        answer = keel("contract", "record", "-o", contract, "--", PYTHON, script, "4")
        report.check("a run is recorded", answer.code == 0 and contract.exists(), told(answer))
        held = ["run", "--contract", contract, "--on-drift", "refuse", "--", PYTHON, script]
        answer = keel(*held, "100")
        report.check("a hundred listed steps pass", answer.code == 0 and "done" in answer.out,
                     answer.out + told(answer))
        answer = keel(*held, "4", "short")
        report.check("drift is an exception with what differs", "f32[5,4] is not in keel.contract (listed: f32[8,4])"
                     in answer.out and "passed" not in answer.out, answer.out + told(answer))
        report.check("and with its cause and line", f"shape  train.py:{SHORT_LINE}" in answer.out, answer.out)
        report.check("the process may go on", "done" in answer.out, answer.out + told(answer))
        answer = keel("run", "--freeze-after", "2", "--", PYTHON, script, "4", "short")
        report.check("a freeze holds it too", "a new program after programs were frozen" in answer.out,
                     answer.out + told(answer))
    report.finish()


main()
