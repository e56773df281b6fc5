"""What a rehearsed command writes is discarded: files, folders, links, databases, children, threads. Each
script reads back what it wrote; afterwards the whole tree is what it was, to the byte, the mode, the
time and the attribute. As root and as another user."""

import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SCRIPTS = {
    "pickle": """
import pickle
with open("state.pkl", "wb") as file: pickle.dump({"step": 4, "weights": [0.0] * 1000}, file)
assert pickle.load(open("state.pkl", "rb"))["step"] == 4
""",
    "subprocess": """
import subprocess, sys
subprocess.run(["sh", "-c", "echo lost > state.pkl; rm folder/a; (echo late > late) & wait"], check=True)
assert open("state.pkl").read() == "lost\\n" and open("late").read() == "late\\n"
subprocess.run([sys.executable, "-c", "open('grandchild', 'w').write('x')"], check=True)
assert open("grandchild").read() == "x"
""",
    "threads": """
import threading
def write(n):
    with open(f"folder/part-{n}", "w") as file: file.write(str(n) * 1000)
threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
assert all(open(f"folder/part-{n}").read() == str(n) * 1000 for n in range(8))
""",
    "rename over": """
import os
open("state.new", "w").write("new"); os.replace("state.new", "state.pkl")
assert open("state.pkl").read() == "new" and not os.path.exists("state.new")
""",
    "rename a new folder": """
import os
os.mkdir("checkpoint.tmp"); open("checkpoint.tmp/a", "w").write("a")
os.rename("checkpoint.tmp", "checkpoint"); assert os.listdir("checkpoint") == ["a"]
""",
    "append": """
with open("log", "a") as file: file.write("more\\n")
assert open("log").read() == "one\\nmore\\n"
""",
    "truncate": """
import os
os.truncate("state.pkl", 3); assert os.path.getsize("state.pkl") == 3
""",
    "remove a tree": """
import os, shutil
shutil.rmtree("folder"); assert not os.path.exists("folder")
os.mkdir("folder"); assert os.listdir("folder") == []
""",
    "links": """
import os
os.unlink("link"); os.symlink("log", "link"); assert open("link").read() == "one\\n"
os.symlink("nowhere", "folder/new"); os.link("log", "hard"); assert open("hard").read() == "one\\n"
""",
    "through a link": """
open("link", "w").write("x"); assert open("state.pkl").read() == "x"
open("to folder/a", "w").write("y"); assert open("folder/a").read() == "y"
""",
    "memory map": """
import mmap
with open("state.pkl", "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
    memory[:4] = b"zero"; memory.flush()
assert open("state.pkl", "rb").read(4) == b"zero"
""",
    "permissions and times": """
import os
os.chmod("log", 0o600); os.utime("log", (1, 1)); os.chmod("folder", 0o700)
assert os.stat("log").st_mtime == 1 and os.stat("folder").st_mode & 0o777 == 0o700
""",
    "attributes": """
import os
os.setxattr("log", "user.keel", b"new"); assert os.getxattr("log", "user.keel") == b"new"
""",
    "a database": """
import sqlite3
base = sqlite3.connect("runs.db"); base.execute("pragma journal_mode = wal")
base.execute("insert into runs values (2)"); base.commit()
assert base.execute("select count(*) from runs").fetchone() == (2,); base.close()
""",
    "strange names": """
import os
for name in ("a,b:c=d", "with space", "back\\\\slash", "new\\nline", "-x"):
    os.makedirs(name, exist_ok=True)
    open(os.path.join(name, "f"), "a").write("x")
    assert open(os.path.join(name, "f"), "rb").read().endswith(b"x")
""",
    "temporary files and shared memory": """
import tempfile
from multiprocessing import shared_memory
with tempfile.NamedTemporaryFile() as file: file.write(b"x")
memory = shared_memory.SharedMemory(create=True, size=4096); memory.buf[:1] = b"x"; memory.close(); memory.unlink()
""",
    "holes": """
with open("sparse", "wb") as file: file.seek(1 << 30); file.write(b"x")
with open("state.pkl", "r+b") as file: file.seek(1 << 20); file.write(b"x")
""",
}

# Writes, says so, and waits for its end.
HANGS = """
import time
open("state.pkl", "w").write("x"); print("written", flush=True); time.sleep(600)
"""
KEEL = pathlib.Path(shutil.which("keel"))
REHEARSE = ["keel", "rehearse", "--on", "cpu:1", "--plugin",
            str(KEEL.parent.parent / "lib" / "keel_test_plugin.so"), "--"]
# Of attributes, only contents, modes and times are looked at; the others leave nothing at the end.
SILENT = ("attributes", "temporary files and shared memory")


def make(root):
    (root / "folder" / "deep").mkdir(parents=True)
    (root / "a,b:c=d").mkdir()
    for name in ("state.pkl", "folder/a", "folder/deep/b", "a,b:c=d/f"):
        (root / name).write_bytes(os.urandom(5000))
    (root / "log").write_text("one\n")
    (root / "link").symlink_to("state.pkl")
    (root / "to folder").symlink_to(root / "folder")
    os.chmod(root / "folder" / "a", 0o640)
    os.setxattr(root / "log", "user.keel", b"old")
    subprocess.run([sys.executable, "-c", "import sqlite3; base = sqlite3.connect('runs.db');"
                    "base.execute('create table runs (n)'); base.execute('insert into runs values (1)');"
                    "base.commit()"], cwd=root, check=True)


def digest(root):
    found = {}
    for path in sorted(root.rglob("*")):
        facts = path.lstat()
        kept = [oct(facts.st_mode), facts.st_uid, facts.st_gid, facts.st_size, facts.st_mtime_ns,
                facts.st_nlink]
        if path.is_symlink():
            kept.append(os.readlink(path))
        else:
            kept += [(name, os.getxattr(path, name)) for name in os.listxattr(path)]
            if path.is_file():
                kept.append(hashlib.sha256(path.read_bytes()).hexdigest())
        found[str(path.relative_to(root))] = kept
    return found


def left_behind():
    places = (pathlib.Path("runs"), pathlib.Path(tempfile.gettempdir()), pathlib.Path("/tmp"))
    return [path for place in places for path in place.glob(".keel-writes-*")
            if path.stat().st_uid == os.geteuid()]


def differences(before, after):
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def check_all(who):
    home = pathlib.Path(tempfile.mkdtemp(prefix="keel-writes-test-"))
    os.chdir(home)
    os.environ.update(HOME=str(home), KEEL_RUN_DIR=str(home / "runs"), KEEL_CACHE_DIR=str(home / "cache"))
    root = home / "work"
    root.mkdir()
    make(root)
    before = digest(root)
    for name, script in SCRIPTS.items():
        run = subprocess.run(REHEARSE + [sys.executable, "-B", "-c", script], cwd=root, capture_output=True,
                             text=True)
        changed = differences(before, digest(root))
        said = ("would have" in run.stderr) == (name not in SILENT)
        good = run.returncode == 0 and not changed and said
        print(f"{who}: {name}: " + ("as before" if good else
              f"exit {run.returncode}, changed {changed}\n{run.stderr}"))
    # Killed in the middle of it: the command, then keel.
    for victim in ("the command", "keel"):
        with subprocess.Popen(REHEARSE + [sys.executable, "-B", "-c", HANGS], cwd=root,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as keel:
            assert keel.stdout.readline() == "written\n"
            children = pathlib.Path(f"/proc/{keel.pid}/task/{keel.pid}/children").read_text().split()
            command = next(int(pid) for pid in children if "keel" not in os.readlink(f"/proc/{pid}/exe"))
            os.kill(keel.pid if victim == "keel" else command, signal.SIGKILL)
            code = keel.wait()
            if victim == "keel":
                os.kill(command, signal.SIGKILL)
                while os.path.exists(f"/proc/{command}/fd/0"):
                    time.sleep(0.01)
        print(f"{who}: {victim} killed: exit {code}, changed {differences(before, digest(root))}")
    subprocess.run(REHEARSE + ["true"], cwd=root, stderr=subprocess.DEVNULL, check=True)
    print(f"{who}: left behind: {left_behind()}")
    # The redirections are the shell's, and the exit code is the command's.
    code = subprocess.run(["sh", "-c", " ".join(REHEARSE) + " sh -c 'echo said; exit 7' 2>/dev/null >../out"],
                          cwd=root).returncode
    print(f"{who}: exit {code}, {(home / 'out').read_text().strip()}")
    os.chdir("/")
    shutil.rmtree(home)


def as_other_user():
    """Nobody, who needs a user namespace for it, and may not see the build: copies of what it needs."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="keel-writes-copy-"))
    os.chmod(place, 0o755)
    for name in ("bin/keel", "lib/libkeel_pjrt.so", "lib/keel_test_plugin.so"):
        (place / name).parent.mkdir(exist_ok=True)
        shutil.copy(KEEL.parent.parent / name, place / name)
    shutil.copy(__file__, place)
    # A folder of that user's own below one of root's, and one of root's that all may write, as is one in it.
    for name, mode, owner in (("own", 0o755, 65534), ("shared", 0o777, 0), ("shared/below", 0o777, 0)):
        (place / name).mkdir()
        (place / name).chmod(mode)
        (place / name / "a").write_text("as before")
        if os.geteuid() == 0:
            os.chown(place / name, owner, owner)
            os.chown(place / name / "a", 65534, 65534)
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        os.environ["PATH"] = f"{place}/bin:/usr/local/bin:/usr/bin:/bin"
        os.environ.pop("TMPDIR", None)
        python = sys.executable if os.access(sys.executable, os.X_OK) else "/usr/bin/python3"
        # A new program, as if that user had started it.
        os.execv(python, [python, "-B", str(place / pathlib.Path(__file__).name), "another user"])
    os.waitpid(child, 0)
    shutil.rmtree(place)


FOLDERS = """
import sys
for name in sys.argv[1:]:
    open(name + "/a", "w").write("changed"); open(name + "/b", "w").write("new")
    print(open(name + "/a").read(), open(name + "/b").read())
"""


def check_folders_of_others(who):
    place = pathlib.Path(__file__).parent
    for start, names in (("own", ["."]), ("shared", [".", "below"]), ("own", ["/var/tmp"])):
        run = subprocess.run(REHEARSE + [sys.executable, "-B", "-c", FOLDERS, *names], cwd=place / start,
                             capture_output=True, text=True)
        good = run.stdout == "changed new\n" * len(names) and run.returncode == 0
        print(f"{who}: in {start}, {names}: " + ("written" if good else run.stderr))
    print(f"{who}: folders of others:", sorted({path.read_text() for path in place.glob("*/**/[ab]")}))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        check_folders_of_others(sys.argv[1])
        check_all(sys.argv[1])
        sys.exit(0)
    sys.stdout.flush()
    # Without root, twice as that user.
    check_all("root")
    sys.stdout.flush()
    as_other_user()
