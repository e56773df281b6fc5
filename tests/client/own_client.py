"""Behind JAX's own CPU client (`jax_cpu = own`): the numbers, exceptions and order are those of JAX
alone, cold and warm; what it compiles is stored, counted, explained and held to a contract."""

import json
import os
import shutil
import socket

from harness import (HERE, KEEL, PYTHON, ROOT, Report, Workspace, clean_environment, compiles, entries,
                     executions, finish, journal, last_json, loads, of_kind, run, start, told)

report = Report()
SCRIPT = HERE / "own_programs.py"
LINE = 1 + SCRIPT.read_text().splitlines().index(
    next(line for line in SCRIPT.read_text().splitlines() if line.endswith("# here")))


def environment(**more):
    return clean_environment() | {"KEEL_CONFIG": os.devnull, "TF_CPP_MIN_LOG_LEVEL": "3",
                                  "JAX_NUM_CPU_DEVICES": "4", **more}


class Runs:
    """A program below `keel run`, with a cache of its own."""

    def __init__(self, space, name):
        self.name, self.cache, self.runs = name, space.path("cache-" + name), space.path("runs-" + name)
        self.command = [PYTHON, SCRIPT, name]

    def start(self, *settings, **more):
        return start([KEEL, "run", "--jax-cpu", "own", "--cache-dir", self.cache, "--run-dir", self.runs,
                      *settings, "--", *self.command], environment(**more))

    def go(self, *settings, code=0, **more):
        before = set(self.runs.glob("*/journal.ndjson"))
        self.answer = finish(self.start(*settings, **more))
        report.check(f"{self.name}: the process ends with {code}", self.answer.code == code,
                     told(self.answer))
        self.events = [event for path in set(self.runs.glob("*/journal.ndjson")) - before
                       for event in journal(self.runs, path.parent.name)]
        return last_json(self.answer)

    def keel(self, *words):
        return run([KEEL, *words, "--run-dir", self.runs], environment())

    def executed(self, name):
        """Executions of the programs of that name, most first."""
        programs = {event["program"] for event in compiles(self.events) + loads(self.events)
                    if event["name"] == name}
        counts = executions(self.events)
        return sorted((counts.get(program, 0) for program in programs), reverse=True)


def check_same(space, name, stores=True):
    """Cold and warm, as JAX alone."""
    alone = run([PYTHON, SCRIPT, name], environment())
    wanted = last_json(alone)
    report.check(f"{name}: JAX alone has a result", wanted is not None, told(alone))
    runs = Runs(space, name)
    report.equal(f"{name}: cold", runs.go(), wanted)
    report.check(f"{name}: cold, programs are compiled", compiles(runs.events), told(runs.answer))
    report.equal(f"{name}: warm", runs.go(), wanted)
    if stores:
        report.equal(f"{name}: warm, nothing is compiled", compiles(runs.events), [])
    report.equal(f"{name}: mode off", runs.go("--mode", "off"), wanted)
    return runs


def check_training(space):
    runs = check_same(space, "train")
    runs.go()
    report.equal("train: executions of each program", runs.executed("jit_step"), [11, 2, 1])
    runs.go("--mode", "refresh")
    why = runs.keel("why").out
    report.check("train: a recompile has its line", f"own_programs.py:{LINE}" in why and "rows" in why
                 and "f32[4,8] -> f32[5,8]" in why, why)
    check_damage(runs)
    check_contract(runs)


def check_damage(runs):
    for path in entries(runs.cache).values():
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.chmod(0o600)
        path.write_bytes(data)
    result = runs.go()
    report.check("train: damaged entries are compiled again", len(compiles(runs.events)) > 3
                 and not loads(runs.events), len(compiles(runs.events)))
    report.equal("train: damaged entries change no number", result, runs.go())


def check_contract(runs):
    """Its own programs pass; one with other shapes does not."""
    contract = runs.cache.with_suffix(".contract")
    runs.go()
    newest = max(runs.runs.glob("*/journal.ndjson")).parent.name
    made = run([KEEL, "contract", "record", "--run-dir", runs.runs, "--from", newest, "-o", contract],
               environment())
    if not report.check("train: a contract is recorded", made.code == 0, told(made)):
        return
    held = ("--contract", contract, "--on-drift", "refuse")
    runs.go(*held)
    runs.command[-1] = "forked"
    runs.go(*held, code=1)
    report.check("forked: the contract of `train` refuses a program", "FAILED_PRECONDITION: keel: "
                 in runs.answer.err and "f32[7,8]" in runs.answer.err, told(runs.answer))


def check_never_stored(space):
    """What each process has to compile is said to be that, with nothing to change; addresses are no
    values, and within a process Keel tells other differences."""
    for name in "callbacks", "addressed":
        runs = check_same(space, name, stores=False)
        runs.go()
        why = runs.keel("why").out
        report.check(f"{name}: warm, programs are uncacheable", "uncacheable" in why, why)
        report.check(f"{name}: no other cause, and no advice that changes nothing",
                     "structure" not in why and "KEEL_CUSTOM_CALLS" not in why, why)
    report.check("addressed: another shape is one", "f32[8] -> f32[12]" in why, why)
    report.check("addressed: the same again is a retrace", "retrace" in why, why)


def check_processes(space):
    """Two processes that compute together, cold and warm, as JAX alone."""
    runs = Runs(space, "processes")
    through = [KEEL, "run", "--jax-cpu", "own", "--cache-dir", runs.cache, "--run-dir", runs.runs, "--"]
    wanted = [[40.0, 40.0, 12.0, 3.0, 3.0], [40.0, 40.0, 12.0, 4.0, 4.0]]
    for how, before in (("alone", []), ("cold", through), ("warm", through)):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        both = [start([*before, *runs.command, str(number), str(port)], environment(JAX_NUM_CPU_DEVICES="2"))
                for number in range(2)]
        answers = [finish(one) for one in both]
        report.equal(f"processes: {how}", list(map(last_json, answers)), wanted)
    events = [event for path in sorted(runs.runs.glob("*/journal.ndjson"))[-2:]
              for event in journal(runs.runs, path.parent.name)]
    report.equal("processes: warm, nothing is compiled", compiles(events), [])
    report.check("processes: warm, both load", len(loads(events)) >= 6, len(loads(events)))


def key_of(run_dir, program):
    answer = run([KEEL, "key", program, "--run-dir", run_dir, "--json"], environment())
    return json.loads(answer.out)["components"]["program"]


def check_constants(space):
    """Large constants stay beside their program, which has the key of the whole."""
    runs = check_same(space, "constants")
    result = runs.go()
    changed = runs.go(SEED="4")
    report.check("constants: one element makes another program", changed[:-1] == result[:-1]
                 and len(compiles(runs.events)) == 1, len(compiles(runs.events)))
    runs = Runs(space, "beside")
    sizes = [1_600_000, *[2_000_000] * 7]
    report.equal("beside: cold, each is made whole once", runs.go(), [5, True, sizes])
    keys = {event["program"]: event["components"]["program"] for event in of_kind(runs.events, "miss")}
    report.equal("beside: the key is that of the whole program",
                 {program: key_of(runs.runs, program) for program in keys}, keys)
    report.equal("beside: warm, none is made whole", runs.go(), [0, True, sizes])
    asked = {event["program"] for event in compiles(runs.events) + loads(runs.events)}
    report.check("beside: warm, they are the same programs", asked <= set(keys), asked - set(keys))
    report.equal("beside: a contract that allows all needs none whole",
                 runs.go("--on-drift", "warn"), [0, True, sizes])
    runs = Runs(space, "attributed")
    runs.go()
    report.equal("attributes of a constant are part of the program", len(compiles(runs.events)), 3)
    report.equal("Ctrl-C reaches the user, and leaves nothing behind", Runs(space, "interrupted").go(),
                 [["_texts_of", "_put_back"], 1000, 3.0])


def check_builds(space):
    """Python files and a library that are not of one build: JAX runs, with one line."""
    line = "import jax; print(float(jax.jit(lambda x: x + 1)(1.0)))"
    edits = {"version": ("_version.py", "version = ", "version = 'before ' + "),
             "layout": ("own_client.py", '("serialize", ', '("more", c_void_p), ("serialize", ')}
    for name, (file, old, new) in edits.items():
        package = space.path("python-" + name)
        shutil.copytree(ROOT / "python", package)
        edited = package / "keel" / file
        text = edited.read_text()
        assert old in text
        edited.write_text(text.replace(old, new))
        answer = run([KEEL, "run", "--jax-cpu", "own", "--cache-dir", space.path("builds"),
                      "--run-dir", space.path("builds"), "--", "env",
                      f"PYTHONPATH={package / 'keel' / 'site'}:{package}", PYTHON, "-c", line],
                     environment())
        report.check(f"builds: another {name} is said once, and JAX runs",
                     answer.code == 0 and "2.0" in answer.out
                     and answer.err.count("are not of one build") == 1, told(answer))


with Workspace("own-client") as space:
    check_builds(space)
    check_processes(space)
    check_training(space)
    check_never_stored(space)
    check_same(space, "devices")
    check_same(space, "threads")
    check_same(space, "forked")
    check_same(space, "errors")
    runs = check_same(space, "later")
    runs.go()
    report.equal("later: executions of each program", runs.executed("jit__lambda"), [2, 1, 1])
    check_same(space, "serialized")
    check_same(space, "dumped")
    check_same(space, "pickled")
    check_constants(space)
    runs = Runs(space, "left")  # a child of JAX alone ends by a signal
    report.equal("left: cold", runs.go(), 5)
    report.equal("left: warm", runs.go(), 5)
    runs = Runs(space, "stack")
    report.equal("stack: cold", runs.go(), [False, False])
    runs = Runs(space, "ended")
    report.equal("ended: cold", runs.go(), [True, True])
    report.equal("ended: warm", runs.go(), [True, True])
    runs = Runs(space, "counted")
    for heat in ("cold", "warm"):
        runs.go()
        report.equal(f"counted: {heat}, shared", runs.executed("jit_f"), [8, 4, 2])
        report.equal(f"counted: {heat}, without a name", runs.executed("jit__lambda"), [6, 5])
    runs = Runs(space, "frozen")
    for heat in ("cold", "warm"):
        kind, text = runs.go() or ("", "")
        report.check(f"frozen: {heat}, the new program is an error", kind == "JaxRuntimeError"
                     and "FAILED_PRECONDITION: keel: " in text and "f32[4,8] -> f32[9,8]" in text, text)
    runs = Runs(space, "leave")
    for heat in ("cold", "warm"):
        runs.go()
        report.check(f"leave: {heat}, the journal is complete", of_kind(runs.events, "end"),
                     told(runs.answer))
    report.check("leave: all is stored", len(entries(runs.cache)) >= 20, len(entries(runs.cache)))
report.finish()
