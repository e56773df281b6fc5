"""Programs that one machine compiled and another loads: two caches and a folder between them, with
real JAX."""

import json
import os
import signal
import subprocess
import time

from harness import KEEL, PYTHON, Report, Workspace, clean_environment

report = Report()
SCRIPT = '''
import jax, jax.numpy as jnp
step = jax.jit(lambda w, x: w - 0.1 * jax.grad(lambda v: ((x @ v) ** 2).mean())(w))
w = jnp.ones((16, 4))
for n in (8, 8, 12):
    w = step(w, jnp.arange(n * 16.0).reshape(n, 16) / 100)
print("sum", float(w.sum()))
'''


LONG = '''
import jax, jax.numpy as jnp
@jax.jit
def long(x):
    for i in range(1500):
        x = jnp.sin(x @ x) * (i + 1.5)
    return x
print("long", float(long(jnp.ones((8, 8))).sum()))
'''


def machine(space, name, remotes, **more):
    home = space.path(name)
    home.mkdir(exist_ok=True)
    return clean_environment() | {
        "HOME": str(home), "KEEL_CACHE_DIR": str(home / "cache"), "KEEL_RUN_DIR": str(home / "runs"),
        "KEEL_REMOTES": remotes} | more


def keel(environment, *words):
    return subprocess.run([KEEL, *words], env=environment, capture_output=True, text=True, timeout=900)


def train(environment, script):
    answer = keel(environment, "run", "--", PYTHON, script)
    stats = json.loads(keel(environment, "stats", "--json").stdout)
    return answer, stats


def start(environment, script):
    """Begins as train does; its processes are a group."""
    return subprocess.Popen([KEEL, "run", "--", PYTHON, script], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for_lasting(process, folder, pattern):
    """Until a file has been there for a second, so not one of what is compiled at once."""
    before = set()
    while process.poll() is None:
        now = set(folder.glob(pattern))
        if before & now:
            return
        before = now
        time.sleep(1)


def end_helper(environment):
    answer = keel(environment, "cache", "remotes", "--json")
    os.kill(json.loads(answer.stdout)["helper"]["pid"], 9)


with Workspace("fleet") as space:
    script = space.path("train.py")
    script.write_text(SCRIPT)
    share = space.path("share")
    share.mkdir()
    machines = []

    def new(name, words="", **more):
        machines.append(machine(space, name, f"file://{share}{words}", **more))
        return machines[-1]

    one = new("one", "|read-write")
    public = keel(one, "cache", "keygen", "ci").stdout.strip()
    first, stats = train(one, script)
    compiled = stats["compiles"]
    report.check("a first machine compiles", compiled >= 3, stats)
    pushed = keel(one, "cache", "push")
    report.check("all of it is stored behind its back", f"{compiled} entries there, 0 not" in pushed.stdout, pushed)

    two = new("two")
    keel(two, "cache", "trust", public)
    answer, stats = train(two, script)
    report.equal("another machine compiles nothing", stats["compiles"], 0)
    report.equal("it has the same numbers", answer.stdout, first.stdout)
    report.equal("its report says where they came from", stats.get("remote_hits"), stats["loads"] - stats["memory_hits"])
    asked = stats["remotes"][0]
    report.equal("all of them that were not in memory", stats["tiers"].get(f"file://{share}"), stats["remote_hits"])
    report.check("how much came and how long it took", asked["found"] == compiled and asked["bytes"] > 0
                 and asked["slowest_seconds"] <= asked["seconds"], asked)
    report.equal("they were there before they were asked for, as the first machine had left its plan",
                 [asked["absent"], asked["seconds"], len(list(share.glob("plans/*/*.keel")))], [0, 0, 1])
    report.check("in words too", f"(from file://{share})" in keel(two, "stats").stdout, keel(two, "stats").stdout)
    report.check("and on the page", f"from file://{share}" in keel(two, "report", "-o", "-").stdout, "")
    answer, stats = train(two, script)
    report.equal("a second run there needs no remote", (stats["compiles"], stats.get("remote_hits")), (0, None))

    # Which programs: those of a run, those of a contract, and in one file.
    files, named = space.path("files"), json.loads(keel(one, "runs", "--json").stdout)[0]["id"]
    files.mkdir()
    keel(one, "contract", "record", "-o", str(files / "keel.contract"), "--from", named)
    for words in (["--run", named], ["--contract", str(files / "keel.contract")]):
        answer = json.loads(keel(one, "cache", "export", str(files / "programs.tar"), *words, "--json").stdout)
        report.check(f"a file has the programs that {words[0]} means", answer["there"] >= 1 and
                     answer["there"] <= compiled and answer["failed"] == 0, answer)
    keel(one, "cache", "export", str(files / "programs.tar"))
    alone = machine(space, "alone", "none")
    keel(alone, "cache", "trust", public)
    keel(alone, "cache", "import", str(files / "programs.tar"))
    answer, stats = train(alone, script)
    report.equal("a machine without a network compiles nothing with such a file",
                 (stats["compiles"], answer.stdout), (0, first.stdout))

    stranger = new("stranger")
    answer, stats = train(stranger, script)
    report.equal("a machine that does not trust the key compiles", stats["compiles"], compiled)
    report.check("and says why", f"signed by a key that is not trusted, {public.split(':')[1]}" in answer.stderr,
                 answer.stderr)
    report.equal("with the same numbers", answer.stdout, first.stdout)
    report.equal("and of each program why it was not loaded", {
        entry["unused"]["got"] for entry in stats["by_program"]}, {"untrusted"})
    report.check("which `keel why` says too", f"Remote file://{share}: " in (said := keel(
        stranger, "why").stdout) and " untrusted: an entry is signed by a key" in said.replace("\n", " "), said)

    away = machine(space, "away", "file:///nowhere/at/all|trusted")
    machines.append(away)
    answer, stats = train(away, script)
    report.equal("without the folder a machine compiles", (stats["compiles"], answer.stdout), (compiled, first.stdout))
    report.equal("its report says that it failed once and was left alone",
                 [stats["remotes"][0][word] for word in ("failed", "absent")], [1, 0])
    report.equal("and says so once", answer.stderr.count("what it may have is compiled here"), 1)

    other = new("other", XLA_FLAGS="--xla_cpu_enable_fast_math=true")
    keel(other, "cache", "trust", public)
    answer, stats = train(other, script)
    report.check("a machine with other flags hears which component differs", stats["remotes"][0]["other"] == 1 and
                 "have another XLA_FLAGS" in stats["remotes"][0]["why"]["other"], stats["remotes"])

    late = new("late")
    keel(late, "cache", "trust", public)
    end_helper(late)
    answer, stats = train(late, script)
    report.equal("a helper that was killed is started again", (answer.returncode, stats["compiles"]), (0, 0))

    rehearsed = new("rehearsed", "|read-write|namespace=rehearsed")
    keel(rehearsed, "cache", "keygen", "laptop")
    answer = keel(rehearsed, "rehearse", "--on", "cpu", "--", PYTHON, script)
    report.check("a rehearsal writes nothing elsewhere", answer.returncode == 0 and
                 "would have written" not in answer.stderr and not (share / "rehearsed").exists(), answer.stderr)
    pushed = keel(rehearsed, "cache", "push")
    report.check("and what it compiled can be stored", pushed.returncode == 0 and
                 f"{len(list(share.glob('rehearsed/entries/*/*')))} entries there, 0 not" in pushed.stdout, pushed)

    readonly = new("readonly", KEEL_MODE="readonly")
    keel(readonly, "cache", "trust", public)
    answer, stats = train(readonly, script)
    report.check("in mode readonly nothing is written", not space.path("readonly/cache").exists() and
                 stats["compiles"] == compiled, stats)

    # Machines that start at the same time, with one key.
    words, keys = "|read-write|namespace=together", str(space.path("one/keys"))
    keel(one | {"KEEL_KEYS_DIR": keys}, "cache", "keygen", "ci")
    together = [new(f"together{i}", words, KEEL_KEYS_DIR=keys) for i in range(4)]
    processes = [start(environment, script) for environment in together]
    outputs = [process.communicate(timeout=900)[0] for process in processes]
    stats = [json.loads(keel(environment, "stats", "--json").stdout) for environment in together]
    report.equal("four machines at once compile each program once", sum(one["compiles"] for one in stats), compiled)
    report.equal("they have the same numbers", set(outputs), {first.stdout})

    # One that is killed in the middle of a long compile.
    words, long = "|read-write|namespace=killed", space.path("long.py")
    long.write_text(LONG)
    killed, heir = (new(name, words, KEEL_KEYS_DIR=keys) for name in ("killed", "heir"))
    process = start(killed, long)
    wait_for_lasting(process, share, "killed/claims/*/*")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    answer, stats = train(heir, long)
    report.check("a machine waits for one that was killed, and then compiles", "is being compiled by pid" in
                 answer.stderr and answer.returncode == 0 and stats["compiles"] >= 1, answer.stderr)
    report.check("nothing stays behind", not list(share.glob("*/claims/*/*")), list(share.glob("*/claims/*/*")))

    for environment in machines:
        if environment is not readonly:
            end_helper(environment)

report.finish()
