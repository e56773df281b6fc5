"""PyTorch/XLA under `keel rehearse`: what it compiles is what the real run asks for, on one processor
and with SPMD on four; torch.compile, workers that load data, replica threads and failures behave as
with a device. With .venv-targets, also on a TPU slice, in one process and in one for each chip."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import ROOT, Report, Workspace, of_kind, told  # noqa: E402
from stage import Stage  # noqa: E402

PYTHON = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
EXAMPLE = ROOT / "examples" / "torch" / "train_gpt.py"
SMALL = ["--layers", "1", "--width", "16", "--seq", "24", "--steps", "4"]
report = Report()

# Values that are sent, computed from those, and read; then the program fails.
VALUES = '''
import torch, torch_xla
device = torch_xla.device()
number = torch.tensor(5.0, device=device)
number += 1
print(number.item(), torch.arange(4, device=device).tolist(), (torch.ones(2).to(device) * 3).cpu())
try:
    torch.zeros(4, device=device) @ torch.zeros(5, device=device)
except RuntimeError:
    print("refused")
raise ValueError("own")
'''

# The last batch is short, and two other processes read the data. They are not forked: a process with
# the threads of XLA and PyTorch may hang then, with Keel and without it.
TRAIN = '''
import torch, torch_xla
from torch.utils.data import DataLoader, TensorDataset
if __name__ == "__main__":
    device = torch_xla.device()
    model = torch.nn.Linear(8, 4).to(device).requires_grad_(False)
    model = torch.compile(model, backend="openxla")
    rows = DataLoader(TensorDataset(torch.randn(10, 8)), batch_size=4, num_workers=2,
                      multiprocessing_context="spawn")
    for (batch,) in rows:
        result = model(batch.to(device))
        torch_xla.sync()
    print(tuple(result.shape))
'''

# The sum is the same in all; each has another number. If they are processes, one of them is done before
# the others have started.
REPLICAS = '''
import os, time, torch, torch_xla
import torch_xla.core.xla_model as xm, torch_xla.runtime as xr
def main(index):
    mine = torch.ones(3).to(torch_xla.device()) * (xr.global_ordinal() + 2)
    total = xm.all_reduce(xm.REDUCE_SUM, mine)
    torch_xla.sync()
    print(f"{xr.global_ordinal()} of {xr.world_size()}: {len(total.tolist())}\\n", end="", flush=True)
if __name__ == "__main__":
    torch_xla.launch(main)
else:
    try:
        os.mkdir("first")
    except FileExistsError:
        time.sleep(8)
'''


# Goes on from its checkpoint, which has optimizer state too. A rehearsal computes no step of that size.
SAVE = '''
import os, torch, torch_xla
device = torch_xla.device()
model = torch.nn.Linear(1024, 1024).to(device)
optimizer = torch.optim.AdamW(model.parameters())
step = 0
if os.path.exists("state.pt"):
    state = torch.load("state.pt")
    model.load_state_dict(state["model"])
    step = state["step"]
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(1024, 1024, device=device)).square().mean().backward()
    optimizer.step()
    torch_xla.sync()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 3}, "state.pt")
saved = torch.load("state.pt", map_location="cpu")
print(saved["step"], bool(saved["model"]["weight"].abs().sum() > 0))
'''


# Arrays of each type and rank are what was sent, also through a program that turns them around.
READS = '''
import math, torch, torch_xla
device = torch_xla.device()
for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.uint8, torch.int16, torch.bool):
    for shape in ((), (5,), (2, 3), (4, 2, 3), (2, 3, 4, 5), (3, 2, 5, 4, 2), (2, 2, 3, 2, 2, 3)):
        sent = (torch.arange(math.prod(shape)).reshape(shape) % 100).to(dtype)
        around = tuple(reversed(range(len(shape))))
        for name, got, wanted in (("sent", sent.to(device), sent), ("computed", sent.to(device).logical_not(),
                                   sent.logical_not()), ("turned", sent.to(device).permute(around).contiguous(),
                                   sent.permute(around))):
            if not torch.equal(got.cpu(), wanted):
                print("wrong:", name, dtype, shape)
print("read")
'''

# Random numbers: in the compiler's own program is an operation that PyTorch/XLA's XLA does not know.
PARTS = '''
import numpy as np, torch, torch_xla, torch_xla.runtime as xr
import torch_xla.distributed.spmd as xs
xr.use_spmd()
device, count = torch_xla.device(), xr.global_runtime_device_count()
mesh = xs.Mesh(np.arange(count), (count,), ("x",))
x = torch.randn(8, 8, device=device)
xs.mark_sharding(x, mesh, ("x", None))
y = x * torch.rand(8, 8, device=device)
torch_xla.sync()
print(tuple(y.cpu().shape), torch_xla._XLAC._get_xla_sharding_spec(y + 0))
'''


def tpu_plugins():
    """The newest libtpu and the one that PyTorch/XLA pins."""
    return list((ROOT / ".venv-targets").glob("lib/python3*/site-packages/libtpu/libtpu.so")) + list(
        (ROOT / ".venv-targets").glob("libtpu-torch/libtpu/libtpu.so"))


def keys_of(events):
    return sorted(event["key"] for event in of_kind(events, "compile", "load"))


def check_same(space, devices, *options):
    """The rehearsal's executables serve the real run, and nothing is compiled."""
    name = f"cpu:{devices}"
    stage = Stage(space, f"same{devices}")
    answer = stage.rehearse(name, EXAMPLE, *SMALL, *options, python=PYTHON)
    if not report.equal(f"{name}: the rehearsal ends well", answer.code, 0):
        print(told(answer))
    rehearsed = keys_of(stage.events())
    answer = stage.keel("run", "--cpu-devices", str(devices), "--", PYTHON, EXAMPLE, *SMALL, *options)
    report.equal(f"{name}: so does the real run", answer.code, 0)
    report.check(f"{name}: which compiles nothing", "; nothing compiled, " in answer.err, told(answer))
    report.check(f"{name}: all keys are the same", rehearsed and keys_of(stage.events()) == rehearsed,
                 rehearsed)


def check_programs(space, target, options):
    stage = Stage(space, target.replace(":", "_"))
    for name, text in (("values.py", VALUES), ("train.py", TRAIN), ("replicas.py", REPLICAS)):
        stage.script(name, text)
    answer = stage.rehearse(target, "values.py", options=options, python=PYTHON)
    report.equal(f"{target}: what is sent is known, and so is what follows from it", answer.out,
                 "6.0 [0, 1, 2, 3] tensor([3., 3.])\nrefused\n")
    report.check(f"{target}: the program's own failure is its own", answer.code == 1
                 and "ValueError: own" in answer.err, told(answer))
    answer = stage.rehearse(target, "train.py", options=options, python=PYTHON)
    report.equal(f"{target}: torch.compile and workers that load data", answer.out, "(2, 4)\n")
    report.check(f"{target}: a short batch is found", answer.code == 0 and any(
        cause["kind"] == "shape" for cause in stage.answer("why")), told(answer))
    return stage


def check_reads(space, target, several, options):
    """The second time, programs come from the cache."""
    stage = Stage(space, "reads_" + target.replace(":", "_") + str(len(list(space.folder.iterdir()))))
    stage.script("reads.py", READS)
    stage.script("parts.py", PARTS)
    for time in ("first", "second"):
        answer = stage.rehearse(target, "reads.py", options=options, python=PYTHON)
        report.check(f"{target}: reads of each type and rank, the {time} time", (answer.code, answer.out) == (0, "read\n"),
                     told(answer))
        report.check(f"{target}: this libtpu is a tested one", "was tested with" not in answer.err, told(answer))
        answer = stage.rehearse(several, "parts.py", options=options, python=PYTHON)
        report.check(f"{several}: parts of random numbers, the {time} time",
                     answer.code == 0 and answer.out.startswith("(8, 8) "), told(answer))


def check_saves(space):
    stage = Stage(space, "saves")
    stage.script("save.py", SAVE)
    answer = stage.keel("run", "--", PYTHON, "save.py")
    report.equal("a run saves", answer.out, "3 True\n")
    path = stage.folder / "state.pt"
    before = path.read_bytes(), path.stat().st_mtime_ns
    answer = stage.rehearse("cpu:1", "save.py", options=("--compile", "none"), python=PYTHON)
    report.check("a rehearsal goes on from it, saves and loads", answer.code == 0 and answer.out == "6 False\n",
                 told(answer))
    report.check("and says what it would have written",
                 "would have written 1 file" in answer.err and ", state.pt\n" in answer.err, told(answer))
    report.check("but the checkpoint is what it was", (path.read_bytes(), path.stat().st_mtime_ns) == before)
    answer = stage.rehearse("cpu:1", "save.py", options=("--compile", "none", "--writes", "refuse"), python=PYTHON)
    report.check("torch.save can be refused", answer.code != 0 and "save.py:" in answer.err, told(answer))


def check_replicas(stage, target, count, options):
    answer = stage.rehearse(target, "replicas.py", options=options, python=PYTHON)
    report.equal(f"{target}: each device has its replica", sorted(answer.out.splitlines()),
                 [f"{index} of {count}: 3" for index in range(count)])
    if not report.equal(f"{target}: they end well", answer.code, 0):
        print(told(answer))


def check_cuda(stage, plugin):
    """torch_xla would abort the process."""
    answer = stage.rehearse("h200", "values.py", options=("--plugin", plugin), python=PYTHON)
    report.check("PyTorch/XLA has no GPUs", answer.code == 1 and
                 "RuntimeError: PyTorch/XLA has had no GPUs since 2.9; rehearse it on a TPU or the "
                 "processor" in answer.err and "Check failed" not in answer.err, told(answer))


with Workspace("torch-rehearse") as space:
    check_same(space, 1)
    check_same(space, 4, "--spmd")
    check_saves(space)
    stage = check_programs(space, "cpu:4", ())
    check_replicas(stage, "cpu:4", 4, ())
    check_reads(space, "cpu:1", "cpu:4", ())
    libtpus = tpu_plugins()
    for libtpu in libtpus:
        check_reads(space, "v6e:1x1", "v6e:2x2", ("--plugin", libtpu))
    if libtpus:
        libtpu = libtpus[0]
        stage = check_programs(space, "v6e:2x4", ("--plugin", libtpu))
        check_replicas(stage, "v6e:2x4", 8, ("--plugin", libtpu, "--compile", "none"))
        cuda = libtpu.parent.parent / "jax_plugins" / "xla_cuda12" / "xla_cuda_plugin.so"
        check_cuda(stage, cuda)
    else:
        report.skip("TPUs and GPUs", "their compilers are missing: tools/setup --targets brings them")
report.finish()
