"""Which lines each test reaches, so that a fault is shown only to the tests that run it.

Every test runs once in a build that counts lines (gcov). What it reached is kept with the digests of
its programs, and asked again only after these have changed. A test that fails in that build, for
example because it limits the size of files, counts as one that may reach everything.
"""

import collections
import json
import os
import pathlib
import shutil
import subprocess

# A fixed seed: the same source gives the same program, so that its tests need not run again.
FLAGS = "-O0 -w --coverage -fprofile-update=atomic -frandom-seed=keel"


def options_of(folder, source):
    """What cmake needs for that build. Compiles the file that every program of it gets."""
    part = folder / "reach.o"
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-O1", "-fPIC", "-c", source, "-o", part], check=True)
    return [f"-DCMAKE_C_FLAGS_DEBUG={FLAGS}",
            f"-DCMAKE_EXE_LINKER_FLAGS=--coverage -rdynamic {part}",
            f"-DCMAKE_SHARED_LINKER_FLAGS=--coverage {part}"]


def lines_of(folder, counts):
    """{file: [lines that ran, lines that can run]} for the counts that a test left."""
    found = collections.defaultdict(lambda: [set(), set()])
    notes = []
    for path in counts.rglob("*.gcda"):
        note = (folder / path.relative_to(counts / str(folder)[1:])).with_suffix(".gcno")
        if "src" in note.relative_to(folder).parts and note.exists():
            path.with_suffix(".gcno").symlink_to(note)
            notes.append(path)
    if notes:
        answer = subprocess.run(["gcov", "-t", "-j", *map(str, notes)], cwd=counts,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        for text in answer.stdout.decode().splitlines():
            for file in json.loads(text)["files"] if text.startswith("{") else ():
                name = os.path.normpath(file["file"])
                ran, known = found[name[name.find("src/"):]]
                known.update(line["line_number"] for line in file["lines"])
                ran.update(line["line_number"] for line in file["lines"] if line["count"])
    return {name: [sorted(ran), sorted(known)] for name, (ran, known) in found.items()}


class Reach:
    def __init__(self, build, tree):
        """`build`: the build that counts the lines of the sources in `tree`, prepared."""
        path = build.folder / "reach.json"
        old = json.loads(path.read_text()) if path.exists() else {}
        self.tree, self.texts = tree, {}
        self.tests, self.known = {}, collections.defaultdict(set)
        for name, test in build.tests.items():
            programs = "".join(digest.hex() for digest in build.clean[name])
            if old.get(name, {}).get("programs") != programs:
                print(f"mutate: which lines {name} reaches", flush=True)
                old[name] = {"programs": programs, "files": self.ask(build, test)}
            files = old[name]["files"]
            self.tests[name] = files and {file: set(ran) for file, (ran, _) in files.items()}
            for file, (_, known) in (files or {}).items():
                self.known[file].update(known)
            path.write_text(json.dumps(old))

    def ask(self, build, test):
        """None if the test fails."""
        counts = pathlib.Path(build.folder) / "counts"
        shutil.rmtree(counts, ignore_errors=True)
        counts.mkdir()
        test = dict(test, environment=dict(test["environment"], GCOV_PREFIX=str(counts)))
        return None if build.run_test(test, 600) else lines_of(build.folder, counts)

    def may_notice(self, test, file, lines):
        """Could this test run one of these lines?"""
        if not self.tests.get(test) or file not in self.known:
            return True
        ran = self.tests[test].get(file, set())
        return any(line is None or line in ran for line in (self.line_of(file, at) for at in lines))

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
