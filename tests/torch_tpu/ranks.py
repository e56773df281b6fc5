"""TorchTPU's ranks, rehearsed by one command: each drives a chip of the slice, and what they exchange is
real, so that DDP, FSDP2 and DTensor train as PyTorch does in one process."""

import pathlib

from training import HERE, PYTHON, are_close, compiles, environment
from harness import KEEL, Report, Workspace, clean_environment, run, told

SHARED = pathlib.Path("/dev/shm")
STARTS = {"torchrun": ("v6e:2x2", ("-m", "torch.distributed.run", "--nproc_per_node=4", HERE / "ranked.py", "launched")),
          "TorchTPU's launcher": ("v6e:2x2", (HERE / "ranked.py", "spawns")),
          "keel rehearse": ("v6e:2x2/4", (HERE / "ranked.py", "launched"))}


def values(answer):
    """Each (name, rank): its numbers in order. Lines of ranks that Keel starts begin with their number."""
    found = {}
    for line in answer.out.splitlines():
        words = line[line.find("got "):].split() if "got " in line else []
        if len(words) > 3:
            found.setdefault((words[1], words[2]), []).extend(map(float, words[3:]))
    return found


def check(report, space, name, wanted, options=(), cache="ranks"):
    target, command = STARTS[name]
    before = {path.name for path in SHARED.iterdir() if not path.name.startswith("sem.")}
    answer = run([KEEL, "rehearse", "--on", target, *options, "--", PYTHON, *command], environment(space, cache))
    got = values(answer)
    report.check(f"{name}: each rank has PyTorch's values",
                 answer.code == 0 and got.keys() == wanted.keys()
                 and all(are_close(got[key], wanted[key]) for key in wanted),
                 f"{ {key: (got.get(key), wanted[key]) for key in wanted if not are_close(got.get(key, []), wanted[key])} }; "
                 f"{told(answer)}")
    report.check(f"{name}: no value was made up", "no device computed" not in answer.err, told(answer))
    report.check(f"{name}: all ranks did what they do together", "would wait" not in answer.err, told(answer))
    after = {path.name for path in SHARED.iterdir() if not path.name.startswith("sem.")}
    report.equal(f"{name}: nothing stays in {SHARED}", after - before, set())
    return answer


def main():
    report = Report()
    with Workspace("torch-tpu-ranks") as space:
        wanted = values(run([PYTHON, HERE / "ranked.py", "expected"],
                            clean_environment() | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}))
        report.check("PyTorch computes what is expected", len(wanted) == 36, wanted)
        check(report, space, "torchrun", wanted)
        report.check("torchrun: the TPU's compiler compiles", (compiles(space) or 0) > 0)
        check(report, space, "keel rehearse", wanted)
        report.equal("keel rehearse: nothing is compiled again", compiles(space), 0)
        answer = check(report, space, "TorchTPU's launcher", wanted, ("--compile", "none"), "none")
        report.check("--compile none: nothing is compiled", "; nothing compiled" in answer.err, told(answer))
    report.finish()


if __name__ == "__main__":
    main()
