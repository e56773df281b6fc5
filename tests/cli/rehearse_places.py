"""A rehearsed command where files stand in unusual places: the user's own in folders that Keel was given, on a
small disk, and on one that can only be read. No file changes, and what Keel cannot do it says. Other users than
root mount in a user namespace."""

import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path.cwd()
BUILD = pathlib.Path(shutil.which("keel")).parent.parent
APART = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
REHEARSE = ["keel", "rehearse", "--on", "cpu:1", "--plugin", str(BUILD / "lib" / "keel_test_plugin.so"), "--"]


def say(name, run, *more):
    print(f"{name}: exit {run.returncode}", *more)
    for line in (run.stdout + run.stderr).splitlines():
        if "nothing was recorded" not in line:
            print("  " + line)


def rehearse(*words, cwd=None, **more):
    return subprocess.run(REHEARSE + list(words), cwd=cwd, capture_output=True, text=True,
                          env=os.environ | {"KEEL_RUN_DIR": str(HERE / "runs"),
                                            "KEEL_CACHE_DIR": str(HERE / "cache")} | more)


def read(root):
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


def beside_keels():
    """KEEL_RUN_DIR=runs, where the script keeps its logs, and a cache folder that has files of the user's."""
    root = HERE / "project"
    for name in ("runs/tb/events", "runs/notes", "cache/mine"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("mine")
    before = read(root)
    folders = {"KEEL_RUN_DIR": "runs", "KEEL_CACHE_DIR": str(root / "cache")}
    script = "echo lost > runs/tb/events; echo new > runs/tb/new; rm runs/notes cache/mine; cat runs/tb/events"
    run = rehearse("sh", "-c", script, cwd=root, **folders)
    say("in Keel's folders", run, "unchanged" if read(root) == before else read(root))
    run = rehearse("sh", "-c", "echo lost > events", cwd=root / "runs" / "tb", **folders | {"KEEL_RUN_DIR": ".."})
    say("works in one", run, "unchanged" if read(root) == before else read(root))
    print("  runs:", *sorted(path.name for path in (root / "runs").iterdir()))
    for name in ("runs/sources/data.zst", "runs/history/log.ndjson", "cache/plans/a.plan", "cache/plugins/README"):
        (root / name).write_text("mine")
        say(name, rehearse("true", cwd=root, **folders))
        (root / name).unlink()
    shutil.rmtree(root)


def opened():
    """What the shell has opened: a file is written, a folder is that of the view; and a folder that is gone."""
    root = HERE / "project"
    (root / "gone").mkdir(parents=True)
    (root / "old").write_text("old")
    words = "sh -c 'echo lost > /proc/self/fd/4/old; cat old; echo said >&5'"
    run = subprocess.run(["sh", "-c", f"exec 4<. 5>log; {' '.join(REHEARSE)} {words}"], cwd=root,
                         capture_output=True, text=True)
    say("opened", run, read(root))
    run = subprocess.run(["sh", "-c", f"cd gone; rmdir ../gone; {' '.join(REHEARSE)} "
                          "sh -c 'echo lost > ../old; ls -d .; echo new 2>&1 > new'"], cwd=root,
                         capture_output=True, text=True)
    say("a removed folder", run, read(root))
    shutil.rmtree(root)


# What is prepared, the environment and the command; $mounted is a folder to mount on.
MOUNTED = {
    "a full disk": (
        "mount -t tmpfs -o size=4m none $mounted; echo old > old", {"KEEL_RUN_DIR": "$mounted/runs"},
        "echo more >> old; head -c 9000000 /dev/zero > large || exit 3"),
    "a read-only file system": (
        "mount -t tmpfs none $mounted; echo old > $mounted/old; mount -o remount,bind,ro $mounted; echo old > old",
        {}, "echo lost > $mounted/old; echo lost > old; cat old $mounted/old"),
    "a file beside devices": (
        "mount --rbind /dev $mounted; mount -t tmpfs none /dev; touch /dev/null /dev/urandom; "
        "mount --bind $mounted/null /dev/null; mount --bind $mounted/urandom /dev/urandom; echo old > /dev/file",
        {}, "echo lost > /dev/file; echo lost > /dev/new; cat /dev/file; echo gone > /dev/null && echo a device"),
    "work on a read-only file system": (
        "echo old > old; mount -t tmpfs none $mounted; echo old > $mounted/old; mount -o remount,bind,ro $mounted; "
        "cd $mounted", {}, "cat old; echo lost > $home/old; cat $home/old"),
}


def mounted(name, prepare, variables, script):
    place = HERE / "mounted"
    place.mkdir()
    home = HERE / "home"
    home.mkdir()

    def fill(text):
        return text.replace("$mounted", str(place)).replace("$home", str(home))

    shell = (f"set -e; {fill(prepare)}; set +e; {' '.join(REHEARSE)} sh -c '{fill(script)}'; code=$?; "
             f"echo \"then: $(cat {home}/old {place}/old 2>/dev/null | tr '\\n' ' ')\"; exit $code")
    run = subprocess.run([*APART, "sh", "-c", shell], cwd=home, capture_output=True, text=True,
                         env=os.environ | {"KEEL_RUN_DIR": str(HERE / "runs"), "KEEL_CACHE_DIR": str(HERE / "cache")} |
                         {key: fill(value) for key, value in variables.items()})
    say(name, run)
    shutil.rmtree(home)
    shutil.rmtree(place)


os.environ.pop("TMPDIR", None)
beside_keels()
opened()
for words in MOUNTED.items():
    mounted(words[0], *words[1])
