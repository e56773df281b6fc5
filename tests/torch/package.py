"""Where the wheel is installed, PyTorch/XLA runs on Keel without `keel run`: PJRT_DEVICE=KEEL, with
torch_xla.launch on every device and the fixes that KEEL_FIX asks for."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))


def replica(index):
    import torch
    import torch_xla
    import keel
    value = torch.full((2,), float(index), device=torch_xla.device()) * 2
    torch_xla.sync()
    keel.step()
    # In one write: replicas are threads, and what print writes in parts would mix.
    os.write(1, f"replica {index} {value.cpu().tolist()}\n".encode())


def main():
    from harness import (BUILD, PLUGIN, PYTHON, ROOT, Report, Workspace, clean_environment, journal,
                         of_kind, run, told)
    python = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
    report = Report()
    with Workspace("torch-package") as space:
        environment = clean_environment() | {"KEEL_BUILD": str(BUILD), "PIP_NO_INDEX": "1"}
        answer = run([PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--target",
                      space.path("packages"), ROOT], environment)
        report.check("the wheel is installed", answer.code == 0, told(answer))
        environment = clean_environment() | {
            "PYTHONPATH": str(space.path("packages")), "KEEL_CONFIG": os.devnull, "KEEL_PLUGIN":
            str(PLUGIN), "KEEL_RUN_DIR": str(space.runs), "KEEL_CACHE_DIR": str(space.path("cache")),
            "KEEL_RUN_ID": "asked", "CPU_NUM_DEVICES": "4", "KEEL_FIX": "all", "TF_CPP_MIN_LOG_LEVEL": "3"}
        answer = run([python, __file__, "launch"], environment | {"PJRT_DEVICE": "KEEL"})
        report.equal("torch_xla.launch runs on every device",
                     sorted(line for line in answer.out.splitlines() if line.startswith("replica")),
                     [f"replica {i} [{2. * i}, {2. * i}]" for i in range(4)])
        events = journal(space.runs, "asked")
        report.check("it is recorded", of_kind(events, "compile"), told(answer))
        report.equal("with the fix", {(fix["name"], fix["state"]) for fix in of_kind(events, "fix")},
                     {("sharding-retrace", "applied")})
        answer = run([python, __file__, "launch"], environment | {
            "PJRT_DEVICE": "CPU", "CPU_NUM_DEVICES": "1", "KEEL_RUN_ID": "other"})
        report.check("another device is not touched", "replica 0 [0.0, 0.0]" in answer.out and not
                     (space.runs / "other").exists(), told(answer))
    report.finish()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        main()
    else:
        import torch_xla
        torch_xla.launch(replica)
