"""What Keel reports about memory and a run's figures, compared with JAX's own answers: cold and warm, on
every plugin that is there."""

import json

from harness import (KEEL, PLUGIN, PYTHON, Report, Workspace, clean_environment, journal,
                     keel_environment, last_json, of_kind, other_plugins, run, told)

report = Report()

# A donated argument, so that something is aliased; JAX asks the plugin for the same figures.
WORKER = '''
import json, jax, jax.numpy as jnp
def step(state, x):
    state = state * 0.9 + jnp.tanh(x @ x.T).sum()
    return state, (state @ state).sum()
step = jax.jit(step, donate_argnums=0)
state, x = jnp.ones((64, 64)), jnp.ones((64, 32))
said = step.lower(state, x).compile().memory_analysis()
for _ in range(5):
    state, loss = step(state, x)
print(json.dumps({"loss": float(loss), "arguments": said.argument_size_in_bytes,
                  "outputs": said.output_size_in_bytes, "aliased": said.alias_size_in_bytes,
                  "temporaries": said.temp_size_in_bytes,
                  "code": said.generated_code_size_in_bytes}))
'''


def keel(space, *words):
    return run([KEEL, *words, "--run-dir", space.runs], keel_environment("", space.runs, ""))


def answer_of(space, *words):
    answer = keel(space, *words, "--json")
    return json.loads(answer.out) if answer.code == 0 else {}


def check_memory(space, name, said):
    """JAX's figures are those of the program that needs most."""
    memory = answer_of(space, "memory", name)
    step = next((p for p in memory.get("programs", []) if p["name"] == "jit_step"), {})
    report.equal(f"{name}: a program needs what JAX says of it",
                 {field: step.get(field) for field in said}, said)
    report.equal(f"{name}: the total is their sum, what is aliased counted once", step.get("total"),
                 sum(said.values()) - 2 * said["aliased"])
    report.check(f"{name}: the program has its line", str(step.get("shown")).startswith("worker.py:"),
                 step.get("shown"))
    report.check(f"{name}: the largest comes first", memory["programs"] == sorted(
        memory["programs"], key=lambda program: -program["total"]))
    one = answer_of(space, "memory", step.get("program", "")[:12])
    report.equal(f"{name}: a digest finds it", one.get("identity"), step.get("identity"))
    text = keel(space, "memory", name)
    report.check(f"{name}: that devices do not tell is said, and why",
                 "It is not known what devices have in use" in text.out
                 and "GetAllocatorStats is not supported" in text.out, text.out)


def check_metrics(space, name):
    """The file that stood in the run's folder, and what the journal gives afterwards."""
    files = sorted(path.name.split(".")[-1] for path in (space.runs / name).glob("metrics.*"))
    report.equal(f"{name}: one file of each kind is left", files, ["json", "prom"])
    live = json.loads(next((space.runs / name).glob("metrics.*.json")).read_text())
    later = answer_of(space, "stats", "--metrics", name)
    for names in ("metrics", "torch_xla"):
        report.equal(f"{name}: the file agrees with the journal on {names}", live[names], later[names])
    stats = answer_of(space, "stats", name)
    figures = live["metrics"]
    report.equal(f"{name}: and with keel stats", {
        "compiles": figures["keel_compiles_total"], "loads": figures["keel_loads_total"],
        "misses": figures["keel_cache_misses_total"], "executes": figures["keel_executions_total"],
    }, {field: stats[field] for field in ("compiles", "loads", "misses", "executes")})
    seconds = figures["keel_compile_seconds"]["sum"]
    report.check(f"{name}: to a microsecond a compile", abs(seconds - stats["compile_seconds"])
                 <= 1e-6 * stats["compiles"], (seconds, stats["compile_seconds"]))


def on_plugin(space, name, plugin):
    worker = space.path("worker.py")
    worker.write_text(WORKER)
    said = {}
    for temperature in ("cold", "warm"):
        run_name = f"{name}-{temperature}"
        answer = run([KEEL, "run", "--quiet", "--plugin", plugin, "--run-dir", space.runs,
                      "--cache-dir", space.path(f"cache-{name}"), "--", PYTHON, worker],
                     clean_environment(), cwd=space.folder)
        identity = max(path.name for path in space.runs.glob("2*"))
        numbers = last_json(answer)
        if not report.check(f"{run_name}: the process ends well", answer.code == 0 and numbers,
                            told(answer)):
            continue
        events = journal(space.runs, identity)
        report.equal(f"{run_name}: only the cold one compiles", bool(of_kind(events, "compile")),
                     temperature == "cold")
        numbers.pop("loss")
        said[temperature] = numbers
        check_memory(space, identity, numbers)
        check_metrics(space, identity)
    report.equal(f"{name}: a loaded program needs what it needed when it was compiled",
                 said.get("warm"), said.get("cold"))


def main():
    with Workspace("figures") as space:
        for name, plugin in [("embedded", PLUGIN), *other_plugins()]:
            on_plugin(space, name, plugin)
    report.finish()


if __name__ == "__main__":
    main()
