"""PyTorch/XLA behaves through Keel as it does without its cache: the numbers of small trainings are
the same bit for bit cold, warm and with Keel off, and near those of PyTorch on the CPU; and a warm
process compiles nothing."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import (KEEL, ROOT, Report, Workspace, clean_environment, compiles, journal,  # noqa: E402
                     last_json, loads, of_kind, run, told)

PYTHON = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
TOLERANCE = 1e-4  # relative: the CPU without XLA sums in another order
report = Report()


def environment(**more):
    return clean_environment() | {"KEEL_CONFIG": os.devnull, "TF_CPP_MIN_LOG_LEVEL": "3"} | more


def work(space, name, where, cache="cache", mode="on"):
    """The numbers of a process through Keel; its journal is the only one in the folder <name>."""
    answer = run([KEEL, "run", "--quiet", "--cache-dir", space.path(cache), "--run-dir",
                  space.path(name), "--mode", mode, "--", PYTHON, HERE / "workloads.py", where],
                 environment())
    numbers = last_json(answer)
    report.check(f"{name}: the process ends well", answer.code == 0 and numbers, told(answer))
    return numbers or {}


def same(name, got, wanted):
    for workload in wanted:
        report.equal(f"{name}: {workload} has the same numbers", got.get(workload),
                     wanted[workload])


def near(name, got, wanted):
    def is_near(a, b):
        return abs(a - b) <= TOLERANCE * max(1, abs(b))
    for workload, values in wanted.items():
        pairs = [(float.fromhex(a), float.fromhex(b))
                 for a, b in zip(got.get(workload, ()), values)]
        report.check(f"{name}: {workload} is near what the CPU computes",
                     len(pairs) == len(values) and all(is_near(a, b) for a, b in pairs), pairs)


def events_of(space, name):
    runs = [path.parent.name for path in space.path(name).glob("*/journal.ndjson")]
    return [event for run_id in runs for event in journal(space.path(name), run_id)]


def seconds(events):
    return sum(event["seconds"] for event in events)


def check_warm(space, cold_run, warm_run):
    cold, warm = events_of(space, cold_run), events_of(space, warm_run)
    names = [event["name"] for event in of_kind(warm, "compile")]
    report.equal(f"{warm_run}: nothing is compiled", names, [])
    report.equal(f"{warm_run}: all that was compiled is loaded",
                 {event["key"] for event in loads(warm)},
                 {event["key"] for event in compiles(cold)})
    took, saved = seconds(loads(warm)), seconds(compiles(cold))
    report.check(f"{warm_run}: loading takes at most a tenth of compiling", 0 < took <= saved / 10,
                 f"{took:.3f} s of {saved:.3f} s")
    print(f"         {cold_run}: {len(compiles(cold))} compiles {saved:.2f} s; "
          f"{warm_run}: {len(loads(warm))} loads {took:.3f} s")
    failures = [event["message"] for event in of_kind(cold + warm, "store_error", "fallback")]
    report.equal(f"{cold_run}, {warm_run}: no failure", failures, [])


def check_spmd(space, reference):
    cold = work(space, "spmd-cold", "spmd", "spmd")
    if not cold:
        return
    report.equal("spmd: there are four devices", cold["devices"], [4.0.hex()])
    near("spmd", cold, {name: reference.get(name, ()) for name in cold if name != "devices"})
    same("spmd-warm", work(space, "spmd-warm", "spmd", "spmd"), cold)
    check_warm(space, "spmd-cold", "spmd-warm")


def main():
    with Workspace("torch") as space:
        answer = run([PYTHON, HERE / "workloads.py", "cpu"], environment())
        reference = last_json(answer)
        report.check("cpu: the process ends well", reference, told(answer))
        cold = work(space, "cold", "xla")
        if reference and cold:
            near("cold", cold, {name: reference[name] for name in cold})
            same("warm", work(space, "warm", "xla"), cold)
            check_warm(space, "cold", "warm")
            same("off", work(space, "off", "xla", mode="off"), cold)
            report.equal("off: nothing is journalled as compiled or loaded",
                         of_kind(events_of(space, "off"), "compile", "load"), [])
        check_spmd(space, reference or {})
    report.finish()


main()
