"""TorchTPU through `keel run` without a TPU, on XLA's CPU plugin: it trains as PyTorch does on the processor,
the second start compiles nothing, and a damaged cache heals. And rehearsed on a TPU that is not there."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))
from harness import KEEL, ROOT, Report, Workspace, clean_environment, run, told, whole_json  # noqa: E402

PYTHON = pathlib.Path(os.environ.get("KEEL_TORCH_TPU_PYTHON") or ROOT / ".venv-torch-tpu" / "bin" / "python")
MODES = ("eager", "fuse", "compile")
TOLERANCE = 1e-3  # of losses about 4, after six steps of AdamW


def environment(space, cache):
    return clean_environment() | {"KEEL_CONFIG": os.devnull, "KEEL_CACHE_DIR": str(space.path(cache)),
                                  "KEEL_RUN_DIR": str(space.runs), "TORCHINDUCTOR_CACHE_DIR": str(space.path("torch"))}


def losses(answer):
    return [float(line.split()[1]) for line in answer.out.splitlines() if line.startswith("loss ")]


def train(space, mode, cache="cache", words=("run",)):
    return run([KEEL, *words, "--quiet", "--", PYTHON, HERE / "gpt.py", "tpu", mode], environment(space, cache))


def compiles(space):
    shown = whole_json(run([KEEL, "stats", "--json"], environment(space, "cache")))
    return shown["compiles"] if shown else None


def damage(folder):
    """64 bytes in the middle of each entry. Returns how many there are."""
    entries = [path for path in folder.rglob("*.keel") if path.is_file()]
    for path in entries:
        held = bytearray(path.read_bytes())
        middle = len(held) // 2
        held[middle:middle + 64] = bytes(byte ^ 0x5A for byte in held[middle:middle + 64])
        path.write_bytes(held)
    return len(entries)


def are_close(got, wanted):
    return len(got) == len(wanted) and all(abs(a - b) <= TOLERANCE for a, b in zip(got, wanted))


def check_mode(report, space, mode, wanted):
    cold = train(space, mode, mode)
    report.check(f"{mode}: the losses are PyTorch's", are_close(losses(cold), wanted),
                 f"{losses(cold)} where {wanted} was expected; {told(cold)}")
    report.check(f"{mode}: the first start compiles", (compiles(space) or 0) > 0)
    warm = train(space, mode, mode)
    report.equal(f"{mode}: the second start compiles nothing", compiles(space), 0)
    report.equal(f"{mode}: and trains alike", losses(warm), losses(cold))


def check_damage(report, space):
    wanted = losses(train(space, "compile", "compile"))
    count = damage(space.path("compile"))
    healed = train(space, "compile", "compile")
    report.check("a damaged cache: it trains alike", count > 0 and healed.code == 0 and losses(healed) == wanted,
                 f"{count} entries; {told(healed)}")
    report.check("a damaged cache: what was damaged is compiled", (compiles(space) or 0) > 0)
    train(space, "compile", "compile")
    report.equal("a damaged cache: the next start compiles nothing", compiles(space), 0)


def check_rehearsal(report, space, wanted):
    words = ("rehearse", "--on", "v6e:1x1")
    first = train(space, "compile", "v6e", words)
    report.check("rehearsed on v6e:1x1: the losses are PyTorch's", are_close(losses(first), wanted), told(first))
    report.check("rehearsed on v6e:1x1: the TPU's compiler compiles", (compiles(space) or 0) > 0)
    train(space, "compile", "v6e", words)
    report.equal("rehearsed again: nothing is compiled", compiles(space), 0)


def check_chance(report, space):
    answer = run([KEEL, "rehearse", "--on", "v6e:1x1", "--", PYTHON, HERE / "chance.py"], environment(space, "v6e"))
    held = [line.split()[1:] for line in answer.out.splitlines() if line.startswith("holds ")]
    report.equal("rehearsed: random numbers of the device are random", held,
                 [[name, "True"] for name in ("normal", "another-draw-differs", "a-seed-repeats-it",
                                              "dropout-keeps-half")])
    report.check("rehearsed: whose they are is said", "random numbers of the device's own generator are the "
                 "processor's" in answer.err, told(answer))


def main():
    report = Report()
    with Workspace("torch-tpu") as space:
        # Without chips TorchTPU asks the cloud's server, which is not there, for minutes.
        plain = run([PYTHON, HERE / "gpt.py", "cpu", "eager"],
                    clean_environment() | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})
        wanted = losses(plain)
        if not report.check("PyTorch trains on the processor", len(wanted) > 1, told(plain)):
            report.finish()
        for mode in MODES:
            check_mode(report, space, mode, wanted)
        check_damage(report, space)
        check_rehearsal(report, space, wanted)
        check_chance(report, space)
    report.finish()


if __name__ == "__main__":
    main()
