"""What JAX's client fetches of an executable's optimized program, counted in the table that it calls:
calls and bytes, never time. JAX asks how parameters and results are laid out and sharded, and gets an
outline; whoever asks for the program itself gets all of it."""

from harness import (KEEL, PLUGIN, PYTHON, Report, Workspace, last_json, other_plugins, run,
                     run_environment, told)

report = Report()

COUNTED = '''
import ctypes, json, pathlib, re, sys
import jax, jax.numpy as jnp, numpy as np
from jax._src.layout import Layout
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = jax.devices()


class Program(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("extensions", ctypes.c_void_p), ("code", ctypes.c_void_p),
                ("code_size", ctypes.c_size_t)]


class Arguments(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("extensions", ctypes.c_void_p),
                ("executable", ctypes.c_void_p), ("program", ctypes.POINTER(Program))]


HEAD, POINTER = 40, 8  # of PJRT_Api: sizes and versions, then functions
FUNCTION = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Arguments))
header = pathlib.Path(sys.argv[1], "include", "pjrt_c_api.h").read_text()
names = re.findall(r"^ +_PJRT_API_STRUCT_FIELD\\((\\w+)\\);", header, re.MULTILINE)
door = ctypes.CDLL(sys.argv[2])
door.GetPjrtApi.restype = ctypes.c_void_p
slot = ctypes.c_void_p.from_address(
    door.GetPjrtApi() + HEAD + POINTER * names.index("PJRT_Executable_OptimizedProgram"))
behind = FUNCTION(slot.value)
fetched = []


@FUNCTION
def counting(arguments):
    error, program = behind(arguments), arguments.contents.program.contents
    if program.code:
        fetched.append(program.code_size)
    return error


slot.value = ctypes.cast(counting, ctypes.c_void_p).value


def count(ask):
    """The sizes of what is fetched meanwhile."""
    before = len(fetched)
    ask()
    return fetched[before:]


def layers(x):
    for _ in range(40):
        x = jnp.tanh(x @ x) + jax.nn.softmax(x, -1)
    return x.sum(), {"x": x}


def show(part):
    if hasattr(part, "SerializeToString"):
        return part.SerializeToString().hex()
    return repr(Layout.from_pjrt_layout(part))


QUESTIONS = ("get_parameter_shardings", "get_output_shardings", "get_parameter_layouts", "get_output_layouts")


def answers(executable, whole):
    """What it says to JAX's questions, asked of the outline or of the whole program."""
    told = {}
    for name in QUESTIONS:
        ask = getattr(type(executable), name)
        ask = getattr(ask, "__wrapped__", ask) if whole else ask
        try:
            parts = ask(executable)
            told[name] = None if parts is None else [show(part) for part in parts]
        except Exception as error:
            told[name] = f"{type(error).__name__}: {error}"
    return told


mesh = Mesh(np.array(devices[:4]).reshape(2, 2), ("a", "b"))
x = np.eye(16, dtype=np.float32)
put = lambda spec: jax.device_put(x, NamedSharding(mesh, spec))
several = jax.jit(lambda x, y, n: {"sum": x @ y, "none": (), "scaled": y * n, "flag": n > 1})
chosen = NamedSharding(mesh, P("b", "a"))
cases = {
    "one device": lambda: jax.jit(layers).lower(x),
    "several devices": lambda: jax.jit(layers).lower(put(P("a", "b"))),
    "results that the compiler shards": lambda: several.lower(put(P("a")), put(P(None, "b")), 2.0),
    "results that the script shards": lambda: jax.jit(lambda x: x + 1, out_shardings=chosen).lower(put(P("a"))),
    "no parameter": lambda: jax.jit(lambda: jnp.ones(3)).lower(),
    "no result": lambda: jax.jit(lambda x: None).lower(x),
    "one result": lambda: jax.jit(lambda x: x.T).lower(x),
    "small types": lambda: jax.jit(lambda x: (x.astype(jnp.int4), x > 0, x.astype(jnp.bfloat16))).lower(x),
    "an effect": lambda: jax.jit(lambda x: jax.debug.print("{}", x.sum(), ordered=True)).lower(x),
}
told = {}
for name, lower in cases.items():
    lowered, found = lower(), {}
    found["compiling"] = count(lambda: found.update(made=lowered.compile()))
    compiled = found.pop("made")
    executable = compiled.runtime_executable()
    found["text"] = count(lambda: found.update(length=len(compiled.as_text())))
    found["has text"] = found.pop("length") > 100 and "keel.outline" not in compiled.as_text()
    found["outlined"], found["whole"] = answers(executable, False), answers(executable, True)
    told[name] = found
told["modules"] = count(lambda: executable.hlo_modules())
print(json.dumps(told))
'''


def ask(space, script, plugin):
    environment = run_environment(space.path("cache"), space.runs, KEEL_CPU_DEVICES="4")
    answer = run([KEEL, "run", "--quiet", "--plugin", plugin, "--", PYTHON, script,
                  PLUGIN.parent, KEEL.parent.parent / "lib" / "libkeel_pjrt.so"], environment)
    report.check("it ran", answer.code == 0, told(answer, 8))
    return last_json(answer) or {}


def check(state, cases, newer):
    whole_modules = cases.pop("modules", [])
    for name, found in cases.items():
        case = f"{state}, {name}"
        whole, = found["text"] or [0]
        report.check(f"{case}: the text has all of it", found["has text"])
        report.equal(f"{case}: the answers are those of the whole program", found["outlined"],
                     found["whole"])
        if newer:  # it answers most questions itself
            report.check(f"{case}: nothing is fetched", not found["compiling"], found["compiling"])
            continue
        limit = 6 if "several" in name or "shards" in name else 2
        report.check(f"{case}: at most {limit} outlines", 0 < len(found["compiling"]) <= limit,
                     found["compiling"])
        if "device" in name:
            report.check(f"{case}: an outline is a fortieth of the program at most",
                         max(found["compiling"], default=whole) * 40 <= whole,
                         f"{found['compiling']} bytes of {whole}")
    report.check(f"{state}: modules are whole", whole_modules and whole_modules[-1] > 1000, whole_modules)


with Workspace("outlines") as workspace:
    file = workspace.path("counted.py")
    file.write_text(COUNTED)
    for moment in ("cold", "warm"):
        check(moment, ask(workspace, file, PLUGIN), False)
    for plugin_name, path in other_plugins():
        check(plugin_name, ask(workspace, file, path), True)
report.finish()
