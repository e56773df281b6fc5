"""Counters of PyTorch/XLA as the real one does not have them: a bridge that raises, returns
something that is not a number, or resets them. The client goes on, and its own exceptions are kept.
The real counters are in tests/torch/host_ops.py."""

from harness import Report, Workspace, PYTHON, journal, keel_environment, last_json, of_kind, run, told

report = Report()

# A stand-in for torch_xla in a process with JAX, which compiles on request.
HEAD = '''
import json, sys, time, types
import jax, jax.numpy as jnp
class Bridge:
    counters = {}
    def _xla_counter_names(self):
        return list(self.counters)
    def _xla_counter_value(self, name):
        return self.counters[name]
bridge = Bridge()
sys.modules["torch_xla"] = types.SimpleNamespace(_XLAC=bridge)
def look(n=[0]):
    n[0] += 1
    time.sleep(1.1 if n[0] > 1 else 0)  # Keel looks once a second
    return float(jax.jit(lambda x: x * 2 + n[0])(jnp.float32(3)))
'''
# Lines that follow it, and the sums that the journal is to have.
CASES = {
    "counted": ('''
bridge.counters = {"aten::a": 2, "xla::b": 5, "CachedCompile": 7}
look(); bridge.counters["aten::a"] = 5; look(); bridge.counters["aten::c"] = 1
''', {"aten::a": 5, "aten::c": 1}),
    "set back": ('''
bridge.counters = {"aten::a": 4}; look(); bridge.counters = {"aten::a": 1}; look()
''', {"aten::a": 5}),
    "no numbers": ('''
bridge.counters = {"aten::a": None, "aten::b": "x", "aten::c": -3, "aten::d": 2 ** 80, "aten::": 1,
                   "aten::" + "e" * 4000: 1, 7: 1, "aten::\\udcff": 1, "aten::good": 1}
look()
''', {"aten::good": 1}),
    "names raise": ('''
def fail(*_): raise RuntimeError("no names")
bridge._xla_counter_names = fail; look()
''', {}),
    "names are not a list": ('''
bridge._xla_counter_names = lambda: 5; look()
''', {}),
    "values raise": ('''
bridge.counters = {"aten::a": 1}
def fail(*_): raise RuntimeError("no value")
bridge._xla_counter_value = fail; look()
''', {}),
    "no bridge": ('''
del sys.modules["torch_xla"]._XLAC; look()
''', {}),
    "thousands": ('''
bridge.counters = {f"aten::op{n}": 1 for n in range(5000)}; look()
''', {f"aten::op{n}": 1 for n in range(256)}),
    "within an exception": ('''
bridge.counters = {"aten::a": 1}
try:
    raise ValueError("mine")
except ValueError as mine:
    look()
    assert str(sys.exc_info()[1]) == "mine"
''', {"aten::a": 1}),
    "at the interpreter's end": ('''
bridge.counters = {"aten::a": 1}; look(); bridge.counters["aten::a"] = 9
''', {"aten::a": 9}),
    "with no stack to be read": ('''
bridge.counters = {"aten::a": 1}; look()
''', {}),
}


def main():
    with Workspace("host-counters") as space:
        for number, (name, (lines, wanted)) in enumerate(CASES.items()):
            script = space.path(f"case{number}.py")
            script.write_text(HEAD + lines + 'print(json.dumps({"ends": True}))\n')
            more = {"KEEL_STACK": "off"} if "no stack" in name else {}
            answer = run([PYTHON, script], keel_environment(space.path("cache"), space.runs,
                                                            f"case{number}", **more))
            report.check(f"{name}: the process ends well",
                         answer.code == 0 and last_json(answer), told(answer))
            got = {}
            for event in of_kind(journal(space.runs, f"case{number}"), "host_ops"):
                for op, times in event["ops"].items():
                    got[op] = got.get(op, 0) + times
            report.equal(f"{name}: what is counted", got, wanted)
    report.finish()


if __name__ == "__main__":
    main()
