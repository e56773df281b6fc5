"""A run held to its contract, with real JAX: refused, warned, recorded and frozen programs reach the
user as the client's own exception or as a line, before anything is compiled."""

import os

from harness import (KEEL, LIBRARY, PLUGIN, PYTHON, Report, Workspace, clean_environment, journal, of_kind,
                     run, told)

report = Report()

TRAIN = '''
import sys
import jax, jax.numpy as jnp, numpy as np
import keel

@jax.jit
def step(w, batch):
    return w - 0.1 * (batch["x"].T @ (batch["x"] @ w - batch["y"]))

@jax.jit
def evaluate(w, x):
    return (x @ w).mean()

def batch(rows):
    return {"x": np.ones((rows, 4), np.float32), "y": np.ones((rows, 1), np.float32)}

w, words = jnp.zeros((4, 1)), sys.argv[1:]
try:
    for rows in [8] * int(words[0]):
        w = step(w, batch(rows))
        keel.step()
    if "freeze" in words:
        keel.freeze()
    if "eval" in words:
        print("evaluated", float(evaluate(w, np.ones((8, 4), np.float32))))
    if "short" in words:
        w = step(w, batch(5))
    if "allowed" in words:
        with keel.allowed():
            step(w, batch(6))
    if "eager" in words:
        print(jnp.sin(np.ones(3, np.float32)) * 3)
    if "again" in words:
        w = step(w, batch(5))
    print("done")
except jax.errors.JaxRuntimeError as error:
    print("refused", error)
    if "again" in words:
        try:
            step(w, batch(5))
            print("passed the second time")
        except jax.errors.JaxRuntimeError as second:
            print("again", second)
'''
SHORT_LINE = next(n for n, line in enumerate(TRAIN.splitlines(), 1) if "batch(5)" in line)


class Stage:
    def __init__(self, space):
        self.folder = space.path("stage")
        self.folder.mkdir()
        self.script = self.folder / "train.py"
        self.script.write_text(TRAIN)
        self.contract = self.folder / "keel.contract"
        self.environment = clean_environment() | {
            "KEEL_CACHE_DIR": str(self.folder / "cache"), "KEEL_RUN_DIR": str(self.folder / "runs"),
            "KEEL_CONFIG": os.devnull}

    def keel(self, *words, **more):
        return run([KEEL, *words], self.environment | more, cwd=self.folder)

    def train(self, options, *words, command="run", **more):
        return self.keel(command, *options, "--", PYTHON, self.script, *words, **more)

    def events(self):
        newest = max(path.name for path in (self.folder / "runs").glob("2*"))
        return journal(self.folder / "runs", newest)


def held(stage, *more):
    return ["--contract", stage.contract, *more]


def check_listed(stage):
    answer = stage.train(held(stage, "--on-drift", "refuse"), "100", "eval", "eager")
    report.check("a hundred listed steps and operations outside jit pass", "done" in answer.out, told(answer))
    report.equal("nothing is reported of them", len(of_kind(stage.events(), "drift")), 0)


def check_refused(stage):
    answer = stage.train(held(stage, "--on-drift=refuse"), "3", "short", "again")
    text = answer.out
    report.check("drift is the client's own exception", "refused FAILED_PRECONDITION: keel: jit_step" in text,
                 told(answer) + text)
    report.check("it names the argument, what it is and what is listed",
                 "batch['x'] f32[5,4] is not in keel.contract (listed: f32[8,4])" in text, text)
    report.check("it names the cause and the line", f"shape  train.py:{SHORT_LINE}" in text, text)
    report.check("it says what to do", "Pad to a fixed shape" in text, text)
    report.check("it is refused each time", "again FAILED_PRECONDITION" in text, text)
    events = stage.events()
    drift = of_kind(events, "drift")
    report.equal("the journal has it", [event["verdict"] for event in drift], ["refused", "refused"])
    programs = {event["program"] for event in drift}
    touched = [event["event"] for event in of_kind(events, "compile", "load", "miss")
               if event["program"] in programs]
    report.equal("nothing is looked up or compiled", touched, [])
    why = stage.keel("why")
    report.check("keel why counts and explains it",
                 "2 programs refused" in why.out and f"train.py:{SHORT_LINE}" in why.out, why.out)


CONSTANT = '''
import sys, jax, numpy as np
def step(x): return x * float(sys.argv[1])
jax.jit(step)(np.ones(4, np.float32))
'''


def check_refused_and_known(stage):
    script, contract = stage.folder / "constant.py", stage.folder / "constant.contract"
    script.write_text(CONSTANT)
    stage.keel("contract", "record", "-o", contract, "--", PYTHON, script, "2")
    stage.keel("run", "--", PYTHON, script, "3")
    answer = stage.keel("run", "--contract", contract, "--on-drift=refuse", "--", PYTHON, script, "3")
    report.check("an earlier run that had the program does not hide the cause",
                 "  constant  constant.py:3  multiply  2 -> 3" in answer.err, told(answer))


def check_environment_alone(stage):
    answer = run([PYTHON, stage.script, "3", "short"], stage.environment | {
        "PJRT_NAMES_AND_LIBRARY_PATHS": f"keel:{LIBRARY}", "JAX_PLATFORMS": "keel", "KEEL_PLUGIN": str(PLUGIN),
        "PYTHONPATH": str(LIBRARY.parent / "keel" / "python"),
        "KEEL_CONTRACT": str(stage.contract), "KEEL_ON_DRIFT": "refuse"}, cwd=stage.folder)
    report.check("without keel run, the environment is enough", "refused FAILED_PRECONDITION" in answer.out,
                 told(answer))
    answer = run([PYTHON, stage.script, "3"], stage.environment | {
        "PJRT_NAMES_AND_LIBRARY_PATHS": f"keel:{LIBRARY}", "JAX_PLATFORMS": "keel", "KEEL_PLUGIN": str(PLUGIN),
        "PYTHONPATH": str(LIBRARY.parent / "keel" / "python"), "KEEL_CONTRACT": "no.contract"}, cwd=stage.folder)
    report.check("a contract that is not there is an error, not a run without it",
                 answer.code != 0 and "no.contract" in answer.err, told(answer))


def check_warned(stage):
    answer = stage.train(held(stage), "3", "short", "again")
    lines = [line for line in answer.err.splitlines() if "is not in keel.contract" in line]
    report.check("by default, drift is one line and the run goes on",
                 len(lines) == 1 and lines[0].startswith(f"keel: train.py:{SHORT_LINE}: jit_step: ") and
                 "done" in answer.out, told(answer))


def check_recorded(stage):
    before = stage.contract.read_text()
    answer = stage.train(held(stage, "--on-drift", "record"), "3", "short")
    after = stage.contract.read_text()
    report.check("record says nothing during the run and what it added after it",
                 "is not in" not in answer.err and "1 program added" in answer.err, told(answer))
    report.check("the contract has both sizes now", "batch['x'] f32[5|8,4]" in after, after)
    answer = stage.train(held(stage, "--on-drift", "refuse"), "3", "short", "eval")
    report.check("what was recorded passes, and so does what was there before", "done" in answer.out, answer.out)
    answer = stage.train(held(stage, "--on-drift", "record"), "3", "short")
    report.equal("a second recording changes nothing", stage.contract.read_text(), after)
    stage.contract.write_text(before)


def check_scopes(stage):
    before = stage.contract.read_text()
    for scope, drift, words, wanted in (("allow", "refuse", ("3", "short"), "done"),
                                        ("refuse", "warn", ("3", "short"), "refused"),
                                        ("warn", "refuse", ("3", "short"), "done")):
        text = before.replace("entry jit_step\n", f"entry jit_step\n  scope {scope}\n")
        stage.contract.write_text(text)
        answer = stage.train(held(stage, "--on-drift", drift), *words)
        report.check(f"an entry's scope {scope} is stronger than {drift}", wanted in answer.out,
                     told(answer) + answer.out)
    stage.contract.write_text(before)


def check_freeze(stage):
    answer = stage.train(["--freeze-after", "2"], "3", "short", "again")
    report.check("after so many steps, a new program is refused",
                 "refused FAILED_PRECONDITION: keel: jit_step: a new program after programs were frozen (after step 2)"
                 in answer.out and "shape  train.py" in answer.out and "again FAILED" in answer.out, answer.out + told(answer))
    answer = stage.train(["--freeze-after", "20"], "3", "short", "eval")
    report.check("not before", "done" in answer.out, answer.out)
    answer = stage.train(["--freeze-after", "2", "--on-drift", "warn"], "3", "short")
    report.check("or it is a line", "done" in answer.out and "a new program after" in answer.err, told(answer))
    answer = stage.train([], "3", "freeze", "allowed", "eager", "short")
    report.check("keel.freeze() from code; keel.allowed() lets programs in",
                 "batch(5)" not in answer.out and "refused" in answer.out and "frozen (after step 3)" in answer.out,
                 answer.out + told(answer))
    answer = stage.train([], "3", "freeze", "allowed", "eager")
    report.check("what is allowed passes, and so do operations outside jit", "done" in answer.out, answer.out)
    answer = stage.train(held(stage, "--on-drift", "refuse"), "3", "freeze", "eval")
    report.check("a listed program that comes late is not drift: the warm-up did not run it",
                 "jit_evaluate: keel.contract allows it" in answer.out and
                 "the warm-up did not run it" in answer.out, answer.out + told(answer))


# What is held in code: whether the step with 5 rows, then with 8 rows, is refused.
HOLD = '''
import sys
import jax
import keel
from train import batch, step, w
def attempt(rows):
    try:
        step(w, batch(rows))
        return "passes"
    except jax.errors.JaxRuntimeError as error:
        return "refused" if "is not in keel.contract" in str(error) else str(error)
with keel.contract("keel.contract"):
    print(attempt(5), attempt(8))
    with keel.contract("keel.contract", on_drift="warn"):
        print(attempt(6))
    with keel.allowed():
        print(attempt(7))
    print(attempt(4))
print(attempt(5))
for path, drift in (("none.contract", "refuse"), ("keel.contract", "stop")):
    try:
        with keel.contract(path, drift):
            print("held")
    except ValueError as error:
        print("ValueError", str(error).split(":")[0].rpartition("/")[2])
'''


def check_code(stage):
    (stage.folder / "hold.py").write_text(HOLD)
    answer = stage.keel("run", "--quiet", "--", PYTHON, "hold.py", "0")
    report.equal("keel.contract() holds what is inside",
                 answer.out.splitlines()[1:],
                 ["refused passes", "passes", "passes", "refused", "passes", "ValueError none.contract",
                  "ValueError on_drift"])
    report.check("with a warning if that is asked for", answer.err.count("f32[6,4] is not in keel.contract") == 1,
                 told(answer))
    answer = run([PYTHON, "hold.py", "0"], stage.environment | {
        "PYTHONPATH": str(LIBRARY.parent / "keel" / "python"), "JAX_PLATFORMS": "cpu"}, cwd=stage.folder)
    report.check("without Keel it is an error with the next step", answer.code == 1 and
                 "RuntimeError: this process does not run through Keel" in answer.err and "keel run" in answer.err,
                 told(answer))


def check_bad(stage):
    text = stage.contract.read_text()
    marked = stage.folder / "marked.contract"
    marked.write_text(text.replace("entry jit_step\n", "<<<<<<< HEAD\nentry jit_step\n"))
    cases = [(["--contract", marked], "marked.contract:"), (["--contract", "none.contract"], "none.contract"),
             (["--on-drift", "stop"], "--on-drift: 'stop' is unknown; use warn, refuse or record"),
             (["--on-drift", "record"], "name the contract"),
             (["--contract", stage.contract, "--mode", "off"], "mode is off"),
             (["--freeze-after", "soon"], "--freeze-after: 'soon' is not a number of steps")]
    for options, wanted in cases:
        answer = stage.train(options, "1")
        lines = answer.err.strip().splitlines()
        report.check(f"{' '.join(map(str, options[-2:]))[-40:]} is one line, before the command starts",
                     answer.code == 2 and len(lines) == 1 and wanted in lines[0] and not answer.out, told(answer))


def check_rehearsed(stage):
    target = ["--on", "cpu:1", "--compile", "none"]
    answer = stage.train([*target, *held(stage, "--on-drift", "refuse")], "3", "eval", command="rehearse")
    report.check("a rehearsal holds to the contract of a real run", "done" in answer.out, told(answer) + answer.out)
    answer = stage.train([*target, *held(stage, "--on-drift", "refuse")], "3", "short", command="rehearse")
    report.check("and is refused what leaves it", "refused FAILED_PRECONDITION" in answer.out,
                 told(answer) + answer.out)


def main():
    with Workspace("enforcement") as space:
        stage = Stage(space)
        answer = stage.keel("contract", "record", "-o", stage.contract, "--", PYTHON, stage.script, "3", "eval")
        report.check("a run is recorded", answer.code == 0 and stage.contract.exists(), told(answer))
        for check in (check_listed, check_refused, check_refused_and_known,
                      check_environment_alone, check_warned, check_recorded,
                      check_scopes, check_freeze, check_code, check_bad, check_rehearsed):
            check(stage)
    report.finish()


main()
