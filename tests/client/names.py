"""Two functions that compute the same share an executable. What is left of the first one's name, and what
is the second's own: docs/keys.md says it."""

from harness import (Report, Workspace, PYTHON, bare_environment, journal, keel_environment, last_json,
                     of_kind, run, told)

report = Report()

SCRIPT = '''
import json, sys
import jax, jax.numpy as jnp

def first(x):
    return jnp.tanh(x) @ x.T + 1

def second(y):
    return jnp.tanh(y) @ y.T + 1

told = {}
for function in (first, second):
    if function.__name__ not in sys.argv[1:]:
        continue
    lowered = jax.jit(function).lower(jnp.ones((8, 4)))
    compiled = lowered.compile()
    told[function.__name__] = {"module": compiled.as_text().split(",")[0], "lowered": lowered.as_text()[:30],
                               "sum": float(compiled(jnp.ones((8, 4))).sum())}
print(json.dumps(told))
'''


def ask(script, environment, *functions):
    answer = run([PYTHON, script, *functions], environment)
    report.check(f"{' and '.join(functions)}: it ran", answer.code == 0, told(answer, 8))
    return last_json(answer) or {}


def main():
    with Workspace("names") as space:
        script = space.path("script.py")
        script.write_text(SCRIPT)
        bare = ask(script, bare_environment(), "first", "second")
        both = ask(script, keel_environment(space.path("cache"), space.runs, "both"), "first", "second")
        later = ask(script, keel_environment(space.path("cache"), space.runs, "later"), "second")
        report.equal("without Keel each has its name", [bare[name]["module"] for name in bare],
                     ["HloModule jit_first", "HloModule jit_second"])
        report.equal("the second shares the first's executable, and its text", both["second"]["module"],
                     "HloModule jit_first")
        report.equal("in a later process too", later["second"]["module"], "HloModule jit_first")
        report.check("the lowered text is the second's own", "jit_second" in both["second"]["lowered"])
        report.equal("they compute the same", [told["second"]["sum"] for told in (both, later)],
                     [bare["second"]["sum"]] * 2)
        events = journal(space.runs, "later")
        report.equal("Keel itself names the function that asked",
                     [event["name"] for event in of_kind(events, "load")
                      if event["name"] in ("jit_first", "jit_second")], ["jit_second"])
    report.finish()


if __name__ == "__main__":
    main()
