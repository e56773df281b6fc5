"""What `keel run` says of recompiles while the command runs: the script itself reads what was said on
stderr before it ends."""

import re

from harness import KEEL, PLUGIN, PYTHON, Report, Workspace, finish, run_environment, start, told

report = Report()

# Recompiles in each step of `late`, and waits until these recompiles are explained and as many lines
# were said as are wanted.
SCRIPT = '''
import glob, os, re, subprocess, sys, time
import jax, jax.numpy as jnp, numpy as np
late, wanted = eval(sys.argv[1]), int(sys.argv[2])
children = [subprocess.Popen([sys.executable, sys.argv[0], sys.argv[1], "0"]) for _ in range(int(sys.argv[3]))
            ] if len(sys.argv) > 3 else []
@jax.jit
def step(x):
    return jnp.tanh(x).sum()
for number in range(1, 41):
    step(np.ones(number if number in late else 64, np.float32))
for child in children:
    child.wait()
def said():
    return len(re.findall("^keel: step .*recompile", open(os.environ["SAID"]).read(), re.M))
def explained():
    files = glob.glob(os.environ["KEEL_RUN_DIR"] + "/" + os.environ["KEEL_RUN_ID"] + "/.*.explained")
    return sum(line.count('"recompile":true') for name in files for line in open(name))
end = time.monotonic() + 100
while (said() < wanted or explained() < len([n for n in late if n > 1])) and time.monotonic() < end:
    time.sleep(0.05)
print("before the end:", said())
'''


# What ran before the first step leads until then. The recompile is in step 41.
AFTER = '''
import os, re, sys, time
import jax, jax.numpy as jnp, numpy as np
@jax.jit
def initialize():
    return jnp.ones(16)
@jax.jit
def step(w, x):
    return w - jnp.tanh(x).sum()
w = initialize() if sys.argv[1] == "jit" else jnp.ones(16)
for number in range(1, 42):
    w = step(w, np.ones(41 if number > 40 else 64, np.float32))
w.block_until_ready()
def said():
    return len(re.findall("^keel: step .*recompile", open(os.environ["SAID"]).read(), re.M))
end = time.monotonic() + 100
while said() < int(sys.argv[2]) and time.monotonic() < end:
    time.sleep(0.05)
print("before the end:", said())
'''


def lines(text):
    """What was said of recompiles, without how long they took."""
    return [re.sub(r", [\d.]+ m?s: ", ", ", line) for line in text.splitlines()
            if re.match(r"keel: (step|\d+ more)", line)]


def execute(space, name, late, wanted, *more, options=("--plugin", PLUGIN), script="script.py", **variables):
    said = space.path(f"{name}.err")
    environment = run_environment(space.path(f"cache-{name}"), space.runs, SAID=str(said), **variables)
    with said.open("w") as errors:
        process = start([KEEL, "run", *options, "--", PYTHON, space.path(script), late, wanted,
                         *more], environment, stderr=errors)
        answer = finish(process)
    answer = answer._replace(err=said.read_text())
    report.check(f"{name}: it ran", answer.code == 0, told(answer, 8))
    report.check(f"{name}: said before the end", f"before the end: {wanted}" in answer.out, answer.out)
    return lines(answer.err), answer


def line(step, old, new):
    return f"keel: step {step}: recompiled jit_step, script.py:11 shape x f32[{old}] -> f32[{new}]"


def main():
    with Workspace("warnings") as space:
        space.path("script.py").write_text(SCRIPT)
        said, _ = execute(space, "steady", "{20}", 1)
        report.equal("a recompile of a steady run: one line",
                     [text.replace(f"{space.folder}/", "") for text in said], [line(20, 64, 20)])
        space.path("after.py").write_text(AFTER)
        for before, client in ("jit", "plugin"), ("eager", "plugin"), ("jit", "own"), ("eager", "own"):
            name = f"after-{before}-{client}"
            options = ["--plugin", PLUGIN] if client == "plugin" else ["--jax-cpu", "own"]
            said, _ = execute(space, name, before, 1, options=options, script="after.py")
            report.equal(f"{name}: one line, though something else ran before the steps",
                         [text.replace(f"{space.folder}/", "") for text in said],
                         ["keel: step 41: recompiled jit_step, after.py:12 shape x f32[64] -> f32[41]"])
        said, _ = execute(space, "more", "{10, 15, 20, 25, 30}", 3)
        report.equal("five within a minute: three lines", len(said), 3)
        said, _ = execute(space, "never", "range(1, 41)", 1)
        report.equal("a run that never is steady: one line", len(said), 1)
        report.check("it says how many there were", "5 recompiles so far, the last of jit_step" in said[0], said)
        said, _ = execute(space, "job", "{20}", 1, 2)
        report.equal("processes of a job that do the same: one line", len(said), 1)
        for name, options, variables in (("quiet", ["--plugin", PLUGIN, "--quiet"], {}),
                                         ("off", ["--plugin", PLUGIN, "--warn", "off"], {}),
                                         ("variable", ["--plugin", PLUGIN], {"KEEL_WARN": "off"})):
            said, _ = execute(space, name, "{20}", 0, options=options, **variables)
            report.equal(f"{name}: nothing is said", said, [])
    report.finish()


if __name__ == "__main__":
    main()
