"""`keel replay` and `keel pack` on recorded runs of real JAX: the run's own plugin has the same keys
and results; another one has other keys; what fails, grows or differs is a no; a pack stands for its
run."""

import json
import os
import subprocess

from harness import (BUILD, KEEL, PLUGIN, PYTHON, Report, Workspace, clean_environment, journal,
                     other_plugins, run, told)

report = Report()

PROGRAM = '''
import jax, jax.numpy as jnp

@jax.jit
def secret_step(params, tokens):
    hidden = jax.nn.softmax(params["secret_layer"][tokens] @ params["secret_layer"].T)
    return hidden.sum(), jnp.argmax(hidden, -1)

@jax.jit
def calls_back(x):
    jax.debug.print("sum {}", x.sum())
    return x * 2

@jax.jit
def endless(x):
    return jax.lax.while_loop(lambda c: c > x.min() - 10, lambda c: c + 1, x.sum())

params = {"secret_layer": jnp.ones((64, 16), jnp.bfloat16)}
for rows in (8, 5):
    print(secret_step(params, jnp.zeros((rows,), jnp.int32))[0])
print(calls_back(jnp.ones(8)).sum(), jnp.linalg.cholesky(jnp.eye(4) * 2).sum())
endless.lower(jnp.ones(8)).compile()
'''

def by_name(answer, name):
    found = [p for p in answer["programs"] if p["name"] == name]
    return found[0] if found else {}


def main():
    with Workspace("replay") as space:
        script = space.path("secret_script.py")
        script.write_text(PROGRAM)
        settings = clean_environment() | {
            "KEEL_CONFIG": os.devnull, "KEEL_RUN_DIR": str(space.runs),
            "KEEL_CACHE_DIR": str(space.path("cache")), "TMPDIR": str(space.folder)}

        def keel(*words, code=0, **more):
            answer = run([KEEL, *words], settings | more)
            report.equal(f"keel {' '.join(str(word) for word in words[:1])} ends with {code}",
                         answer.code, code) or print(told(answer))
            return answer

        def replay(*words, code=0, **more):
            return json.loads(
                keel("replay", "--json", "--timeout", "5", *words, code=code, **more).out or "{}")

        keel("run", "--", PYTHON, script)
        name = next(space.runs.glob("*/journal.ndjson")).parent.name
        own = [event for event in journal(space.runs, name) if event["event"] in ("compile", "load")]
        same_plugin(replay(name), own)
        text(keel("replay", name, "--no-run").out, len(own))
        other(replay, name)
        failing(space, replay, name)
        limits(space, replay, name)
        usage(keel, name)
        packs(space, keel, name, own)
        own_client(space, keel, replay)
    report.finish()


def same_plugin(answer, own):
    programs = answer["programs"]
    report.equal("each program of the run is there", len(programs), len({
        (event["program"], event["options"]) for event in own}))
    report.equal("all keys are those of the run",
                 [p["name"] for p in programs if not p["key"]["same"]], [])
    report.equal("nothing differs", answer["sum"]["different"], 0)
    report.check("most results are equal", answer["sum"]["equal"] > len(programs) / 2, answer["sum"])
    report.check("it passes", answer["passes"])
    step = by_name(answer, "jit_secret_step")
    report.check("times, code and memory stand side by side", all(
        step[side].get(figure) for side in ("recorded", "before", "after")
        for figure in ("seconds", "code", "memory")), step)
    report.equal("the line that asked is there", step["line"].rsplit("/", 1)[-1], "secret_script.py:20")
    report.equal("the step's results are equal", step["results"]["state"], "equal")
    report.check("its values were compared", step["results"]["values"] >= 18, step["results"])
    reasons = {
        "jit_calls_back": by_name(answer, "jit_calls_back")["results"].get("why", ""),
        "jit_cholesky": by_name(answer, "jit_cholesky")["results"].get("why", ""),
        "jit_endless": by_name(answer, "jit_endless")["results"].get("why", "")}
    report.check("a program that calls back is not run, and why",
                 "callback" in reasons["jit_calls_back"], reasons)
    report.check("a program with kernels of the client's is not run, and why",
                 "lapack_spotrf_ffi" in reasons["jit_cholesky"], reasons)
    report.check("a program that does not end is given up, and why",
                 "did not end within 5 s" in reasons["jit_endless"], reasons)


def text(out, count):
    report.check("the text has a line for each program", out.count("not run: --no-run") >= count - 2, out)
    report.check("and says that nothing compiles again", "nothing would compile again" in out, out)


def other(replay, name):
    plugins = other_plugins()
    report.check("another plugin is there (tools/setup --all-plugins brings it)", plugins)
    for label, plugin in plugins:
        answer = replay(name, "--plugin", plugin, "--tolerance", "0.05", "--limit", "100000")
        changed = [p for p in answer["programs"] if p["key"].get("same") is False]
        report.equal(f"{label}: all programs would compile again", len(changed),
                     len(answer["programs"]))
        report.check(f"{label}: because the plugin is another one", all(
            "plugin build" in [d["subject"] for d in p["key"]["differs"]] for p in changed), changed[:1])
        report.equal(f"{label}: nothing fails", answer["sum"]["failed"], 0)
        report.check(f"{label}: programs ran on both, within the tolerance",
                     answer["sum"]["equal"] + answer["sum"]["within_tolerance"] >
                     len(answer["programs"]) / 2, answer["sum"])
        report.equal(f"{label}: before is the run's plugin", answer["before"]["plugin"], str(PLUGIN))
        step = by_name(answer, "jit_secret_step")
        report.check(f"{label}: the step has figures of both",
                     step["before"]["code"] and step["after"]["code"], step)


def own_client(space, keel, replay):
    """A run of JAX's own client is compiled by a plugin that is older than the client."""
    elsewhere = {"KEEL_RUN_DIR": str(space.path("own-runs")), "KEEL_CACHE_DIR": str(space.path("own-cache"))}
    keel("run", "--jax-cpu", "own", "--", PYTHON, space.path("secret_script.py"), **elsewhere)
    answer = replay("latest", **elsewhere)
    report.equal("JAX's own client: before is as recorded", answer.get("before"), None)
    report.equal("JAX's own client: after is the embedded plugin", answer["after"]["plugin"], str(PLUGIN))
    report.check("JAX's own client: the programs are there", len(answer["programs"]) > 8, answer["sum"])
    report.equal("JAX's own client: all compile, and none is run",
                 (answer["sum"]["failed"], answer["sum"]["left_out"], answer["sum"]["not_run"]),
                 (0, 0, len(answer["programs"])))
    report.equal("JAX's own client: all would compile again, because of the plugin",
                 {d["subject"] for p in answer["programs"] for d in p["key"]["differs"]}, {"plugin build"})
    for name in "jit_calls_back", "jit_cholesky", "jit_secret_step":
        report.check(f"JAX's own client: {name} has figures of both", all(
            by_name(answer, name)[side].get("seconds") for side in ("recorded", "after")), answer["sum"])


def failing(space, replay, name):
    """A program that the run compiled and that its plugin no longer reads: its bytes are kept, but
    the version of its dialect is from the future."""
    kept = space.runs / "programs"
    step = by_name(replay(name, "--no-run"), "jit_secret_step")["program"]
    path = kept / f"{step}.mlir.zst"
    whole = path.read_bytes()
    code = subprocess.run(["zstd", "-dqc", path], capture_output=True, check=True).stdout
    damaged = bytearray(code)
    damaged[len(damaged) // 2] ^= 0xff
    path.write_bytes(subprocess.run(["zstd", "-qc"], input=bytes(damaged), capture_output=True,
                                    check=True).stdout)
    answer = replay(name, "--no-run")
    state = next(p for p in answer["programs"] if p["program"] == step)
    report.equal("a kept program that is damaged is left out", state["state"], "left out")
    report.equal("and the others are compiled", answer["sum"]["left_out"], 1)
    path.write_bytes(whole)
    # A plugin whose compiler crashes over each program.
    crashing = BUILD / "lib" / "keel_test_plugin.so"
    answer = replay(name, "--plugin", crashing, code=1, TEST_PLUGIN="compile_aborts")
    step = by_name(answer, "jit_secret_step")
    report.equal("a program over which the other plugin crashes has failed", step["state"], "failed")
    report.check("and it is said why", "crashed (SIGABRT): about to end" in step["why"], step)
    report.equal("so it is with each that the run's plugin compiles here",
                 answer["sum"]["failed"] + answer["sum"]["left_out"], len(answer["programs"]))
    report.check("that is a no", not answer["passes"])
    # One that cannot be loaded at all.
    broken = space.path("broken.so")
    broken.write_bytes(b"no library")
    report.equal("a plugin that is not a library is named and nothing is compiled",
                 run([KEEL, "replay", name, "--plugin", broken], clean_environment() | {
                     "KEEL_RUN_DIR": str(space.runs)}).code, 2)


def limits(space, replay, name):
    path = space.runs / name / "journal.ndjson"
    whole = path.read_text()
    # As if the run's plugin had been much better, and were gone.
    lines = []
    for line in whole.splitlines():
        event = json.loads(line)
        if event["event"] == "start":
            event["plugin"]["build"] = "0" * 64
        if event["event"] == "memory":
            event["total"] = 1
        lines.append(json.dumps(event))
    path.write_text("\n".join(lines) + "\n")
    answer = replay(name, "--limit", "code=1000000,memory=20,time=1000000")
    report.check("without the run's plugin, recorded figures are compared", "before" not in answer)
    report.equal("results are not", {p["results"]["state"] for p in answer["programs"]}, {"not run"})
    # Programs here take less than what counts as growth, so nothing grew.
    report.equal("growth of a few bytes does not count", answer["sum"]["grew"], 0)
    path.write_text(whole)


def usage(keel, name):
    for words in (("replay",), ("replay", "no-such-run"), ("replay", name, "--limit", "x"),
                  ("replay", name, "--tolerance", "-1"), ("replay", name, "--on", "nothing"),
                  ("replay", name, "--plugin", "/nowhere.so"), ("pack", name), ("pack", "x", "-o", "y")):
        keel(*words, code=2)


def packs(space, keel, name, own):
    whole, bare = space.path("whole.keelpack"), space.path("bare.keelpack")
    keel("pack", name, "-o", whole)
    keel("pack", name, "-o", bare, "--no-names")
    elsewhere = {"KEEL_RUN_DIR": str(space.path("no-runs"))}
    for command in ("stats", "why", "memory"):
        report.equal(f"keel {command} says of the pack what it says of the run",
                     keel(command, whole, **elsewhere).out, keel(command, name).out)
    figures = [json.loads(keel("stats", "--json", which, **elsewhere).out) for which in (whole, bare)]
    for field in ("programs", "compiles", "compile_seconds", "executes", "steps", "recompile_count"):
        report.equal(f"without names, {field} stay", figures[1][field], figures[0][field])
    answer = json.loads(keel("replay", "--json", "--no-run", bare, "--before", PLUGIN, "--plugin", PLUGIN,
                             **elsewhere).out)
    keys = {event["key"] for event in own if "key" in event}
    report.check("without names, programs have the keys of the run", {
        p["key"]["now"] for p in answer["programs"] if p["key"].get("same")} <= keys)
    report.check("all but those with kernels, whose libraries a pack does not bring", sum(
        p["key"].get("same") is True for p in answer["programs"]) >= len(answer["programs"]) - 2)
    folder = space.path("unpacked")
    folder.mkdir()
    subprocess.run(["tar", "--zstd", "-xf", bare, "-C", folder], check=True)
    text = b"".join(
        subprocess.run(["zstd", "-dqc", path], capture_output=True, check=True).stdout
        if path.suffix == ".zst" else path.read_bytes() for path in folder.rglob("*") if path.is_file())
    for word in ("secret", "calls_back", str(space.folder), os.uname().nodename + '"'):
        report.check(f"without names, '{word}' is nowhere", word.encode() not in text)
    same = keel("diff", whole, bare, **elsewhere)
    report.check("and both packs have the same programs", "the same programs" in same.out, same.out)
    keel("diff", whole, name)
    damaged = bytearray(whole.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    broken = space.path("broken.keelpack")
    broken.write_bytes(damaged)
    report.check("a damaged pack is refused", "broken.keelpack" in keel("stats", broken, code=2).err)
    report.equal("no command leaves its folder behind",
                 [path.name for path in space.folder.glob("keel-pack-*")], [])


if __name__ == "__main__":
    main()
