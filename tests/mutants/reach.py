"""Which lines each test reaches, so that a fault is shown only to the tests that run it.

Every test runs once in a build that counts lines (gcov). What it reached is kept with the digests of
the files that it ran, and asked again only after one of these has changed. A test that fails in
that build, for example because it limits the size of files, counts as one that may reach everything,
and is asked again the next time.
"""

import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

FLAGS = "-O0 -w --coverage -fprofile-update=atomic"
# What a test ran until then counts: those that last longer do the same over and over.
SECONDS = 100


def options_of(folder, source):
    """What cmake needs for that build. Compiles the file that every program of it gets."""
    part = folder / "reach.o"
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-O1", "-fPIC", "-c", source, "-o", part], check=True)
    return [f"-DCMAKE_C_FLAGS_DEBUG={FLAGS}",
            f"-DCMAKE_EXE_LINKER_FLAGS=--coverage -rdynamic {part}",
            f"-DCMAKE_SHARED_LINKER_FLAGS=--coverage {part}"]


def lines_of(folder, tree, counts):
    """{file: [lines that ran, lines that can run]} for the counts that a test left."""
    found = collections.defaultdict(lambda: [set(), set()])
    notes = []
    for path in counts.rglob("*.gcda"):
        note = (folder / path.relative_to(counts / str(folder)[1:])).with_suffix(".gcno")
        if note.exists():
            path.with_suffix(".gcno").symlink_to(note)
            notes.append(path)
    if notes:
        # A test that ran out of time may have left half a file of counts: the others count.
        answer = subprocess.run(["gcov", "-t", "-j", *map(str, notes)], cwd=counts,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for text in answer.stdout.decode().splitlines():
            unit = json.loads(text) if text.startswith("{") else {"files": ()}
            for file in unit["files"]:
                name = os.path.normpath(os.path.join(unit["current_working_directory"], file["file"]))
                if not name.startswith(f"{tree}/"):
                    continue
                ran, known = found[name[len(f"{tree}/"):]]
                known.update(line["line_number"] for line in file["lines"])
                ran.update(line["line_number"] for line in file["lines"] if line["count"])
    return {name: [sorted(ran), sorted(known)] for name, (ran, known) in found.items() if ran}


class Reach:
    def __init__(self, build, tree):
        """`build`: the build that counts the lines of the sources in `tree`, prepared."""
        self.tree, self.texts, self.digests = tree, {}, {}
        self.tests, self.known = {}, collections.defaultdict(set)
        self.seconds = {}  # that each test took, slower than without counting
        path = build.folder / "reach.json"
        old = json.loads(path.read_text()) if path.exists() else {}
        stale = [name for name in build.tests if not self.is_current(old.get(name))]
        with concurrent.futures.ThreadPoolExecutor(build.jobs) as pool:
            for name, answer in zip(stale, pool.map(lambda name: self.ask(build, name), stale)):
                old[name] = answer
                path.write_text(json.dumps(old))
        for name in build.tests:
            self.seconds[name] = old[name].get("seconds")
            lines = old[name]["lines"]
            self.tests[name] = lines and {file: set(ran) for file, (ran, _) in lines.items()}
            for file, (_, known) in (lines or {}).items():
                self.known[file].update(known)

    def digest(self, file):
        if file not in self.digests:
            path = self.tree / file
            self.digests[file] = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
        return self.digests[file]

    def is_current(self, answer):
        """A test that ran to its end runs the same lines if each file that it ran is as it was."""
        return (answer and answer["lines"] is not None and
                all(self.digest(file) == digest for file, digest in answer["files"].items()))

    def ask(self, build, name):
        print(f"mutate: which lines {name} reaches", flush=True)
        test, counts = build.tests[name], pathlib.Path(build.folder) / "counts" / name
        shutil.rmtree(counts, ignore_errors=True)
        counts.mkdir(parents=True)
        test = dict(test, environment=dict(test["environment"], GCOV_PREFIX=str(counts)))
        begin = time.monotonic()
        failure = build.run_test(test, SECONDS)
        seconds = round(time.monotonic() - begin, 3)
        lines = lines_of(build.folder, self.tree, counts)
        files = {*lines, *(file.relative_to(self.tree).as_posix()
                           for file in self.tree.glob(f"tests/cli/{name[len('cli.'):]}.*")
                           if name.startswith("cli."))}
        return {"files": {file: self.digest(file) for file in sorted(files)},
                "seconds": None if failure else seconds,
                "lines": lines if not failure or failure.startswith("no end") else None}

    def may_notice(self, test, file, lines):
        """Could this test run one of these lines?"""
        if not self.tests.get(test) or file not in self.known:
            return True
        ran = self.tests[test].get(file, set())
        for at in lines:
            line = self.line_of(file, at)
            if line in ran or (line is None and (ran or not self.is_of_file(file, at))):
                return True
        return False

    def is_of_file(self, file, line):
        """Whether what stands there, outside functions, is known only to its file."""
        texts = self.texts[file]
        while line > 1 and not re.match(r"\w", texts[line - 1]):
            line -= 1
        return bool(re.match(r"static|enum|typedef", texts[line - 1]))

    def line_of(self, file, line):
        """The line that is counted for it: where its statement begins. None outside functions."""
        if file not in self.texts:
            self.texts[file] = (self.tree / file).read_text().splitlines()
        for at in range(line, 0, -1):
            if at < line and self.texts[file][at - 1].startswith("}"):
                return None
            if at in self.known[file]:
                return at
        return None
