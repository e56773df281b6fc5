"""A probe that takes long says on a terminal which step it waits for; Ctrl-C ends it, and the child
with it."""

import os
import pathlib
import pty
import re
import shutil
import signal
import time

PLUGIN = pathlib.Path(shutil.which("keel")).parent.parent / "lib" / "keel_test_plugin.so"


def children(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def until(ready, seconds=60):
    end = time.monotonic() + seconds
    while not ready() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(ready())


pid, terminal = pty.fork()
if not pid:
    os.environ["TEST_PLUGIN"] = "client_hangs"
    os.execvp("keel", ["keel", "probe", PLUGIN, "--timeout", "600"])
shown, told = b"", []
while len(set(told)) < 2:
    shown += os.read(terminal, 4096)
    told = re.findall(rb"keel: plugin: client, (\d+) s", shown)
print("not before two seconds:", int(told[0]) >= 2)
print("then again:", int(told[-1]) > int(told[0]))
child = children(pid)
print("children:", len(child))
os.kill(pid, signal.SIGINT)
print("ended by:", signal.Signals(os.WTERMSIG(os.waitpid(pid, 0)[1])).name)
gone = until(lambda: not pathlib.Path(f"/proc/{child[0]}/exe").exists())
print("the child is gone:", gone)
