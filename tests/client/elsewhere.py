"""Executables that JAX loads by itself: from its own cache, a pickle, a step that was compiled ahead.
No gate passes because it did not see them, whether Keel handed out their bytes or not."""

import shutil

from harness import (KEEL, PLUGIN, PYTHON, Report, Workspace, bare_environment, executions, journal,
                     of_kind, run, run_environment)

report = Report()

# A program by its rows and the constant inside it: the second changes no argument.
PROGRAM = '''
import os, pickle, sys
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import serialize_executable as se

def program(scale):
    def step(w, x):
        return w - scale * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w)))(w)
    return jax.jit(step)

def arguments(rows):
    return np.ones((4, 4), np.float32), np.ones((rows, 4), np.float32)

def name(way, rows, scale):
    return f"{way}-{rows}-{scale}"

def made(way, rows, scale):
    compiled = program(scale).lower(*arguments(rows)).compile()
    payload = se.serialize(compiled)
    # A trainer keeps the bytes and makes the trees of its own state.
    with open(name(way, rows, scale), "wb") as file:
        pickle.dump(payload if way == "pickle" else payload[0], file)

def loaded(way, rows, scale):
    with open(name(way, rows, scale), "rb") as file:
        payload = pickle.load(file)
    if way == "step":
        _, in_tree = jax.tree_util.tree_flatten((arguments(rows), {}))
        _, out_tree = jax.tree_util.tree_flatten(arguments(rows)[0])
        payload = payload, in_tree, out_tree
    return se.deserialize_and_load(*payload)

def ran(way, rows, scale):
    step = program(scale) if way in ("cache", "none") else loaded(way, rows, scale)
    w, x = arguments(rows)
    for _ in range(3):
        w = np.asarray(step(w, x))
    return float(w.sum())

do, way, words = sys.argv[1], sys.argv[2], sys.argv[3:]
asked = [(int(word.split(":")[0]), float(word.split(":")[1])) for word in words]
if do == "make":
    for rows, scale in asked:
        made(way, rows, scale) if way in ("pickle", "step") else ran(way, rows, scale)
else:
    for at, (rows, scale) in enumerate(asked):
        try:
            print("ran", ran(way, rows, scale))
        except Exception as error:
            print("refused", str(error).splitlines()[0])
            sys.exit(5)
        if do == "freeze" and at == 0:
            import keel
            keel.freeze()
'''
BASE, CONSTANT, SHAPE = "8:0.5", "8:0.25", "5:0.5"
WAYS = ("cache", "pickle", "step")


class Stage:
    def __init__(self, space):
        self.client = ""  # whose rows these are
        self.folder = space.path("stage")
        self.folder.mkdir()
        self.script = self.folder / "program.py"
        self.script.write_text(PROGRAM)
        self.contract = self.folder / "keel.contract"
        self.cache = self.folder / "cache"
        self.environment = run_environment(self.cache, self.folder / "runs") | {
            "KEEL_PLUGIN": str(PLUGIN), "KEEL_PREFETCH": "off",
            "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_COMPILATION_CACHE_DIR": str(self.folder / "jax"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}

    def keel(self, options, do, way, *asked, command="run", **more):
        own = {"KEEL_CLIENT_CACHE": "keep" if way == "cache" else "off"}
        return run([KEEL, *command.split(), *options, "--", PYTHON, self.script, do, way, *asked],
                   self.environment | own | more, cwd=self.folder)

    def events(self):
        newest = max(path.name for path in (self.folder / "runs").glob("2*"))
        return journal(self.folder / "runs", newest)

    def check(self, way, asked):
        return self.keel(["--contract", self.contract], "run", way, asked, command="contract check")

    def forget(self):
        """Keel does not know any more what it handed out."""
        shutil.rmtree(self.cache / "handed", ignore_errors=True)


def loads(stage, tier):
    return [event for event in of_kind(stage.events(), "load")
            if event["name"] == "jit_step" and event["tier"] == tier]


def table(stage, way, origin):
    """What each gate says of a program that it should know, and of two that it should not."""
    where = f"{stage.client}{way}, {origin}"
    tier = "client" if origin == "known" else "elsewhere"
    answers = {asked: stage.check(way, asked) for asked in (BASE, CONSTANT, SHAPE)}
    expected = ({BASE: 0, CONSTANT: 1, SHAPE: 1} if origin == "known"
                else {BASE: 4, CONSTANT: 4, SHAPE: 1})
    for asked, wanted in expected.items():
        answer = answers[asked]
        report.check(f"{where}: check of {asked} ends with {wanted}", answer.code == wanted, answer)
        report.equal(f"{where}: only what holds says so: {asked}", "holds:" in answer.out, wanted == 0)
    report.check(f"{where}: the program that was loaded is named",
                 origin == "known" or "jit_step was loaded from elsewhere" in answers[BASE].out,
                 answers[BASE].out)
    seen = loads(stage, tier)
    report.check(f"{where}: the load is journalled with its line and who did it",
                 len(seen) == 1 and seen[0]["site"]["file"] == str(stage.script)
                 and seen[0]["by"].startswith(("JAX's own cache" if way == "cache" else "jax.exp")), seen)
    total = executions(stage.events()).get(seen[0]["program"], 0) if seen else 0
    report.equal(f"{where}: its executions are counted", total, 3)
    stats = run([KEEL, "stats"], stage.environment, cwd=stage.folder)
    report.check(f"{where}: stats know it",
                 "  steps       3" in stats.out and "jit_step" in stats.out
                 and ("loaded from elsewhere" in stats.out) == (origin != "known"), stats.out)
    answer = stage.keel(["--contract", stage.contract, "--on-drift", "refuse"], "run", way, CONSTANT)
    report.check(f"{where}: refuse lets {CONSTANT} not pass", answer.code == 5 and
                 "refused" in answer.out and "ran" not in answer.out, answer)
    answer = stage.keel([], "freeze", way, BASE, CONSTANT)
    report.check(f"{where}: a freeze refuses what is new", answer.code == 5
                 and answer.out.count("ran") == 1 and "frozen" in answer.out, answer)


def smoke(stage, way):
    wanted = 0 if way == "cache" else 4  # JAX's own cache is off there
    answer = stage.keel([], "run", way, BASE, command="smoke")
    report.check(f"{way}: smoke ends with {wanted}", answer.code == wanted
                 and ("not checked" in answer.out) == (wanted == 4), answer)


def recorded_warm(stage):
    """A contract of a run that loads from elsewhere lists the optimized programs."""
    stage.forget()
    answer = stage.keel(["-o", stage.folder / "warm"], "run", "pickle", BASE, command="contract record")
    report.check(f"{stage.client}what comes from elsewhere can be recorded, with a word about it",
                 answer.code == 0 and "loaded from elsewhere" in answer.err, answer)
    for asked, wanted in ((BASE, 0), (CONSTANT, 4), (SHAPE, 1)):
        answer = stage.keel(["--contract", stage.folder / "warm"], "run", "pickle", asked,
                            command="contract check")
        report.check(f"{stage.client}the same optimized program is the same: {asked} ends with {wanted}",
                     answer.code == wanted, answer)


def made_without_keel(stage):
    """A step that was compiled where Keel was not."""
    environment = bare_environment() | {"JAX_PLATFORMS": "keel"}
    answer = run([PYTHON, stage.script, "make", "step", BASE], environment, cwd=stage.folder)
    report.check("a step is compiled ahead without Keel", answer.code == 0, answer)
    answer = stage.check("step", BASE)
    report.check("it is not checked, and runs", answer.code == 4 and "not checked" in answer.out, answer)
    same = [stage.keel([], "run", way, BASE).out for way in ("none", "step")]
    report.check("it computes the same", same[0] == same[1] != "", same)


def no_program(stage):
    nothing = [PYTHON, "-c", "print('no program')"]
    for command, options in (("contract check", ["--contract", stage.contract]), ("smoke", []),
                             ("run", ["--contract", stage.contract, "--on-drift", "refuse"]),
                             ("run", ["--freeze-after", "2"])):
        answer = run([KEEL, *command.split(), *options, "--", *nothing], stage.environment,
                     cwd=stage.folder)
        report.check(f"{command} {' '.join(map(str, options[2:]))}: no program is no pass",
                     answer.code == 4 and "holds" not in answer.out, answer)
    answer = run([KEEL, "run", "--", *nothing], stage.environment, cwd=stage.folder)
    report.equal("without a gate it is the command's own code", answer.code, 0)


def behind_own_client(stage):
    """JAX's own client for CPU, which has no plugin."""
    del stage.environment["KEEL_PLUGIN"]
    stage.client, stage.cache = "JAX's own client: ", stage.folder / "own"
    stage.environment |= {"KEEL_JAX_CPU": "own", "KEEL_CACHE_DIR": str(stage.cache),
                          "JAX_COMPILATION_CACHE_DIR": str(stage.folder / "jax-own")}
    stage.keel(["-o", stage.contract], "run", "none", BASE, command="contract record")
    for way in ("cache", "pickle"):
        stage.keel([], "make", way, BASE, CONSTANT, SHAPE)
    for way in ("cache", "pickle"):
        table(stage, way, "known")
    stage.forget()
    for way in ("cache", "pickle"):
        table(stage, way, "elsewhere")
    recorded_warm(stage)


def own_cache(stage):
    """However a script switches JAX's cache on."""
    ways = {"the environment": "", "jax.config": "jax.config.update('jax_compilation_cache_dir', 'jax-b')",
            "set_cache_dir": "from jax.experimental.compilation_cache import compilation_cache as c\n"
                             "c.set_cache_dir('jax-b')",
            "after a compile": "jax.jit(lambda x: x - 1)(1.0)\n"
                               "jax.config.update('jax_compilation_cache_dir', 'jax-b')\n"
                               "jax.config.update('jax_enable_compilation_cache', True)"}
    for name, line in ways.items():
        script = stage.folder / "switch.py"
        script.write_text(f"import jax\n{line}\nprint(jax.jit(lambda x: x + 1)(1.0))\n")
        named = {"JAX_COMPILATION_CACHE_DIR": str(stage.folder / "jax-b") if not line else ""}
        commands = [("run", [])] + ([] if line else [("rehearse", ["--on", "cpu:1"])])
        for command, options in commands:
            shutil.rmtree(stage.folder / "jax-b", ignore_errors=True)
            answer = run([KEEL, command, *options, "--", PYTHON, script], stage.environment | named,
                         cwd=stage.folder)
            report.check(f"{command}: JAX's cache is off, with one line: {name}", answer.code == 0
                         and answer.err.count("JAX's own cache") == 1
                         and not (stage.folder / "jax-b").exists(), answer)
    for setting in ("KEEL_CLIENT_CACHE=keep", "KEEL_MODE=off", "KEEL_MODE=readonly"):
        shutil.rmtree(stage.folder / "jax-b", ignore_errors=True)
        key, _, value = setting.partition("=")
        answer = run([KEEL, "run", "--", PYTHON, script], stage.environment | named | {key: value},
                     cwd=stage.folder)
        report.check(f"it stays with {setting}", "JAX's own cache" not in answer.err
                     and any((stage.folder / "jax-b").iterdir()), answer)


with Workspace("elsewhere") as space:
    stage = Stage(space)
    answer = stage.keel(["-o", stage.contract], "run", "none", BASE, command="contract record")
    report.check("a contract of the traced program", answer.code == 0, answer)
    for way in WAYS:
        answer = stage.keel([], "make", way, BASE, CONSTANT, SHAPE)
        report.check(f"{way}: three programs are made through Keel", answer.code == 0, answer)
    for way in WAYS:
        table(stage, way, "known")
    stage.forget()
    for way in WAYS:
        table(stage, way, "elsewhere")
        smoke(stage, way)
    recorded_warm(stage)
    made_without_keel(stage)
    no_program(stage)
    own_cache(stage)
    behind_own_client(stage)
report.finish()
