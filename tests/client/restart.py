"""Restarts, cold and warm, under everything that can happen to a cache: always the right numbers,
never a failed run, healed by the next one; and one compile for one key across processes."""

import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time

from damage import DAMAGES, HARMLESS
from harness import (DEADLINE, KEEL, Report, Workspace, bare_environment, compiles, entries,
                     errors_until, executions, finish, journal, keel_environment, last_json, loads,
                     of_kind, other_plugins, run, start, told, worker)

report = Report()
ROOT_USER = os.geteuid() == 0


class Cache:
    """A cache folder with runs of its own; each process counts its own run up."""

    def __init__(self, space, name, **settings):
        self.space, self.name, self.settings = space, name, settings
        self.folder = space.path(name)
        self.count = 0

    def environment(self, **more):
        self.count += 1
        return keel_environment(self.folder, self.space.runs, f"{self.name}-{self.count}",
                                **(self.settings | more))

    def events(self):
        """Of the last run."""
        return journal(self.space.runs, f"{self.name}-{self.count}")

    def run(self, case, wanted, command, **more):
        """Runs a worker, checks that it ends well with the wanted results, and gives its events."""
        return self.check(case, wanted, run(command, self.environment(**more)))

    def check(self, case, wanted, answer):
        got = last_json(answer)
        report.check(f"{case}: the run ends well with the right numbers",
                     answer.code == 0 and got == wanted, told(answer))
        return self.events()


def programs(*arguments):
    return worker("programs.py", *arguments)


def wanted_of(command, **options):
    answer = run(command, bare_environment(**options))
    result = last_json(answer)
    if answer.code or result is None:
        sys.exit(f"client tests: {command}: fails on the bare plugin: {told(answer)}")
    return result


def cold_and_warm(space, wanted):
    cache = Cache(space, "training")
    cold = cache.run("training, cold", wanted, worker("trainer.py"))
    report.equal("training, cold: all is compiled", (len(compiles(cold)) > 2, loads(cold)),
                 (True, []))
    warm = cache.run("training, warm", wanted, worker("trainer.py"))
    report.equal("training, warm: nothing is compiled", [e["name"] for e in of_kind(
        warm, "compile", "store_error", "fallback")], [])
    report.equal("training, warm: as many loads as there were compiles", len(loads(warm)), len(
        compiles(cold)))
    counts = [sum(executions(events).values()) for events in (cold, warm)]
    report.equal("training: cold and warm execute as often", counts[0], counts[1])
    return cache


# ---- damaged entries ---------------------------------------------------------------------------


def verify(cache):
    return run([KEEL, "cache", "verify", "--cache-dir", cache.folder], cache.environment())


def damaged_entries(space):
    names = list(DAMAGES) + list(HARMLESS)
    command = programs(len(names) + 1)
    wanted = wanted_of(command)
    cache = Cache(space, "damaged")
    cold = cache.run("damage: first run", wanted, command)
    keys = {event["name"]: event["key"] for event in of_kind(cold, "publish")}
    paths = entries(cache.folder)
    if not report.equal("damage: all programs are stored", len(keys), len(names) + 1):
        return
    whole = {name: paths[key].read_bytes() for name, key in keys.items()}
    other = whole[f"jit_program_{len(names)}"]
    for number, name in enumerate(names):
        module = f"jit_program_{number}"
        (DAMAGES | HARMLESS)[name](paths[keys[module]], whole[module], other)
    report.equal("damage: keel cache verify says so", verify(cache).code, 1)
    before = sorted(cache.folder.rglob("*"))
    cache.run("damage: read only", wanted, command, mode="readonly")
    report.equal("damage: read only: the folder is as it was", sorted(cache.folder.rglob("*")),
                 before)
    second = cache.run("damage: second run", wanted, command)
    compiled = {event["name"] for event in compiles(second)}
    for number, name in enumerate(names):
        verdict = f"jit_program_{number}" in compiled
        report.equal(f"damage: {name} is {'compiled anew' if name in DAMAGES else 'loaded'}",
                     verdict, name in DAMAGES)
    report.check("damage: what was not damaged is loaded", f"jit_program_{len(names)}" not in
                 compiled)
    third = cache.run("damage: third run", wanted, command)
    left = {names[int(event["name"].removeprefix("jit_program_"))] for event in compiles(third)}
    report.equal("damage: the third run compiles nothing", left, set())
    answer = verify(cache)
    report.equal("damage: keel cache verify finds the cache whole", answer.code, 0)


# ---- a cache folder that is not as it should be ------------------------------------------------


def shell(line, command):
    return ["sh", "-c", f"{line} && exec {shlex.join(str(part) for part in command)}"]


def own_mounts(line, command):
    return ["unshare", "-m"] + shell(line, command)


def can_mount():
    try:
        return subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode == 0
    except FileNotFoundError:
        return False


def heals(cache, case, wanted, command):
    cache.run(f"{case}, next run", wanted, command)
    events = cache.run(f"{case}, the run after", wanted, command)
    report.equal(f"{case}: healed", [event["name"] for event in compiles(events)], [])


def odd_folders(space):
    command = programs(3)
    wanted = wanted_of(command)

    missing = Cache(space, "not/there/yet")
    missing.name = "missing"
    events = missing.run("a missing folder", wanted, command)
    report.equal("a missing folder: it is made", len(of_kind(events, "publish")), 3)

    a_file = Cache(space, "a-file")
    a_file.folder.write_text("no folder\n")
    a_file.run("a file in place of the folder", wanted, command)
    report.equal("a file in place of the folder: it is left alone", a_file.folder.read_text(),
                 "no folder\n")

    remote = Cache(space, "remote")
    remote.folder = "gs://bucket/cache"
    answer = run(command, remote.environment())
    report.check("a remote folder: refused, or the run goes on and says so",
                 "KEEL_CACHE_DIR" in answer.err or "cache_dir" in answer.err, told(answer))

    no_journal = Cache(space, "no-journal")
    space.path("runs-file").write_text("no folder\n")
    no_journal.run("a file in place of the runs' folder", wanted, command,
                   KEEL_RUN_DIR=str(space.path("runs-file")))
    report.equal("a file in place of the runs' folder: programs are stored all the same",
                 len(entries(no_journal.folder)), 3)

    limited = Cache(space, "limited")
    limited.run("files limited to 4 KiB", wanted, shell("ulimit -f 8", command))
    heals(limited, "files limited to 4 KiB", wanted, command)
    mounted_folders(space, wanted, command)


def mounted_folders(space, wanted, command):
    folder = space.path("mounted")
    if not (ROOT_USER and can_mount()):
        for case in ("a full disk", "a read-only disk"):
            report.skip(case, "it mounts a file system: run as root, in a container with CAP_SYS_ADMIN")
        return
    folder.mkdir()
    for size in (16, 32):
        full = Cache(space, "mounted")
        full.name = f"full-{size}"
        mount = f"mount -t tmpfs -o size={size}k keel {shlex.quote(str(folder))}"
        events = full.run(f"a disk of {size} KiB", wanted, own_mounts(mount, command))
        report.check(f"a disk of {size} KiB: it is on record", of_kind(events, "store_error") or
                     len(of_kind(events, "publish")) == 3)
    heals(full, "a disk that was full", wanted, command)
    read_only = (f"mount --bind {shlex.quote(str(folder))} {shlex.quote(str(folder))} && "
                 f"mount -o remount,ro,bind {shlex.quote(str(folder))}")
    full.name = "read-only"
    events = full.run("a read-only disk, warm", wanted, own_mounts(read_only, command))
    report.equal("a read-only disk, warm: nothing is compiled", compiles(events), [])
    events = full.run("a read-only disk, with a program more", wanted_of(programs(4)),
                      own_mounts(read_only, programs(4)))
    report.equal("a read-only disk, with a program more: that one is compiled",
                 [event["name"] for event in compiles(events)], ["jit_program_3"])


def folder_without_rights(space):
    """Where this user is root, without the rights for which no mode of a file counts."""
    command = programs(3)
    case = "a folder without the right to write"
    prefix = []
    if ROOT_USER:
        rights = "-dac_override,-dac_read_search"
        prefix = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"]
        if not shutil.which("setpriv") or subprocess.run(
                prefix + ["true"], stderr=subprocess.DEVNULL).returncode:
            report.skip(case, "setpriv (util-linux) has to take root's rights away: install it, or run as another user")
            return
    cache = Cache(space, "no-rights")
    cache.run(f"{case}: as its owner", wanted := wanted_of(command), command)
    for path in [cache.folder, *cache.folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    events = cache.run(f"{case}: warm", wanted, prefix + command)
    report.equal(f"{case}: warm: nothing is compiled", compiles(events), [])
    more = programs(4)
    events = cache.run(f"{case}: with a program more", wanted_of(more), prefix + more)
    report.check(f"{case}: with a program more: that one is not stored", of_kind(
        events, "store_error") and not of_kind(events, "publish"))
    for path in [cache.folder, *cache.folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


# ---- kills -------------------------------------------------------------------------------------


def killed_runs(space, wanted):
    """A moment is a number of programs, and a little more: seconds mean another place on each machine."""
    cache = Cache(space, "killed")
    many = programs(60)
    moments = random.Random(5)
    killed = 0
    for command, most in [(worker("trainer.py", "1000000"), 2), *[(many, 45)] * 3] * 2:
        process = start(command, cache.environment())
        count = moments.randint(0, most)
        wait_for(lambda: process.poll() is not None or
                 len(of_kind(cache.events(), "start", "compile", "load")) > count)
        time.sleep(moments.uniform(0.0, 0.1))
        process.send_signal(signal.SIGKILL)
        killed += finish(process).code == -signal.SIGKILL
    report.check("kill -9 at random moments: runs were killed", killed > 2, killed)
    heals(cache, "kill -9 at random moments", wanted, worker("trainer.py"))
    heals(cache, "kill -9 among many programs", wanted_of(many), many)
    answer = verify(cache)
    report.equal("kill -9 at random moments: the cache is whole", answer.code, 0)


# ---- several processes -------------------------------------------------------------------------


def wait_for(condition, seconds=DEADLINE):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False


def waiting_processes(cache, count, command):
    """Processes of one run that have all but compiled."""
    environment = cache.environment()
    processes = [start(command, environment, stdin=subprocess.PIPE) for _ in range(count)]
    for process in processes:
        process.stdout.readline()
    return processes


def go(process):
    process.stdin.write("\n")
    process.stdin.flush()


def at_once(space, count, wanted, command):
    case = f"{count} processes at once on one key"
    cache = Cache(space, f"at-once-{count}")
    processes = waiting_processes(cache, count, command)
    for process in processes:
        go(process)
    answers = [finish(process) for process in processes]
    report.check(f"{case}: all have the right numbers", all(
        answer.code == 0 and last_json(answer) == wanted for answer in answers),
        [told(answer) for answer in answers if answer.code])
    events = cache.events()
    report.equal(f"{case}: compiled once, loaded by the others",
                 (len(compiles(events)), len(loads(events))), (1, count - 1))


def holds_a_key(cache, process):
    try:
        return any(f"pid {process.pid}" in lock.read_text()
                   for lock in cache.folder.glob("locks/*.lock"))
    except FileNotFoundError:  # it was released just now
        return False


def holder_killed(space, wanted, command):
    """It is stopped, so that it holds for as long as it takes the waiter to come and to say so."""
    case = "the holder of a key is killed"
    cache = Cache(space, "holder")
    holder, waiter = waiting_processes(cache, 2, command)
    go(holder)
    report.check(f"{case}: it holds", wait_for(lambda: holds_a_key(cache, holder)))
    holder.send_signal(signal.SIGSTOP)
    go(waiter)
    said = errors_until(waiter, f"pid {holder.pid}")
    holder.send_signal(signal.SIGKILL)
    killed = finish(holder).code == -signal.SIGKILL
    answer = finish(waiter)
    report.check(f"{case}: it was compiling still", killed and not compiles(
        [event for event in cache.events() if event["pid"] == holder.pid]))
    report.check(f"{case}: another takes over with the right numbers",
                 answer.code == 0 and last_json(answer) == wanted, told(answer))
    report.equal(f"{case}: and compiles once", len(compiles(cache.events())), 1)
    report.check(f"{case}: who waits names the holder", f"pid {holder.pid}" in said, said)


def several_processes(space):
    command = programs(0, 60, "--wait")
    wanted = wanted_of(programs(0, 60))
    at_once(space, 2, wanted, command)
    at_once(space, 8, wanted, command)
    long = programs(0, HOLDER_LAYERS, "--wait")
    holder_killed(space, wanted_of(programs(0, HOLDER_LAYERS)), long)


# Layers that take the compiler far longer than it takes to see that the holder holds.
HOLDER_LAYERS = 400

# ---- other plugins, other processors -----------------------------------------------------------


def other_backends(space):
    cache = Cache(space, "shared")
    command = programs(4)
    cache.run("one cache, the embedded plugin", wanted_of(command), command)
    keys = set(entries(cache.folder))
    if not other_plugins():
        report.skip("one cache, other plugins", "they are missing: tools/setup --all-plugins brings them")
    for name, plugin in other_plugins():
        wanted = wanted_of(command, plugin=plugin)
        events = cache.run(f"one cache, {name}", wanted, command, plugin=plugin)
        report.check(f"one cache, {name}: no entry of another plugin is used",
                     not loads(events) and len(compiles(events)) == 4 and
                     not keys & {event["key"] for event in compiles(events)})
        keys |= {event["key"] for event in compiles(events)}
        events = cache.run(f"one cache, {name}, warm", wanted, command, plugin=plugin)
        report.equal(f"one cache, {name}, warm: nothing is compiled", compiles(events), [])
    fewer_processors(cache, command, keys)


def fewer_processors(cache, command, keys):
    processors = os.sched_getaffinity(0)
    if len(processors) < 2 or not shutil.which("taskset"):
        report.skip("one cache, fewer processors", "it takes two processors and taskset (util-linux)")
        return
    only = ["taskset", "-c", str(min(processors))]
    wanted = last_json(run(only + command, bare_environment()))
    events = cache.run("one cache, fewer processors", wanted, only + command)
    report.check("one cache, fewer processors: no entry for more is used", not loads(events) and
                 not keys & {event["key"] for event in compiles(events)})


PARTS = {
    "damaged": damaged_entries, "folders": odd_folders, "rights": folder_without_rights,
    "processes": several_processes, "backends": other_backends,
}


def main():
    chosen = sys.argv[1:]
    with Workspace("restart") as space:
        if not chosen or "training" in chosen:
            wanted = wanted_of(worker("trainer.py"))
            cold_and_warm(space, wanted)
            killed_runs(space, wanted)
        for name, part in PARTS.items():
            if not chosen or name in chosen:
                part(space)
    report.finish()


if __name__ == "__main__":
    main()
