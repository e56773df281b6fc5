"""A folder for the rehearsals of a test."""

from harness import KEEL, PYTHON, journal, run, run_environment, whole_json


class Stage:
    """Scripts of one folder, with a cache and runs of their own."""

    def __init__(self, space, name):
        self.folder = space.path(name)
        self.folder.mkdir()
        self.runs = self.folder / "runs"
        self.environment = run_environment(self.folder / "cache", self.runs)

    def script(self, name, text):
        (self.folder / name).write_text(text)

    def keel(self, *words):
        return run([KEEL, *words], self.environment, cwd=self.folder)

    def rehearse(self, target, *words, options=(), python=PYTHON):
        return self.keel("rehearse", "--on", target, *options, "--", python, *words)

    def answer(self, *words):
        return whole_json(self.keel(*words, "--json"))

    def newest(self):
        return max(path.name for path in self.runs.iterdir() if path.name.startswith("2"))

    def events(self):
        return journal(self.runs, self.newest())
