"""What a rehearsal does with the files that a trainer writes: by default none of them changes, and what would
have been written is said; a read of an array that no device computed can be refused, or said."""

import hashlib

from harness import KEEL, PYTHON, Report, Workspace, told
from stage import Stage

report = Report()
COMMAND = (PYTHON, "train.py")

# Goes on from its checkpoint, as trainers do. Line 10 reads what no device computes in a rehearsal.
TRAIN = '''
import os, sys, jax, jax.numpy as jnp, numpy as np
w, start = jnp.full((1024, 1024), .5), 0
if os.path.exists("w.npz"):
    w, start = jnp.asarray(np.load("w.npz")["w"]), int(np.load("w.npz")["step"])
@jax.jit
def step(w, x): return w - 1e-3 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
for n in range(start, start + 2):
    w = step(w, jnp.ones((64, 1024)))
np.savez("w.npz", w=np.asarray(w), step=start + 2)
print(start + 2, float(np.abs(np.load("w.npz")["w"]).sum()) > 0)
'''

# A loss in each step, and small arrays as a small model's checkpoint has them.
SMALL = '''
import sys, jax, jax.numpy as jnp, numpy as np
@jax.jit
def step(x):
    y = x
    for _ in range(3): y = y @ y
    return y, y.mean(), [y[n, :200] for n in range(8)]
x = np.ones((1024, 1024), np.float32)
for n in range(1500):
    x, loss, parts = step(x)
    if n % 10 == 0: print(float(loss))
print("logged")
[np.asarray(part) for part in parts]
print("saved")
'''


def digest(stage):
    path = stage.folder / "w.npz"
    return hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns


def train(stage):
    stage.script("train.py", TRAIN)
    answer = stage.keel("run", "--", *COMMAND)
    report.equal("a run saves", answer.out, "2 True\n")
    before = digest(stage)
    answer = stage.rehearse("cpu:1", "train.py", options=("--compile", "none"))
    report.check("a rehearsal reads back what it saves", answer.code == 0 and answer.out == "4 False\n",
                 told(answer))
    report.check("and says what it would have written",
                 "keel: would have written 1 file, 4.0 MiB, w.npz\n" in answer.err, told(answer))
    report.equal("but the checkpoint is what it was", digest(stage), before)
    written = stage.answer("stats")["rehearsal"]["written"]
    report.equal("stats have it", [written["files"], written["removed"], [g["path"] for g in written["groups"]]],
                 [1, 0, [str(stage.folder / "w.npz")]])
    answer = stage.rehearse("cpu:2", "train.py", options=("--compile", "none", "--writes", "refuse"))
    report.check("a refusal names the line and the choices", answer.code == 1 and "train.py:10 reads 4.0 MiB of "
                 "jit_step that no device computed" in answer.err and "--writes keep" in answer.err, told(answer))
    report.equal("and leaves the checkpoint", digest(stage), before)
    # A process that no `keel rehearse` prepared, as a service's, has nothing that protects its files.
    stage.script("apart.py", "import os, subprocess, sys\nos.environ['KEEL_REHEARSE_WRITES'] = 'discard mnt:[1]'\n"
                 "sys.exit(subprocess.call([sys.executable, 'train.py']))\n")
    answer = stage.rehearse("cpu:1", "apart.py", options=("--compile", "none"))
    report.check("outside of the view, reads are refused", answer.code == 1 and "train.py:10 reads" in answer.err,
                 told(answer))
    answer = stage.keel("run", "--", *COMMAND)
    report.equal("a run goes on from its own weights", answer.out, "4 True\n")
    before = digest(stage)
    answer = stage.rehearse("cpu:1", "train.py", options=("--compile", "none", "--writes", "keep"))
    report.check("who keeps it is warned once", answer.code == 0 and
                 answer.err.count("train.py:10 reads 4.0 MiB of jit_step that no device computed; with --writes "
                                  "keep") == 1 and "would have" not in answer.err, told(answer))
    report.check("and it is written", digest(stage) != before)


def small(stage):
    stage.script("small.py", SMALL)
    answer = stage.rehearse("cpu:1", "small.py", options=("--compile", "none", "--writes", "refuse"))
    report.check("a log is read, many small arrays are not", answer.code == 1 and "logged\n" in answer.out and
                 "saved\n" not in answer.out and "small.py:13 reads" in answer.err, told(answer))


# An array that is read piece by piece, each less than bulk, with executions between: its slices, a cast of each, and
# a norm of each that is printed. The script goes on, as it does if the read is on a thread that nobody joins.
PIECES = '''
import sys, jax, jax.numpy as jnp, numpy as np
@jax.jit
def step(w, x):
    for _ in range(4): w = w - 1e-3 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
    return w
w = step(jnp.full((512, 512), .5), jnp.ones((64, 512)))
pieces = {
    "rows": lambda i: np.asarray(w[i]),
    "cast": lambda i: np.asarray(w.astype(jnp.bfloat16)[i]),
    "norm": lambda i: (np.asarray(w[i]), float(jnp.linalg.norm(w[i]))),
    "items": lambda i: [w[i, j].item() for j in range(8)]}
try:
    for i in range(512): pieces[sys.argv[1]](i)
    print("saved")
except Exception:
    print("swallowed")
'''

# What a training and an evaluation log, each time little and all in all much more than bulk.
LOGS = '''
import jax, jax.numpy as jnp, numpy as np
@jax.jit
def step(w, x):
    for _ in range(4): w = w - 1e-3 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
    return w, {name: jnp.mean(w) * n for n, name in enumerate("abcdefghijklmnopqrst")}
@jax.jit
def answers(w, x): return jnp.argmax(jnp.tanh(x @ w), axis=1)
w, x = jnp.full((512, 512), .5), jnp.ones((64, 512))
for n in range(200):
    w, metrics = step(w, x)
    {name: float(value) for name, value in metrics.items()}
for n in range(200): np.asarray(answers(w, x))
for n in range(1200): float(jnp.mean(w))
print("logged")
'''

# The ways to memory that is not there.
MEMORY = '''
import jax, jax.numpy as jnp, numpy as np
w = jax.jit(lambda x: x * 2)(jnp.ones((512, 512)))
for name, way in {"pointer": lambda: w.unsafe_buffer_pointer(), "dlpack": lambda: np.from_dlpack(w),
                  "interface": lambda: w.__cuda_array_interface__}.items():
    try: print(name, way())
    except Exception as error: print(name, "is refused")
print(np.asarray(w).sum(), jnp.asarray(np.asarray(w)).sum())
'''


def pieces(stage):
    stage.script("pieces.py", PIECES)
    for way in ("rows", "cast", "norm", "items"):
        answer = stage.rehearse("cpu:1", "pieces.py", way, options=("--compile", "none", "--writes", "refuse"))
        report.check(f"an array that is read piece by piece ({way}) is refused", answer.out == "swallowed\n",
                     told(answer))
        report.check("which the exit code and the summary tell, whatever the script does", answer.code == 1 and
                     "keel: 1 line was refused values that no device computed" in answer.err, told(answer))
    facts = stage.answer("stats")["rehearsal"]["unreal"]
    report.check("stats count what was refused", sum(fact["refused"] for fact in facts) == 1, str(facts))
    stage.script("logs.py", LOGS)
    answer = stage.rehearse("cpu:1", "logs.py", options=("--compile", "none", "--writes", "refuse"))
    report.check("logs are not", answer.code == 0 and answer.out == "logged\n" and "refused" not in answer.err,
                 told(answer))


def memory(stage):
    stage.script("memory.py", MEMORY)
    answer = stage.rehearse("cpu:1", "memory.py", options=("--compile", "none"))
    report.equal("the memory of an array is not offered", answer.out, "pointer is refused\ndlpack is refused\n"
                 "interface is refused\n524288.0 524288.0\n")


def hosts(stage):
    stage.script("hosts.py", "import os\nopen(f'part-{os.environ[\"RANK\"]}', 'w').write('x')\n"
                 "import time\nend = time.monotonic() + 300\n"
                 "while not all(os.path.exists(f'part-{n}') for n in range(2)) and time.monotonic() < end:\n"
                 "    time.sleep(0.01)\nprint(sorted(name for name in os.listdir() if name.startswith('part')))\n")
    answer = stage.rehearse("cpu:4/2", "hosts.py")
    report.check("processes of a job see each other's files",
                 answer.out.count("['part-0', 'part-1']") == 2, told(answer) + answer.out)
    report.check("which are discarded", not list(stage.folder.glob("part-*")) and
                 "would have written 2 files" in answer.err, told(answer))


def damaged(stage):
    """Between Keel's folders in the view, which are mounts of their own, nothing can be renamed."""
    stage.script("one.py", "import jax, numpy as np\njax.jit(lambda x: x * 2)(np.ones(8, np.float32))\n")
    stage.rehearse("cpu:1", "one.py")
    cache = stage.folder / "cache"
    entry, = (cache / "entries").rglob("*.keel")
    content = entry.read_bytes()
    entry.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    answer = stage.rehearse("cpu:1", "one.py")
    aside = list((cache / "quarantine").iterdir())
    report.check("a damaged entry is put aside", answer.code == 0 and len(aside) == 1 and
                 aside[0].read_bytes()[:-1] == content[:-1] and aside[0].read_bytes() != content,
                 told(answer) + str(aside))
    report.check("and compiled again", "1 compile" in answer.err, told(answer))
    answer = stage.rehearse("cpu:1", "one.py")
    report.check("for the runs after", "1 load instead" in answer.err, told(answer))


def below(stage):
    """A command that records runs of its own."""
    stage.script("one.py", "import jax, numpy as np\njax.jit(lambda x: x * 2)(np.ones(8, np.float32))\n")
    answer = stage.keel("rehearse", "--on", "cpu:1", "--", "sh", "-c",
                        f"{KEEL} rehearse --on cpu:2 -- {PYTHON} one.py; {KEEL} run -- {PYTHON} one.py; echo > log; exit 3")
    runs = [path for path in (stage.folder / "runs").iterdir() if (path / "journal.ndjson").is_file()]
    report.check("a run that the command records stays", answer.code == 3 and len(runs) == 2, told(answer))
    report.check("which the summary of the outer one says once",
                 answer.err.count("keel: nothing was recorded in this run itself; 2 runs began meanwhile") == 1 and
                 "started no XLA client" not in answer.err, told(answer))
    report.check("but not its files", "would have written 1 file, 1 B, log\n" in answer.err and
                 not (stage.folder / "log").exists(), told(answer))
    answer = stage.keel("stats", runs[0].name)
    report.check("and can be read", answer.code == 0 and "programs    1\n" in answer.out, told(answer))


with Workspace("writes") as space:
    train(Stage(space, "train"))
    small(Stage(space, "small"))
    pieces(Stage(space, "pieces"))
    memory(Stage(space, "memory"))
    hosts(Stage(space, "hosts"))
    damaged(Stage(space, "damaged"))
    below(Stage(space, "below"))
report.finish()
