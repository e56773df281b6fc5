"""Ctrl-C reaches the child once; a signal to `keel run` alone is passed on; nothing is coloured."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from terminal import in_terminal  # noqa: E402

# Says when it is ready, then once for each signal; ends at the first one with code 5. A signal may
# come while it is still saying so, and print cannot be entered twice.
CHILD = """
import os, signal, sys, time
count = 0
def say(text):
    os.write(1, text.encode())
def handler(number, frame):
    global count
    count += 1
    say("got " + signal.Signals(number).name + "\\n")
for number in (NUMBERS):
    signal.signal(number, handler)
say("ready\\n")
end = time.monotonic() + 600
while not count and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.3)
sys.exit(4 + count)
"""
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGALRM,
           signal.SIGCONT, signal.SIGWINCH, signal.SIGPROF, signal.SIGPWR, signal.SIGXCPU,
           signal.SIGIO)
CHILD = CHILD.replace("(NUMBERS)", repr(tuple(map(int, NUMBERS))))
COMMAND = ["keel", "run", "--quiet", "--", sys.executable, "-c", CHILD]


def until(read, word):
    text = ""
    while word not in text:
        piece = read()
        if not piece:
            sys.exit(f"ended before '{word}': {text}")
        text += piece
    return text


def sent_to_keel_alone(number):
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True, bufsize=1) as run:
        until(run.stdout.readline, "ready")
        run.send_signal(number)
        rest = run.stdout.read()
    return rest.split(), run.returncode


text, code = in_terminal(COMMAND, keys=b"\x03", after="ready")
print("Ctrl-C:", text.count("got SIGINT"), "time, exit", code)
for number in NUMBERS:
    words, code = sent_to_keel_alone(number)
    print(number.name, words, "exit", code)

# The child's own death by a signal, with the default action.
run = subprocess.Popen(["keel", "run", "--quiet", "--", "sh", "-c", "echo ready; exec sleep 2000"],
                       stdout=subprocess.PIPE, text=True)
until(run.stdout.readline, "ready")
time.sleep(0.1)  # until sleep has taken the shell's place
run.terminate()
print("child ended by SIGTERM: exit", run.wait())

# What nohup ignores stays ignored, for both.
ignoring = "trap '' HUP; exec keel run --quiet -- sh -c 'kill -HUP $$; kill -HUP $PPID; echo alive'"
print(subprocess.run(["sh", "-c", ignoring], stdout=subprocess.PIPE, text=True).stdout, end="")

# The terminal is the child's own too.
text, _ = in_terminal(["keel", "run", "--quiet", "--", "sh", "-c", "test -t 0 && test -t 1 && test -t 2 && echo terminal"])
print("in a", text.strip())

runs = shutil.copytree(os.environ["runs"], "recorded")
for variables in ({}, {"NO_COLOR": "1"}):
    os.environ.update(variables)
    for command in (["keel", "help"], ["keel", "stats", "--run-dir", runs],
                    ["keel", "runs", "--run-dir", runs], ["keel", "run", "--", "true"],
                    ["keel", "nothing"]):
        text, _ = in_terminal(command)
        if re.search("\x1b", text):
            print("coloured:", command, variables)
print("no colours")
