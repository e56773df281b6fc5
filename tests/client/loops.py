"""Which loop's executions are steps: beside a training step, a loader's and a metric's programs run far
more often."""

from harness import KEEL, PYTHON, Report, Workspace, run, run_environment, told, whole_json

report = Report()

TRAINS = '''
import jax, jax.numpy as jnp
to_named = jax.jit(lambda x: jnp.clip(jnp.roll(x, 1), 0, 9) * 2 + jnp.arange(4))
accuracy = jax.jit(lambda w, x: (jnp.tanh(x @ w) > 0).mean())
@jax.jit
def train(w, x):
    return w - jax.grad(lambda w: (jnp.tanh(x @ w) ** 2).mean())(w)
w = jnp.ones((4, 4))
for i in range(6):
    rows = [to_named(jnp.ones(4)) for _ in range(400)]
    w = train(w, jnp.stack(rows[:2]))
    for _ in range(100):
        accuracy(w, jnp.ones((2, 4)))
'''


def main():
    with Workspace("loops") as space:
        script = space.path("trains.py")
        script.write_text(TRAINS)
        environment = run_environment(space.path("cache"), space.runs)
        answer = run([KEEL, "run", "--", PYTHON, script], environment, cwd=space.folder)
        report.check("it ran", answer.code == 0, told(answer, 8))
        stats = whole_json(run([KEEL, "stats", "--json"], environment)) or {}
        report.equal("a training step is a step", stats.get("steps"), 6)
    report.finish()


if __name__ == "__main__":
    main()
