"""Each advice for PyTorch/XLA, followed to the letter: the accident of advice_programs.py or
advice_training.py compiles again and `keel why` gives that advice, the mended one is one program."""

import json
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "client"), str(HERE.parent)]

from harness import (KEEL, ROOT, Report, Workspace, clean_environment,  # noqa: E402
                     journal, run, told)
from pairs import Pairs  # noqa: E402
import tables  # noqa: E402

PYTHON = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
SCRIPT = HERE / "advice_programs.py"
SOURCES = {script: Pairs(script) for script in (SCRIPT, HERE / "advice_training.py")}
# The words of the cause of each advice that is given by another one's table.
CAUSE_OF = {"index": "constant", "read_back": "host_read", "grown": "shape", "state_made": "arguments",
            "replaced": "donation", "copied": "donation", "not_zeroed": "donation",
            "counted": "shape", "idle": "structure", "frozen": "structure",
            "evaluated": "structure", "turns": "structure", "stepped": "structure", "kept": "structure",
            "scalar_sent": "donation",
            "dropout": "structure", "recomputed": "structure", "setting": "constant",
            "nought": "constant", "merged": "arguments", "cast": "structure", "model_size": "shape",
            "made_here": "arguments", "abandoned": "structure", "optimizer_reads": "host_read",
            "module_dtype": "dtype"}
# Advice that no item of `keel why` has: of operations on the host, in a run of their own.
OF_THE_HOST = [name for name in SOURCES[SCRIPT].names() if name.startswith("host_") and name != "host_read"]
# With SPMD, for which a process decides at its start; a process by itself each.
OF_SPMD = ["sharding", "gathered"]
# What no program of PyTorch/XLA here can be told by.
NEVER = {
    "generate": "its loop is transformers' own: tests/corpus/transformers",
    "weak_type": "its programs have no weak types",
    "nested_jit": "its programs have no calls",
    "layout": "it writes no layout but the default on a CPU",
    "option": "it passes no options of the user's",
    "retrace": "nothing is asked for again in one process but by torch.compile: sharding_retrace.py",
}
report = Report()

def environment():
    return clean_environment() | {"KEEL_CONFIG": os.devnull, "KEEL_CPU_DEVICES": "4",
                                  "TF_CPP_MIN_LOG_LEVEL": "3"}


def keel_run(space, name, functions, script=SCRIPT, **variables):
    """One process under `keel run`; its events, what `keel why` knows, and its text."""
    runs = space.path(name)
    before = set(runs.glob("*/journal.ndjson"))
    answer = run([KEEL, "run", "--quiet", "--lines", "--cache-dir", space.path("cache"),
                  "--run-dir", runs, "--", PYTHON, script, *functions], environment() | variables)
    report.check(f"{name}: the process ends well", answer.code == 0, told(answer))
    known = json.loads(run([KEEL, "why", "--json", "--all", "--run-dir", runs], environment()).out)
    text = run([KEEL, "why", "--run-dir", runs], environment()).out
    return [event for path in set(runs.glob("*/journal.ndjson")) - before
            for event in journal(runs, path.parent.name)], known, text


def asked_for(events, name, script):
    """How many programs the function of the script asked for."""
    sites = [event.get("site") or {} for event in events if event["event"] == "compile"]
    return sum(SOURCES[script].function_of(site.get("line")) == name for site in sites
               if site.get("file") == str(script))


def advised(known, name, script):
    """Kind and advice of each item of the function of the script."""
    places = [(item, [(item.get("file"), item.get("line")),
                      (item.get("call_file"), item.get("call_line"))]) for item in known]
    return {(item["kind"], item["advice"]["torch"]) for item, stands in places
            if any(file == str(script) and SOURCES[script].function_of(line) == name
                   for file, line in stands)}


def check_pairs(space, texts, script):
    pairs = sorted(SOURCES[script].names() - {*OF_THE_HOST, *OF_SPMD, "endless"})
    events, known, _ = keel_run(space, script.stem, [f"{name}_{kind}" for name in pairs
                                                     for kind in ("accident", "mended")], script)
    for name in pairs:
        accident, mended = f"{name}_accident", f"{name}_mended"
        given = advised(known, accident, script)
        report.check(f"{name}: the advice is given",
                     (CAUSE_OF.get(name, name), texts[name]) in given, given)
        report.check(f"{name}: the accident is several programs", asked_for(events, accident, script) > 1,
                     asked_for(events, accident, script))
        # None if it is the accident's first.
        report.check(f"{name}: mended, it is one program", asked_for(events, mended, script) <= 1,
                     (asked_for(events, mended, script), advised(known, mended, script)))


def check_host(space, texts):
    for name in sorted(OF_THE_HOST):
        _, _, text = keel_run(space, f"{name}-accident", [f"{name}_accident"])
        report.check(f"{name}: the advice is given", texts[name] in " ".join(text.split()), text)
        events, known, text = keel_run(space, f"{name}-mended", [f"{name}_mended"])
        report.check(f"{name}: mended, nothing is computed on the host", "on the host" not in text,
                     text)
        report.check(f"{name}: and it is one program", asked_for(events, f"{name}_mended", SCRIPT) <= 1,
                     (asked_for(events, f"{name}_mended", SCRIPT), known))


def check_alone(space, name, text):
    """Each of the pair in a run of its own."""
    _, known, _ = keel_run(space, f"{name}-accident", [f"{name}_accident"])
    given = {item["advice"]["torch"] for item in known}
    report.check(f"{name}: the advice is given", text in given, given)
    _, known, shown = keel_run(space, f"{name}-mended", [f"{name}_mended"])
    report.check(f"{name}: mended, nothing is said", re.search("nothing was (re)?compiled", shown),
                 shown)


def endless(space, text):
    """What is said of the run as a whole."""
    check_alone(space, "endless", text)


def precision(space, text):
    """PyTorch/XLA takes two precisions for one graph in a process."""
    keel_run(space, "precision", ["default_product"])
    _, known, _ = keel_run(space, "precision", ["highest_product"])
    report.check("precision: the advice is given",
                 text in {item["advice"]["torch"] for item in known}, known)
    events, _, _ = keel_run(space, "precision", ["highest_product"])
    report.check("precision: mended, nothing is compiled",
                 not [event for event in events if event["event"] == "compile"])


def narrowed(space, text):
    """The variable is set in the second run only."""
    keel_run(space, "narrowed", ["default_product"])
    _, known, _ = keel_run(space, "narrowed", ["default_product"], XLA_USE_BF16="1")
    report.check("narrowed: the advice is given",
                 text in {item["advice"]["torch"] for item in known}, known)
    events, _, _ = keel_run(space, "narrowed", ["default_product"])
    report.check("narrowed: mended, nothing is compiled",
                 not [event for event in events if event["event"] == "compile"])


def main():
    texts = tables.advice("torch")
    with Workspace("advice") as space:
        for script in SOURCES:
            check_pairs(space, texts, script)
        check_host(space, texts)
        for name in OF_SPMD:
            check_alone(space, name, texts[name])
        for check in endless, precision, narrowed:
            check(space, texts[check.__name__])
    report.finish()


if __name__ == "__main__":
    main()
