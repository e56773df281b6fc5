"""Below `keel run`, PyTorch/XLA on the embedded plugin shows the devices of its own CPU client and says
what it says there; its profiler works."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))


def train():
    import torch
    import torch_xla
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                                torch.nn.Linear(4 * 36, 4)).to("xla")
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    x = torch.ones(2, 3, 8, 8).to("xla")
    for _ in range(3):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        torch_xla.sync()
    compiled = torch.compile(lambda a: a.sin() + 1, backend="openxla")
    print("sum", round(compiled(x).sum().item()), x.nonzero().shape)
    print("devices", torch_xla.runtime.global_runtime_device_count(), torch_xla.devices())


def profile():
    import tempfile
    import torch
    import torch_xla
    from torch_xla.debug import profiler
    x = torch.ones(3, device="xla")
    with tempfile.TemporaryDirectory() as folder:
        profiler.start_trace(folder)
        print("sum", (x * 2).sum().item())
        torch_xla.sync()
        profiler.stop_trace()
        print("profiles", len(list(pathlib.Path(folder).glob("**/*.xplane.pb"))))


def main():
    from harness import KEEL, ROOT, Report, Workspace, clean_environment, run, told
    python = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
    report = Report()
    with Workspace("torch-quiet") as space:
        keel = {"KEEL_CONFIG": os.devnull, "KEEL_CACHE_DIR": str(space.path("cache")),
                "KEEL_RUN_DIR": str(space.runs)}
        for word, more in (("train", {}), ("train", {"PJRT_DEVICE": "CPU", "CPU_NUM_DEVICES": "3"}),
                           ("profile", {})):
            title = " ".join([word, *(f"{name}={value}" for name, value in more.items())])
            command = [python, __file__, word]
            bare = run(command, clean_environment() | {"PJRT_DEVICE": "CPU"} | more)
            answer = run([KEEL, "run", "--quiet", "--", *command], clean_environment() | keel | more)
            report.check(f"{title}: it runs", bare.code == 0 and bare.out, told(bare))
            report.equal(f"{title}: the same answers", (answer.code, answer.out), (bare.code, bare.out))
            report.equal(f"{title}: the same words", answer.err, bare.err)
        answer = run([KEEL, "run", "--cpu-devices", "2", "--", python, __file__, "train"],
                     clean_environment() | keel)
        report.check("two devices by Keel's setting", "devices 2 " in answer.out, told(answer))
    report.finish()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        main()
    else:
        {"train": train, "profile": profile}[sys.argv[1]]()
