"""`keel rehearse` on targets of several hosts with real JAX: the command runs once for each, the
processes find and meet each other, and what only some of them do is reported. With .venv-targets, also on
the hosts of a TPU slice and of GPUs."""

import signal
import time

from harness import KEEL, PYTHON, ROOT, Report, Workspace, errors_until, finish, of_kind, start, told
from stage import Stage

report = Report()
TARGETS_PYTHON = ROOT / ".venv-targets" / "bin" / "python"

# Too much work for values to be computed here. The last batch is short. Then what processes ask each
# other: a number of each, the first one's, and whether all are at the same place.
TRAIN = '''
import sys, jax, jax.numpy as jnp, numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
jax.distributed.initialize()
mesh = Mesh(np.array(jax.devices()), ("d",))
split, whole = NamedSharding(mesh, P("d")), NamedSharding(mesh, P())
def step(state, batch):
    for _ in range(3):
        state = jnp.tanh(state @ state) * 0.5
    return state + (batch * 2).sum(), state.mean()
step = jax.jit(step, donate_argnums=0, out_shardings=(whole, whole))
state = jax.device_put(np.ones((1024, 1024), np.float32), whole)
for index in range(4):
    rows = len(jax.devices()) * (2 if index < 3 else 1)
    batch = jax.make_array_from_callback((rows,), split, lambda at: np.full(rows, index, "f4")[at])
    state, loss = step(state, batch)
numbers = multihost_utils.process_allgather(np.int32(jax.process_index() + 7))
seed = multihost_utils.broadcast_one_to_all(np.int32(jax.process_index() + 40))
multihost_utils.sync_global_devices("end")
sys.stdout.write(f"{jax.process_index()} {jax.process_count()} {len(jax.local_devices())} "
                 f"{numbers.tolist()} {seed}\\n")
'''

# The second process ends a step earlier, has another batch in the third one, or another number.
DRIFT = '''
import sys, jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
jax.distributed.initialize()
split = NamedSharding(Mesh(np.array(jax.devices()), ("d",)), P("d"))
other = jax.process_index() == 1
scale = 3 if other and "scale" in sys.argv else 2
total = jax.jit(lambda x: (x * scale).sum())
for step in range(3 - (other and "count" in sys.argv)):
    rows = len(jax.devices()) * (2 if other and step == 2 and "shape" in sys.argv else 1)
    total(jax.make_array_from_callback((rows,), split, lambda at: np.ones(rows, "f4")[at]))
'''

# What a launcher tells its processes, and how they end.
PLAIN = '''
import os, sys, time
rank = int(os.environ["RANK"])
told = rank, os.environ["WORLD_SIZE"], os.environ["MASTER_ADDR"], len(sys.stdin.read())
os.write(1, " ".join(map(str, told)).encode() + b"\\n")
os.write(2, f"error of {rank}\\n".encode())
if sys.argv[1] == "fail" and rank == 1:
    sys.exit(5)
if sys.argv[1] == "wait" or sys.argv[1] == "fail":
    time.sleep(600)
'''


def lines_of(text):
    return sorted(line for line in text.splitlines() if line)


def check_training(stage, target, python, processes, devices):
    answer = stage.rehearse(target, "train.py", python=python)
    numbers = list(range(7, 7 + processes))
    wanted = [f"{f'[{i}] ' if i else ''}{i} {processes} {devices} {numbers} 40"
              for i in range(processes)]
    report.equal(f"{target}: the processes meet, and their output is marked", lines_of(answer.out),
                 sorted(wanted))
    report.equal(f"{target}: it ends well", answer.code, 0)
    if answer.code:
        print(told(answer))
    stats, why = stage.answer("stats"), stage.answer("why")
    report.equal(f"{target}: all are in one run", len(of_kind(stage.events(), "start")), processes)
    report.equal(f"{target}: a recompile is one, though each asked for it",
                 [(cause["kind"], cause["subject"]) for cause in why], [("shape", "batch")])
    report.equal(f"{target}: one compiles for all", stats["compiles"], stats["programs"])
    report.equal(f"{target}: they do the same", stats["rehearsal"]["drifts"], [])


def check_drift(stage):
    answer = stage.rehearse("cpu:4/2", "drift.py", "count")
    report.check("a process that does less is named", "process 1 executes jit__lambda (drift.py:11) 2 "
                 "times, process 0 3 times: on cpu:4/2 itself one would wait for the other"
                 in answer.err, told(answer))
    report.equal("and the rehearsal has failed", answer.code, 1)
    stage.rehearse("cpu:4/2", "drift.py", "shape")
    drifts = [(one["name"], one["least"], one["least_process"], one["most"], one["most_process"])
              for one in stage.answer("stats")["rehearsal"]["drifts"]]
    report.equal("so is one that does something else", sorted(drifts),
                 [("jit__lambda", 0, 0, 1, 1), ("jit__lambda", 2, 1, 3, 0)])
    why = stage.keel("why")
    report.check("keel why has all of it", "process 0 never executes jit__lambda (drift.py:11), which "
                 "process 1 executes 1 time: " in why.out, why.out)
    report.equal("without a difference there is none", stage.rehearse("cpu:4/2", "drift.py").code, 0)


def check_agreement(stage, target, python):
    answer = stage.rehearse(target, "drift.py", "scale", python=python, options=("--agree", "client"))
    report.equal(f"{target}: with --agree, through JAX's service, a host that drifts stops all of them", answer.code, 1)
    report.check(f"{target}: which say who it is and what differs",
                 "process 1 asks for a different jit__lambda than process" in answer.err
                 and "drift.py:8 in <lambda>" in answer.err, told(answer, 20))
    answer = stage.rehearse(target, "drift.py", "shape", python=python, options=("--agree", "client"))
    report.check(f"{target}: so does one that asks for a program while the others need none",
                 answer.code == 1 and "process 1 asks for a different jit__lambda than process" in answer.err
                 and "without a new program" in answer.err and "shape: an argument changed shape" in answer.err,
                 told(answer, 20))
    answer = stage.rehearse(target, "drift.py", python=python, options=("--agree", "client"))
    report.check(f"{target}: without a difference nothing is said", answer.code == 0
                 and "compared" not in answer.err, told(answer, 20))


def check_ends(stage):
    answer = stage.rehearse("cpu:4/2", "plain.py", "end", options=("--quiet",))
    report.equal("each process knows who it is", lines_of(answer.out),
                 ["0 2 localhost 0", "[1] 1 2 localhost 0"])
    report.equal("errors are marked too", lines_of(answer.err), ["[1] error of 1", "error of 0"])
    answer = stage.keel("rehearse", "--on", "cpu:4/2", "--processes", "1", "--quiet", "--", "sh", "-c",
                        "echo ${RANK-none}")
    report.equal("a single process gets no variables", answer.out, "none\n")
    began = time.monotonic()
    answer = stage.rehearse("cpu:4/2", "plain.py", "fail", options=("--quiet",))
    report.equal("the first that fails is the exit code", answer.code, 5)
    report.check("and the others are ended", "process 1 of 2 ended with exit code 5" in answer.err
                 and time.monotonic() - began < 120, told(answer))
    command = [KEEL, "rehearse", "--on", "cpu:4/2", "--quiet", "--", PYTHON, "plain.py", "wait"]
    process = start(command, stage.environment, cwd=stage.folder)
    said = ""
    while said.count("error of") < 2:
        more = errors_until(process, "error of")
        if not more:
            break
        said += more
    process.send_signal(signal.SIGTERM)
    report.equal("a signal reaches all of them", finish(process).code, 128 + signal.SIGTERM)


with Workspace("hosts") as space:
    stage = Stage(space, "hosts")
    for name, text in (("train.py", TRAIN), ("drift.py", DRIFT), ("plain.py", PLAIN)):
        stage.script(name, text)
    check_training(stage, "cpu:4/2", PYTHON, 2, 2)
    check_drift(stage)
    check_agreement(stage, "cpu:4/2", PYTHON)
    check_ends(stage)
    if TARGETS_PYTHON.exists():
        check_training(stage, "v6e:4x4", TARGETS_PYTHON, 4, 4)
        check_training(stage, "h200:16", TARGETS_PYTHON, 2, 8)
        for target in ("v6e:4x4", "h200:16"):
            check_agreement(stage, target, TARGETS_PYTHON)
    else:
        report.skip("hosts of GPUs and TPUs", "their compilers are missing: tools/setup --targets brings them")
report.finish()
