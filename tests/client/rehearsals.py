"""What is said after `keel rehearse` with real JAX, on two and four processors that are not there: a
recompile, refusals, values that no device computed, a run without compiles and one that is killed."""

import socket

from harness import PYTHON, Report, Workspace, of_kind, told
from stage import Stage

report = Report()

# Too much work for values to be computed here. The last batch is short; line 13 reads a value.
TRAIN = '''
import sys, jax, jax.numpy as jnp, numpy as np
def step(state, batch):
    for _ in range(3):
        state = jnp.tanh(state @ state) * 0.5
    return state + (batch * 2).sum(), state.mean()
step = jax.jit(step, donate_argnums=0)
state = jax.device_put(np.ones((1024, 1024), np.float32))
for index in range(6):
    batch = np.full(8 if index < 5 else 3, index, np.float32)
    state, loss = step(state, batch)
    if index % 2:
        print(float(loss))
'''

# 2 * 256^3 operations on floats.
COST = '''
import jax, jax.numpy as jnp
a = jax.ShapeDtypeStruct((256, 256), jnp.float32)
costs = jax.jit(lambda a, b: a @ b).lower(a, a).compile().cost_analysis()
print(costs and costs["flops"])
'''

# A call that XLA's compiler for the processor does not know.
REFUSED = '''
import sys, jax, numpy as np
def lookup(x):
    return jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
print(jax.jit(lookup)(np.ones((4, 4), np.float32)).shape)
sys.exit(int(sys.argv[1]))
'''

# An array whose parts are too large, as nothing in JAX makes one. The script swallows what comes of it.
SWALLOWED = '''
import sys, jax, numpy as np
from jax._src.array import ArrayImpl
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
parts = NamedSharding(Mesh(np.array(jax.devices()), ("x",)), P("x"))
wrong = ArrayImpl(jax.core.ShapedArray((8,), np.float32), parts, committed=True, _skip_checks=True,
                  arrays=[jax.device_put(np.ones(8, np.float32), device) for device in jax.devices()])
step = jax.jit(lambda x: x * 2)
for attempt in range(3):
    try:
        step(wrong)
    except Exception:
        print("swallowed")
sys.exit(int(sys.argv[1]))
'''

# Clients of one process where the target has four. The script swallows the errors.
CLIENT = '''
import sys, jax
jax.distributed.initialize(f"localhost:{sys.argv[1]}", 1, 0)
for attempt in range(int(sys.argv[2])):
    try:
        jax.devices()
    except RuntimeError:
        print("swallowed")
'''

# A program that takes a while to compile, and an end that leaves no time for it.
KILLED = '''
import os, signal, jax, jax.numpy as jnp, numpy as np
def deep(x):
    for n in range(400):
        x = jnp.sort(jnp.sin(x @ x) + n, axis=n % 2)
    return x
jax.block_until_ready(jax.jit(deep)(np.ones((300, 300), np.float32)))
os.kill(os.getpid(), signal.SIGKILL)
'''

# Closes over what no device computed.
CLOSED = '''
import jax, jax.numpy as jnp, numpy as np
table = jax.jit(lambda x: x @ x @ x)(np.ones((1024, 1024), np.float32))
print(jax.jit(lambda x: x + table)(np.ones((1024, 1024), np.float32)).shape)
'''


# Reads what no device computed on three lines, and asks how much memory JAX has and its program needs.
READS = '''
import jax, numpy as np
cube = jax.jit(lambda x: x @ x @ x)
x = cube(np.ones((1024, 1024), np.float32))
print(float(x[0, 0]))
print(x.sum())
print(np.asarray(x).max())
print(len(jax.profiler.device_memory_profile()) > 0)
print(cube.lower(x).compile().memory_analysis().argument_size_in_bytes)
'''

# The processor by its name is the default device.
NAMED = '''
import jax, jax.numpy as jnp, numpy as np
cpu = jax.devices("cpu")
print(cpu == jax.devices(), jax.local_devices(backend="cpu") == jax.local_devices())
with jax.default_device(cpu[1]):
    x = jnp.arange(3.0) * 2
print((x + jax.device_put(1.0, cpu[1])).devices() == {cpu[1]})
print(jax.jit(lambda a, b: a + b)(jax.device_put(3.0, cpu[0]), jnp.ones(2)))
memory = np.ones(64 * 32 + 16, "f4")
start = -memory.ctypes.data % 64 // 4  # what is not aligned JAX copies, into the usual layout
arrays = [np.arange(4096, dtype="i4"), np.arange(6, dtype="i4")[1:], memory[start:start + 64 * 32].reshape(64, 32).T]
shared = [jnp.from_dlpack(array) for array in arrays]  # held: a thread of XLA would release them while Python ends
for array, same in zip(arrays, shared):
    print(same.sum(), jax.dlpack.from_dlpack(array).shape)
'''

# A script that asks for the processor by itself.
ASKING = '''
import jax
jax.config.update("jax_platforms", "cpu")
print(jax.device_count(), jax.devices("cpu") == jax.devices(), jax.jit(lambda x: x * 7)(1.0))
'''

# JAX copies what the host has to all devices by programs that say nothing of shardings.
MESHED = '''
import jax, jax.numpy as jnp, numpy as np
with jax.set_mesh(jax.make_mesh((4,), ("data",))):
    sizes = jnp.array(np.arange(5, dtype="i4"))
    print(sizes, (sizes * 2).sum(), jax.jit(lambda at: sizes[at])(3))
'''

# Calls back into Python, where no device is.
CALLING = '''
import jax, numpy as np
def show(x):
    jax.debug.print("x is {}", x)
    return x + 1
print(float(jax.jit(show)(np.float32(2))))
'''

# One of two processes, each of which has half of an array.
HALF = '''
import sys, jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec
jax.distributed.initialize(f"localhost:{sys.argv[1]}", 2, int(sys.argv[2]))
mesh = jax.make_mesh((jax.device_count(),), ("data",))
rows = jax.make_array_from_process_local_data(NamedSharding(mesh, PartitionSpec("data")),
                                              np.ones((4, 8), np.float32))
total = jax.jit(lambda rows: rows.sum())(rows)
with jax.set_mesh(mesh):
    sizes = jnp.array(np.arange(3)) + 1
sys.stdout.write(f"{jax.process_index()} {jax.device_count()} {jax.local_device_count()} "
                 f"{rows.shape} {float(total)} {np.asarray(sizes)}\\n")
'''


def free_port():
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return listener.getsockname()[1]


def of_name(programs, name):
    return next((program for program in programs if program["name"] == name), {})


def check_costs(stage):
    """The times are the compiler's, not those of the client's calls."""
    stats, why = stage.answer("stats"), stage.answer("why")
    took = {event["key"]: event["seconds"] for event in of_kind(stage.events(), "compiled")}
    report.check("each program has the compiler's time", stats["by_program"] and all(
        abs(program["compile_seconds"] - took[program["identity"]]) < 1e-5
        for program in stats["by_program"]), stats["by_program"])
    report.equal("the recompile is explained",
                 [(cause["kind"], cause["subject"], cause["old"], cause["new"]) for cause in why],
                 [("shape", "batch", "f32[8]", "f32[3]")])
    report.check("with what the compiler took", abs(why[0]["seconds"] - took[why[0]["key"]]) < 1e-5,
                 why[0]["seconds"])
    report.check("transfers have no time", stats["to_device"]["count"] > 0
                 and stats["to_device"]["seconds"] is None, stats["to_device"])
    return stats


def check_memory(stage):
    """What is alive when a step begins, and what it needs besides."""
    answer = stage.answer("memory")
    step = of_name(answer["programs"], "jit_step")
    report.check("its arguments were alive when a step began",
                 step["before"] >= step["arguments"] >= 4 << 20, step)
    fresh = step["outputs"] - step["aliased"] + step["temporaries"]
    code = sum(program["code"] for program in answer["programs"])
    report.equal("and its results and temporaries come on top", step["most"],
                 step["before"] + fresh + code)
    report.equal("whether it fits is not known for a processor",
                 (step["fits"], answer["rehearsal"]["fits"]), (None, None))


def check_training(stage):
    stage.script("train.py", TRAIN)
    answer = stage.rehearse("cpu:4", "train.py")
    report.equal("a rehearsal ends as its command does", answer.code, 0)
    report.equal("values that no device computed read as zeros", answer.out, "0.0\n0.0\n0.0\n")
    report.check("the summary names the target and the steps",
                 "keel: rehearsed on cpu:4: 6 steps, " in answer.err, told(answer))
    report.check("and the recompile", "train.py:11 shape batch f32[8] -> f32[3]" in answer.err,
                 told(answer))
    report.check("and the line that read what was not computed",
                 "keel: 1 line reads values that no device computed, as zeros: train.py:13 (jit_step)"
                 in answer.err, told(answer))
    rehearsal = check_costs(stage)["rehearsal"]
    report.equal("the figures have the target", (rehearsal["target"]["name"],
                 rehearsal["target"]["devices"], rehearsal["target"]["compile"]), ("cpu:4", 4, "new"))
    report.equal("and the reads", [(read["line"], read["maker"], read["times"])
                                   for read in rehearsal["unreal"]], [(13, "jit_step", 3)])
    check_memory(stage)
    page = stage.folder / "report.html"
    answer = stage.keel("report", "-o", page)
    report.check("the page says it too", answer.code == 0
                 and "train.py:13 reads what jit_step makes, 3 times" in page.read_text(), told(answer))


def check_again(stage):
    """Another target and what is in the cache are not changes of the user's."""
    answer = stage.rehearse("cpu:4", "train.py")
    report.check("what is in the cache is not compiled again", "nothing compiled, " in answer.err
                 and " instead of " in answer.err, told(answer))
    report.check("its recompile is still one", "keel: 1 recompile cost " in answer.err, told(answer))
    for compiles in ("none", "new"):
        answer = stage.rehearse("cpu:2", "train.py", options=("--compile", compiles))
        report.check(f"another target is no news, --compile {compiles}", answer.code == 0
                     and "earlier runs" not in answer.err, told(answer))
    report.equal("each recompile is the run's own", [cause["kind"] for cause in stage.answer("why")],
                 ["shape"])
    stage.script("train.py", TRAIN.replace("* 0.5", "* 0.25"))
    answer = stage.rehearse("cpu:2", "train.py", options=("--compile", "none"))
    report.check("an edit since the last one is", "earlier runs: train.py:5 edit " in answer.err,
                 told(answer))


def check_ahead(stage):
    """The same program has the same key for keel aot and for the real devices."""
    stage.script("train.py", TRAIN)
    stage.rehearse("cpu:4", "train.py")
    answer = stage.keel("aot", "--on", "cpu:4", "latest")
    report.check("keel aot finds what a rehearsal compiled", answer.code == 0
                 and "keel: 0 of " in answer.err, told(answer))
    answer = stage.keel("run", "--cpu-devices", "4", "--", PYTHON, "train.py")
    report.check("so does the real run", answer.code == 0 and "nothing compiled, " in answer.err,
                 told(answer))
    stage.keel("cache", "clear")
    answer = stage.keel("aot", "--on", "cpu:4", "latest")
    report.check("keel aot compiles what is not there", answer.code == 0
                 and " compiled for cpu:4 in " in answer.err and ", 0 in the cache" in answer.err,
                 told(answer))
    answer = stage.keel("run", "--cpu-devices", "4", "--", PYTHON, "train.py")
    report.check("for the real run", answer.code == 0 and "nothing compiled, " in answer.err,
                 told(answer))


def check_without_compiles(space):
    stage = Stage(space, "none")
    stage.script("train.py", TRAIN)
    answer = stage.rehearse("cpu:4", "train.py", options=("--compile", "none"))
    report.check("without compiles the recompile has no cost", answer.code == 0
                 and "; nothing compiled; " in answer.err
                 and "keel: 1 recompile: train.py:11 shape" in answer.err, told(answer))
    stats, why, memory = stage.answer("stats"), stage.answer("why"), stage.answer("memory")
    report.equal("nor has anything else", (stats["compile_seconds"], stats["recompile_seconds"],
                                           [cause["seconds"] for cause in why]), (None, None, [None]))
    report.equal("all programs were skipped", stats["rehearsal"]["not_compiled"], stats["compiles"])
    step = of_name(memory["programs"], "jit_step")
    report.check("what is alive, and the loss, is a lower bound", step["at_least"] and step["temporaries"] is None
                 and step["most"] == step["before"] + 4 > 4 << 20, step)
    metrics = stage.answer("stats", "--metrics")["metrics"]
    report.equal("and the metrics have no sample", metrics["keel_compile_seconds"]["count"], 0)


def check_what_compilers_say(space):
    stage = Stage(space, "cost")
    stage.script("cost.py", COST)
    for compiles, costs in (("new", "33554432.0"), ("new", "None"), ("all", "33554432.0"), ("none", "None")):
        answer = stage.rehearse("cpu:1", "cost.py", options=("--compile", compiles))
        report.equal(f"what a product costs is what its compiler says, --compile {compiles}",
                     (answer.code, answer.out), (0, costs + "\n"))


def check_refusals(space):
    stage = Stage(space, "refused")
    stage.script("lookup.py", REFUSED)
    answer = stage.rehearse("cpu:2", "lookup.py", "0")
    report.equal("the client goes on", answer.out, "(4, 4)\n")
    report.equal("a program that does not compile is the exit code", answer.code, 1)
    report.check("and is named with its line", "keel: jit_lookup (lookup.py:5) does not compile for "
                 "cpu:2: " in answer.err and "no_such_target" in answer.err, told(answer))
    refusals = stage.answer("stats")["rehearsal"]["refusals"]
    report.equal("once", [(one["name"], one["shown"], one["times"]) for one in refusals],
                 [("jit_lookup", "lookup.py:5", 1)])
    why = stage.keel("why")
    report.check("keel why says so", "jit_lookup (lookup.py:5) does not compile for cpu:2: " in why.out,
                 why.out)
    report.equal("a command's own exit code stays", stage.rehearse("cpu:2", "lookup.py", "7").code, 7)
    answer = stage.rehearse("cpu:2", "lookup.py", "0", options=("--compile", "none"))
    report.equal("what is not compiled is not refused", answer.code, 0)


def check_swallowed(space):
    stage = Stage(space, "swallowed")
    stage.script("swallow.py", SWALLOWED)
    answer = stage.rehearse("cpu:2", "swallow.py", "0")
    said = "keel: jit__lambda (swallow.py:11) could not be executed, 3 times: argument 0 of jit__lambda has 32 bytes, not 16"
    report.check("an error that the script swallows is said first", answer.out == "swallowed\n" * 3
                 and answer.err.startswith(said + "\nkeel: rehearsed on cpu:2: "), told(answer))
    report.equal("and is the exit code", answer.code, 1)
    answer = stage.rehearse("cpu:2", "swallow.py", "5")
    report.check("a command that ends early is said before all else", answer.code == 5 and answer.err.startswith(
        f"keel: the command ended with exit code 5: the rehearsal is what it did until then\n{said}\n"), told(answer))


def check_early(space):
    """A command that comes to no program says why, and what to do next."""
    stage = Stage(space, "early")
    stage.script("client.py", CLIENT)
    answer = stage.rehearse("cpu:4/4", "client.py", str(free_port()), "1", options=("--processes", "1"))
    said = ("keel: no client of cpu:4/4 could be made: the program is started as 1 process, and cpu:4/4 has 4; "
            "start 4, or rehearse it on a target of 1\n")
    report.check("a client that could not be made comes first, though the script swallows the error",
                 answer.out == "swallowed\n" and answer.err.startswith(said), told(answer))
    report.equal("and is the exit code", answer.code, 1)
    report.equal("and in the run", [one["action"] for one in stage.answer("stats")["rehearsal"]["refusals"]],
                 ["client"])
    answer = stage.rehearse("cpu:4/4", "client.py", str(free_port()), "3", options=("--processes", "1"))
    report.equal("each further one is counted, and the journal says once what run it is",
                 (answer.out, len(of_kind(stage.events(), "refused")), len(of_kind(stage.events(), "start"))),
                 ("swallowed\n" * 3, 3, 1))
    stage.script("mesh.py", "import jax\nassert len(jax.devices()) == 8\n")
    answer = stage.rehearse("cpu:2", "mesh.py")
    report.check("a target that is too small is named", answer.code == 1 and
                 "keel: the command ended with exit code 1 before its first program; if it needs more than the 2 "
                 "devices of cpu:2, name a larger target\n" in answer.err, told(answer))
    stage.script("shape.py", "import jax\njax.random.key(0)\njax.make_mesh((2, 4), ('data', 'model'))\n")
    answer = stage.rehearse("cpu:2/2", "shape.py")
    report.check("a mesh that the target does not have is named once, also after the first program",
                 answer.code == 1 and answer.err.count("a mesh of 2 x 4 is 8 devices") == 1 and
                 "keel: a mesh of 2 x 4 is 8 devices, cpu:2/2 has 2; rehearse on a target of 8, or change the mesh\n"
                 in answer.err, told(answer))
    stage.script("data.py", "import jax\nopen('no/data')\n")
    answer = stage.rehearse("cpu:2", "data.py")
    report.check("so are data that are not there, and an end before there is a client",
                 answer.code == 1 and answer.err.endswith(
                     "keel: no/data: not there; a rehearsal reads what a run reads, so give it that, or some data of "
                     "the same shapes\n"
                     "keel: nothing was recorded: the command ended with exit code 1 before it started an XLA client\n"),
                 told(answer))
    stage.script("other.py", """
import jax
try:
    open("no/checkpoint")
except FileNotFoundError:
    raise ValueError("of the other way")
""")
    answer = stage.rehearse("cpu:2", "other.py")
    report.check("an error of the way that a script goes without a file is not that file's",
                 answer.code == 1 and "not there" not in answer.err, told(answer))


def check_kill(space):
    stage = Stage(space, "killed")
    stage.script("killed.py", KILLED)
    answer = stage.rehearse("cpu:2", "killed.py")
    report.equal("a killed run has its exit code", answer.code, 128 + 9)
    report.check("what the compiler had not finished is reported", "1 not done when the process ended" in answer.err
                 and "has no end event in the journal" in answer.err, told(answer))
    stats = stage.answer("stats")
    report.equal("and has no time", of_name(stats["by_program"], "jit_deep")["compile_seconds"], None)
    report.equal("so it is not known whether it fits", stats["rehearsal"]["fits"], None)


def check_constants(space):
    stage = Stage(space, "closed")
    stage.script("closed.py", CLOSED)
    answer = stage.rehearse("cpu:2", "closed.py", options=("--compile", "none"))
    report.check("a constant that no device computed is reported", "keel: 1 program has constants that no "
                 "device computed: jit__lambda" in answer.err, told(answer))


def check_reads(space):
    stage = Stage(space, "reads")
    stage.script("reads.py", READS)
    for times in ("first", "second"):
        answer = stage.rehearse("cpu:2", "reads.py")
        report.equal(f"what programs need is known, the {times} time", (answer.code, answer.out),
                     (0, "0.0\n0.0\n0.0\nTrue\n4194304\n"))
        report.equal(f"reads are in their order, the {times} time", [
            read["line"] for read in stage.answer("stats")["rehearsal"]["unreal"]], [5, 6, 7])
    stage.script("reads.py", READS.rpartition("print")[0])
    answer = stage.rehearse("cpu:4", "reads.py", options=("--compile", "none"))
    report.equal("JAX's profile of memory needs no compile", (answer.code, answer.out),
                 (0, "0.0\n0.0\n0.0\nTrue\n"))


def check_named(space):
    stage = Stage(space, "named")
    stage.script("named.py", NAMED)
    answer = stage.rehearse("cpu:2", "named.py")
    report.equal("the processor by its name is what is rehearsed", (answer.code, answer.out),
                 (0, "True True\nTrue\n[4. 4.]\n8386560 (4096,)\n15 (5,)\n2048.0 (32, 64)\n"))
    real = stage.keel("run", "--cpu-devices", "2", "--", PYTHON, "named.py")
    report.check("so the real run does the same and compiles nothing", real.out == answer.out
                 and "nothing compiled, " in real.err, told(real))
    stage.script("asking.py", ASKING)
    answer = stage.rehearse("cpu:2", "asking.py")
    report.check("a script that asks for the processor is rehearsed", answer.out == "2 True 7.0\n"
                 and "keel: rehearsed on cpu:2: " in answer.err, told(answer))


def check_mesh(space):
    stage = Stage(space, "meshed")
    stage.script("meshed.py", MESHED)
    answer = stage.rehearse("cpu:4", "meshed.py", options=("--compile", "none"))
    report.check("what the host gives to all devices of a mesh has its values", answer.code == 0
                 and answer.out == "[0 1 2 3 4] 20 3\n" and "no device computed" not in answer.err, told(answer))


def check_callbacks(space):
    stage = Stage(space, "calling")
    stage.script("calling.py", CALLING)
    answer = stage.rehearse("cpu:2", "calling.py")
    report.check("a program with a host callback compiles, and calls nothing", answer.code == 0
                 and answer.out in ("0.0\n", "3.0\n") and "; 1 compile" in answer.err, told(answer))
    ahead = stage.keel("aot", "--on", "cpu:2", "--all", "latest")
    report.check("keel aot compiles it without its client", ahead.code == 0
                 and "keel: 1 of 1 programs compiled for cpu:2" in ahead.err, told(ahead))
    answer = stage.keel("run", "--cpu-devices", "2", "--", PYTHON, "calling.py")
    report.check("the real run loads it, and calls", answer.out == "x is 2.0\n3.0\n"
                 and "nothing compiled, 1 load" in answer.err, told(answer))


def check_processes(space):
    stage = Stage(space, "processes")
    stage.script("half.py", HALF)
    stage.script("both.py", "import subprocess, sys\n"
                 "both = [subprocess.Popen([sys.executable, 'half.py', sys.argv[1], str(number)])\n"
                 "        for number in range(2)]\n"
                 "sys.exit(max(one.wait() for one in both))\n")
    answer = stage.rehearse("cpu:4/2", "both.py", str(free_port()), options=("--processes", "1"))
    report.check("two processes have half of the devices each", answer.code == 0
                 and sorted(answer.out.splitlines()) == ["0 4 2 (8, 8) 0.0 [1 2 3]",
                                                      "1 4 2 (8, 8) 0.0 [1 2 3]"],
                 f"{answer.out!r}; {told(answer)}")
    report.equal("and are one run", stage.answer("stats")["processes"], 2)
    answer = stage.rehearse("cpu:4/4", "both.py", str(free_port()), options=("--processes", "1"))
    report.check("a wrong number of them is refused", answer.code != 0
                 and "the program is started as 2 processes, and cpu:4/4 has 4" in answer.err,
                 told(answer))


with Workspace("rehearsals") as space:
    training = Stage(space, "train")
    check_training(training)
    check_again(training)
    check_ahead(training)
    check_without_compiles(space)
    check_what_compilers_say(space)
    check_refusals(space)
    check_swallowed(space)
    check_early(space)
    check_kill(space)
    check_constants(space)
    check_reads(space)
    check_named(space)
    check_mesh(space)
    check_callbacks(space)
    check_processes(space)
report.finish()
