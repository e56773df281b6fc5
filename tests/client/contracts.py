"""Contracts and smoke tests with real JAX: a run is recorded and holds to its contract, warm, cold and rehearsed;
each accident of the GPT example leaves it, with the cause and the line that `keel why` has."""

import json
import os
import re
import xml.etree.ElementTree

from harness import (KEEL, PYTHON, ROOT, Report, Workspace, clean_environment, run, told, whole_json)

report = Report()

GPT = [ROOT / "examples" / "jax" / "train_gpt.py", "--layers", "1", "--width", "64", "--seq", "16",
       "--epoch", "21", "--steps", "4"]  # batches of 8, 8 and 5 rows

# Host callbacks, two functions of one name, a function that jax.jit gives no name, operations by
# themselves.
CALLBACKS = '''
import jax, jax.numpy as jnp, numpy as np
def make(power):
    def step(x):
        jax.debug.print("sum {}", x.sum())
        return jax.pure_callback(lambda a: np.asarray(a) * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x) ** power
    return jax.jit(step)
one, two = make(2), make(3)
for n in range(3):
    x = one(np.ones(4, np.float32)) + two(np.ones(4, np.float32))
print(jax.jit(lambda a: a.sum())(jnp.sin(x)))
'''


# Its first program is another one in each process.
UNSTABLE = '''
import os, sys, jax, numpy as np
step = jax.jit(lambda x: x * float(os.getpid() if len(sys.argv) < 2 else 3))
other = jax.jit(lambda x: x + 1)
step(np.ones(4, np.float32)), other(np.ones(int(sys.argv[2]) if len(sys.argv) > 2 else 4, np.float32))
print("ran", os.environ["KEEL_SMOKE"], os.environ.get("XLA_FLAGS"))
'''


# Two functions that are one program, each on devices of its own; every process has others.
PLACED = '''
import sys, jax, numpy as np
devices = jax.local_devices()[:int(sys.argv[1])]
def once(x): return x * 2
def other(x): return x * 2
one, other = jax.jit(once), jax.jit(other)
for step in range(4):
    one(jax.device_put(np.ones(4, np.float32), devices[0]))
    for device in devices[1:]:
        other(jax.device_put(np.ones(4, np.float32), device))
'''


class Stage:
    """A folder with a cache, runs and contracts."""

    def __init__(self, space, name):
        self.folder = space.path(name)
        self.folder.mkdir()
        self.environment = clean_environment() | {
            "KEEL_CACHE_DIR": str(self.folder / "cache"), "KEEL_RUN_DIR": str(self.folder / "runs"),
            "KEEL_CONFIG": os.devnull, "KEEL_QUIET": "1"}

    def keel(self, *words, **more):
        return run([KEEL, *words], self.environment | more, cwd=self.folder)

    def record(self, name, *words, options=()):
        return self.keel("contract", "record", "-o", name, *options, "--", PYTHON, *words)

    def check(self, name, *words, options=(), **more):
        return self.keel("contract", "check", "--contract", name, *options, "--", PYTHON, *words, **more)

    def checked(self, name, *words, options=(), **more):
        """The exit code and the answer as JSON."""
        answer = self.check(name, *words, options=["--json", *options], **more)
        try:
            return answer.code, json.loads(answer.out)
        except ValueError:
            report.check("a check answers in JSON", False, told(answer))
            return answer.code, {"left": [], "missing": [], "programs": 0}

    def why(self):
        return whole_json(self.keel("why", "--all", "--json"))


REHEARSED = ["--on", "cpu:4", "--compile", "none"]


def check_the_same(stage):
    answer = stage.record("keel.contract", *GPT)
    text = (stage.folder / "keel.contract").read_text()
    report.check("a run is recorded", answer.code == 0 and "4 programs of 3 entry points" in answer.out,
                 told(answer))
    report.check("with its arguments and sizes",
                 "takes params['embed'] f32[256,64] donated" in text
                 and "takes batch i32[5|8,17]" in text and "settled step 3" in text, text)
    report.equal("operations outside jit are not listed", re.findall("^entry (.*)$", text, re.MULTILINE),
                 ["jit_adamw_init", "jit_init_params", "jit_train_step"])
    for name, options in (("loaded from the cache", []), ("without a cache", ["--cache-dir", "fresh"]),
                          ("rehearsed on as many devices", ["--on", "cpu:1", "--compile", "none"]),
                          ("rehearsed on more", REHEARSED)):
        code, found = stage.checked("keel.contract", *GPT, options=options)
        report.check(f"the same run holds, {name}", (code, found["programs"], found["left"],
                     found["missing"]) == (0, 4, [], []), found)
    answer = stage.record("again.contract", *GPT, options=REHEARSED)
    pins = [re.findall(r"pin \w+", (stage.folder / name).read_text())
            for name in ("keel.contract", "again.contract")]
    report.check("a rehearsal records the same pins", answer.code == 0 and pins[0] == pins[1], pins)
    answer = stage.record("keel.contract", *GPT)
    report.equal("recorded again, the contract is the same", (stage.folder / "keel.contract").read_text(), text)


def check_accidents(stage):
    """Each accident leaves, as `keel why` has it, and so it does in a rehearsal."""
    for flags, entry in ((["--epoch", "19"], "jit_train_step"), (["--batch", "4"], "jit_train_step"),
                         (["--seq", "12"], "jit_init_params"), (["--width", "128"], "jit_init_params"),
                         (["--layers", "2"], "jit_adamw_init")):
        name = " ".join(flags)
        code, found = stage.checked("keel.contract", *GPT, *flags, options=REHEARSED)
        report.check(f"{name} leaves", code == 1 and not found["holds"]
                     and entry in [left["entry"] for left in found["left"]], found)
        causes = {item["program"]: item for item in stage.why()}
        for left in found["left"]:
            cause = causes.get(left["program"], {})
            if not left["kind"]:
                report.check(f"{name}: {left['entry']} is new to `keel why` too",
                             cause.get("kind") in ("first", "unrelated"), cause)
                continue
            report.equal(f"{name}: {left['entry']} has the cause that `keel why` has",
                         [left[field] for field in ("kind", "subject", "old", "new", "line", "advice")],
                         [cause[field] for field in ("kind", "subject", "old", "new", "line")]
                         + [cause["advice"]["jax"] if isinstance(cause["advice"], dict) else cause["advice"]])
    for flags in (["--learning-rate", "0.1"], ["--seed", "3"], ["--steps", "9"]):
        code, found = stage.checked("keel.contract", *GPT, *flags, options=REHEARSED)
        report.check(f"{' '.join(flags)} is not an accident", code == 0 and not found["left"], found)


def check_files(stage):
    """A real run that leaves, and what CI reads."""
    answer = stage.check("keel.contract", *GPT, "--epoch", "19",
                         options=["--junit", "it.xml", "--sarif", "it.sarif", "--annotations"])
    line = next((number for number, text in enumerate(GPT[0].read_text().splitlines(), 1)
                 if "= train_step(" in text), 0)
    report.check("a run that leaves ends with 1", answer.code == 1, told(answer))
    report.check("an annotation is at the line of the step", re.search(
        rf"^::error file=\S*train_gpt.py,line={line},title=keel contract::jit_train_step: batch "
        r"i32\[3,17\] is not in keel.contract \(listed: i32\[5\|8,17\]\)", answer.out, re.MULTILINE), told(answer))
    tests = xml.etree.ElementTree.parse(stage.folder / "it.xml").getroot().iter("testcase")
    report.equal("JUnit has a test for each entry", {test.get("name"): len(test.findall("failure"))
                 for test in tests}, {"jit_adamw_init": 0, "jit_init_params": 0, "jit_train_step": 1})
    results = json.loads((stage.folder / "it.sarif").read_text())["runs"][0]["results"]
    report.equal("SARIF has a result", [(result["ruleId"], result["locations"][0]["physicalLocation"]
                 ["region"]["startLine"]) for result in results], [("shape", line)])
    answer = stage.keel("contract", "update", "--only", "jit_train_step", "keel.contract", "--from", "latest")
    answer = stage.keel("contract", "check", "--contract", "keel.contract", "--from", "latest")
    report.equal("what was taken over holds", answer.code, 0)


def check_flags(stage):
    answer = stage.record("flags.contract", *GPT, options=REHEARSED)
    flags = "--xla_cpu_enable_fast_math=true"
    code, found = stage.checked("flags.contract", *GPT, options=REHEARSED, XLA_FLAGS=flags)
    report.check("a flag that was toggled leaves", answer.code == 0 and code == 1
                 and all("other compile options" in left["message"] for left in found["left"]), found)
    (stage.folder / "config").write_text(f"profile.fast = {flags}")
    fast = {"KEEL_CONFIG": str(stage.folder / "config"), "KEEL_PROFILE": "fast"}
    answer = stage.check("flags.contract", *GPT, options=REHEARSED, **fast)
    report.check("so does a flag profile, which is named", answer.code == 1
                 and "flag profile: the contract was made with none, this run had fast" in answer.out, told(answer))
    answer = stage.keel("contract", "record", "-o", "fast.contract", "--from", "latest")
    report.check("and recorded", "\nprofile fast\n" in (stage.folder / "fast.contract").read_text(), told(answer))
    code, found = stage.checked("fast.contract", *GPT, options=[*REHEARSED, "--profile", "fast"],
                                KEEL_CONFIG=fast["KEEL_CONFIG"])
    report.check("with it the run holds", code == 0 and not found["left"], found)
    code, found = stage.checked("flags.contract", *GPT, options=REHEARSED,
                                XLA_FLAGS="--xla_dump_to=nowhere")
    report.check("one that only writes dumps does not", code == 0, found)


def check_machine(stage):
    """Any machine may run a contract's programs, unless it lists the machine too."""
    answer = stage.record("machine.contract", *GPT, options=["--with-machine", *REHEARSED])
    text = (stage.folder / "machine.contract").read_text() if answer.code == 0 else ""
    code, found = stage.checked("machine.contract", *GPT, options=REHEARSED)
    report.check("a contract with its machine holds there", code == 0 and "\nmachine listed\n" in text
                 and not found["left"], f"{told(answer)} {found}")
    for name, options, more in (("on fewer devices", ["--on", "cpu:2", "--compile", "none"], {}),
                                ("with a variable that plugins read", REHEARSED, {"ONEDNN_DEFAULT_FPMATH_MODE": "BF16"})):
        code, found = stage.checked("machine.contract", *GPT, options=options, **more)
        report.check(f"{name} every program leaves", code == 1 and len(found["left"]) == found["programs"] == 4 and all(
            "or for another machine" in left["message"] for left in found["left"]), found)
    report.check("with the cause", {"kind": "flag", "subject": "ONEDNN_DEFAULT_FPMATH_MODE"}.items() <= found["left"][0].items(), found)
    answer = stage.keel("contract", "diff", "flags.contract", "machine.contract")
    report.check("a diff names it", "machine" in answer.out and "free" in answer.out, told(answer))


def check_callbacks(stage):
    (stage.folder / "callbacks.py").write_text(CALLBACKS)
    answer = stage.record("callbacks.contract", "callbacks.py")
    if not report.check("a program with host callbacks is recorded", answer.code == 0, told(answer)):
        return
    text = (stage.folder / "callbacks.contract").read_text()
    report.check("functions of one name share an entry",
                 text.count("entry jit_step") == 1 and text.count("    pin ") == 3, text)
    for name, options in (("again", []), ("without a cache", ["--cache-dir", "fresh"])):
        code, found = stage.checked("callbacks.contract", "callbacks.py", options=options)
        report.check(f"host callbacks hold {name}", code == 0 and not found["left"], found)


def check_commands(stage):
    """The command's own end counts."""
    (stage.folder / "fails.py").write_text("import jax; jax.jit(lambda x: x + 1)(1.0); raise SystemExit(7)")
    answer = stage.record("fails.contract", "fails.py")
    report.check("a command that fails is not recorded", answer.code == 7
                 and not (stage.folder / "fails.contract").exists(), told(answer))
    (stage.folder / "nothing.py").write_text("print('no client')")
    answer = stage.record("nothing.contract", "nothing.py")
    report.check("nor is one without a client", answer.code == 2
                 and not (stage.folder / "nothing.contract").exists(), told(answer))
    answer = stage.check("flags.contract", "fails.py")
    report.check("drift counts more than how the command ends", answer.code == 1, told(answer))


def check_placements(stage):
    """A process may have a program on as many sets of devices as the one that had it on most."""
    (stage.folder / "placed.py").write_text(PLACED)
    hosts = ["--on", "cpu:4/2", "--compile", "none"]
    answer = stage.record("placed.contract", "placed.py", "2", options=hosts)
    text = (stage.folder / "placed.contract").read_text() if answer.code == 0 else ""
    report.check("functions that share a program have it on one set each, however many processes there are",
                 text.count("    pin ") == 2 and "placements" not in text, f"{told(answer)} {text}")
    for devices in ("2", "1"):
        code, found = stage.checked("placed.contract", "placed.py", devices, options=hosts)
        report.check(f"{devices} devices in each process hold", code == 0 and not found["left"], found)
    answer = stage.keel("run", "--contract", "placed.contract", "--on-drift=refuse", "--cpu-devices", "2", "--", PYTHON,
                        "placed.py", "2")
    report.check("a run of one process is not refused", answer.code == 0, told(answer))
    code, found = stage.checked("placed.contract", "placed.py", "3", options=["--on", "cpu:4", "--compile", "none"])
    report.check("a third set of devices leaves, once", code == 1 and len(found["left"]) == 1, found)


def check_smoke(stage):
    (stage.folder / "unstable.py").write_text(UNSTABLE)
    (stage.folder / "tmp").mkdir()
    stage.environment["TMPDIR"] = str(stage.folder / "tmp")
    for name, options, again, nothing in (("smoke", [], "compiled 1", "compiled nothing"),
                                          ("a rehearsed smoke", ["--on", "cpu:1"], "asked for others: 1", "asked for the same")):
        answer = stage.keel("smoke", *options, "--", PYTHON, "unstable.py", "stable")
        report.check(f"{name} says that nothing changed", answer.code == 0
                     and f"smoke: 2 programs; the second run {nothing}\n" in answer.out, told(answer))
        answer = stage.keel("smoke", *options, "--", PYTHON, "unstable.py", XLA_FLAGS="--xla_cpu_enable_fast_math=true")
        report.check(f"{name} says how much changed", f"smoke: 2 programs; the second run {again}\n" in answer.out, told(answer))
        report.check(f"{name} names a program of its process alone", answer.code == 1
                     and re.search(r"^  jit__lambda  constant  unstable.py:3  multiply  \d+ -> \d+$", answer.out,
                                   re.MULTILINE), told(answer))
        report.check(f"{name} shows one run's output, without flags", answer.out.count("ran 1 None") == 1,
                     told(answer))
        answer = stage.keel("smoke", *options, "--json", "--vary", "size=5", "--vary", "flags=--xla_cpu_enable_fast_math=true",
                            "--", PYTHON, "unstable.py", "stable")
        found = json.loads(answer.out)
        report.check(f"{name} holds", answer.code == 0 and found["holds"] and found["programs"] == 2
                     and not found["runs"][1]["others"], found)
        report.equal(f"{name} tells what a variation changes",
                     [[(one["kind"], one["old"], one["new"]) for one in run["others"]] for run in found["runs"][2:3]],
                     [[("shape", "f32[4]", "f32[5]")]])
        report.equal(f"{name} tells what a flag changes", {one["kind"] for one in found["runs"][3]["others"]}, {"flag"})
        answer = stage.keel("smoke", *options, "--json", "--vary", "a=5", "--vary", "b=6", "--", PYTHON, "unstable.py", "stable")
        report.equal(f"{name} compares each variation with the command as it is",
                     [[(one["old"], one["new"]) for one in run["others"]] for run in json.loads(answer.out)["runs"][2:]],
                     [[("f32[4]", "f32[5]")], [("f32[4]", "f32[6]")]])
    answer = stage.keel("smoke", "--", PYTHON, "unstable.py", "stable", KEEL_MODE="readonly", KEEL_CACHE_LIMIT="1000")
    report.equal("smoke keeps programs whatever the settings", answer.code, 0)
    answer = stage.keel("smoke", "--vary", "bad=none", "--vary", "size=5", "--", PYTHON, "unstable.py", "stable")
    report.check("a variation that fails is named, and the others are compared", answer.code == 0
                 and "vary bad=none: the command ended with exit code 1\nvary size=5: 1 of 2 programs differs" in answer.out,
                 told(answer))
    answer = stage.keel("smoke", "--", PYTHON, "fails.py")
    report.equal("a command that fails ends it", answer.code, 7)
    report.check("nothing is left behind", not list((stage.folder / "tmp").glob("keel-smoke-*")))
    check_digests(stage)


def check_digests(stage):
    """The digest of the plugin's file is kept where other commands look for it; entries are not shared."""
    mine, everybodys = stage.folder / "mine", stage.folder / "everybodys"
    (everybodys / "plugins").mkdir(parents=True)
    (everybodys / "plugins").chmod(0o777)
    for name, cache, wanted in (("a smoke test leaves only the plugin's digest in the user's cache folder", mine, ["plugins"]),
                                ("and nothing where others can write", everybodys, [])):
        answer = stage.keel("smoke", "--on", "cpu:1", "--", PYTHON, "unstable.py", "stable", KEEL_CACHE_DIR=str(cache))
        kept = [path.relative_to(cache).parts[0] for path in cache.rglob("*") if path.is_file()]
        report.check(name, answer.code == 0 and kept == wanted, f"{told(answer)} {kept}")


def main():
    with Workspace("contracts") as space:
        stage = Stage(space, "it")
        check_the_same(stage)
        check_accidents(stage)
        check_flags(stage)
        check_machine(stage)
        check_files(stage)
        check_callbacks(stage)
        check_commands(stage)
        check_placements(stage)
        check_smoke(stage)
    report.finish()


main()
