"""Programs that people train with, unchanged: each runs bare, through Keel cold and warm and from its checkpoint,
and is rehearsed on TPUs and GPUs that are not there. A server is only rehearsed: warm, and frozen after its warm-up.

Usage: run.py [NAME...] [--part K/N] [--only PHASE,...] [--keep]

table.py has the trainers, PHASES below what is done with each. A phase brings those that it needs; without --only,
KEEL_TRAINER_PHASES says which there are, or there are all. It runs on a build (KEEL_TEST_BUILD, default `build`) with
the environments of `tools/setup --trainers`; a trainer whose environment is missing is skipped and named.
"""

import argparse
import os
import re
import resource
import shutil
import sys
import time

import table

sys.path.insert(0, str(table.HERE.parent / "client"))

from harness import KEEL, ROOT, Report, Workspace, clean_environment, run, run_environment, told, whole_json  # noqa: E402

DEVICES = "4"
# What is checked, as it is printed.
CHECKS = {
    "end": "it runs to its end",
    "saves": "it saves",
    "losses": "its losses are those without Keel",
    "warm": "nothing is compiled",
    "restored": "it goes on from what it saved",
    "would save": "it would have saved",
    "guesses": "no sharding is guessed",
    "accident": "keel why names the planted accident's cause and line, and no other recompile",
    "contract": "its contract is recorded, and holds",
    "keys": "the run compiles nothing, and asks for the programs that were rehearsed",
    "frozen": "what its warm-up left out is refused, and nothing else"}


class Stage:
    """One trainer: its folders, its cache, and what its phases found."""

    def __init__(self, space, trainer, report):
        self.space, self.trainer, self.report = space.path(trainer.name), trainer, report
        self.space.mkdir()
        self.python = ROOT / ".venv-trainers" / trainer.environment / "bin" / "python"
        self.packages = next(self.python.parent.parent.glob("lib/python3*/site-packages"), None)
        self.rows, self.limits, self.bare_losses = [], [], None

    # What phases share

    def folder(self, name, like=None):
        """A new folder to start the trainer in, or a copy of another."""
        path = self.space / name
        if like:
            shutil.copytree(self.space / like, path)
        else:
            path.mkdir(exist_ok=True)
        return path

    def environment(self, cache, **more):
        """No test of Keel's may reach for a cloud, a hub or a logger."""
        return run_environment(self.space / cache, self.space / "runs", HF_HUB_OFFLINE="1", WANDB_MODE="disabled",
                               TF_CPP_MIN_LOG_LEVEL="3", **self.trainer.variables, **more)

    def on_processor(self, cache, jax_cpu="own"):
        return self.environment(cache, KEEL_JAX_CPU=jax_cpu, JAX_PLATFORMS="cpu", JAX_NUM_CPU_DEVICES=DEVICES)

    def command(self, folder, target, starts):
        platforms, platform = self.trainer.platforms, self.trainer.targets.get(target, target)
        words = f"{self.trainer.command} {platforms.get(target) or platforms.get(platform, '')}"
        return [self.python, *words.format(here=table.HERE, out=folder, steps=table.STEPS * starts).split()]

    def start(self, phase, words, environment, folder, target="cpu", starts=1):
        """Runs a command; returns its answer and, if it was one of Keel's, the figures of its run."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        answer = run([*words, *self.command(folder, target, starts)], environment, cwd=folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        stats = whole_json(run([KEEL, "stats", "--json"], environment, cwd=folder)) if words else {}
        (self.space / f"{phase.replace(':', '-')}.log").write_text(f"{answer.out}\n---\n{answer.err}")
        self.rows.append((phase, stats or {}, time.monotonic() - began, after.ru_utime + after.ru_stime
                          - before.ru_utime - before.ru_stime))
        return answer, stats or {}

    def check(self, phase, name, good, detail):
        """`name` is one of CHECKS. Returns whether what depends on it may be looked at."""
        told_as, limit = f"{self.trainer.name}, {phase}: {CHECKS[name]}", self.trainer.limits.get((phase, name))
        if limit:
            self.limits.append(f"{told_as}: no; {limit}")
            self.report.check(f"{told_as}: no, as is known", not good, "it does: take it out of table.py")
            return good
        return self.report.check(told_as, good, detail)

    def check_end(self, phase, answer, starts=1):
        says = self.trainer.says.format(last=table.STEPS * starts - 1)
        return self.check(phase, "end", answer.code == 0 and says in answer.out + answer.err, told(answer, 12))

    def causes(self, environment, folder):
        return whole_json(run([KEEL, "why", "--json"], environment, cwd=folder)) or []

    def check_restored(self, phase, answer):
        self.check(phase, "restored", self.trainer.restored in answer.out + answer.err, told(answer, 12))

    def check_accident(self, phase, environment, folder, target="cpu"):
        """`keel why` names the planted accident, and no other recompile."""
        wanted = [accident for accident in (self.trainer.accident, *self.trainer.further)
                  if accident and accident.only in ("", target)]
        causes = [cause for cause in self.causes(environment, folder) if cause["recompile"]]
        found = [(c["kind"], c["old"], c["new"], c["file"], c["line"]) for c in causes]
        named = [any(f[:3] == (w.kind, *w.sizes(target)) and f[3].endswith(w.file) and f[4] == w.line(self.packages)
                     for f in found) for w in wanted]
        self.check(phase, "accident", all(named) and len(found) == len(wanted), found)

    # Phases

    def bare(self):
        answer, _ = self.start("bare", [], clean_environment() | self.on_processor("cache"), self.folder("bare"))
        self.check_end("bare", answer)
        self.bare_losses = losses(answer)

    def cold(self):
        folder, environment = self.folder("cold"), self.on_processor("cache")
        answer, _ = self.start("cold", [KEEL, "run", "--"], environment, folder)
        if self.check_end("cold", answer):
            self.check("cold", "saves", any(folder.glob(self.trainer.saves)), sorted(folder.rglob("*")))
            if self.bare_losses is not None:
                self.check("cold", "losses", losses(answer) == self.bare_losses,
                           f"{losses(answer)} where {self.bare_losses}")
            self.check_accident("cold", environment, folder)

    def warm(self):
        answer, stats = self.start("warm", [KEEL, "run", "--"], self.on_processor("cache"), self.folder("warm"))
        self.check_end("warm", answer)
        self.check("warm", "warm", stats.get("compiles") == 0, told(answer))

    def restart(self):
        answer, _ = self.start("restart", [KEEL, "run", "--"], self.on_processor("cache"), self.folder("warm"),
                               starts=2)
        self.check_end("restart", answer, 2)
        self.check_restored("restart", answer)

    def contract(self):
        """The programs of a run are a contract that its next start holds."""
        environment, file = self.on_processor("cache"), self.space / "keel.contract"
        for phase, words in (("record", ["record", "-o", file]), ("check", ["check", "--contract", file])):
            answer, _ = self.start(f"contract {phase}", [KEEL, "contract", *words, "--"], environment,
                                   self.folder(f"contract-{phase}"))
            self.check("contract", "contract", answer.code == 0, told(answer))

    def keys(self):
        """What is rehearsed on four processors is what the run on them asks for."""
        environment = self.environment("ahead")
        ahead, rehearsed = self.start("keys, rehearsed", [KEEL, "rehearse", "--on", "cpu:" + DEVICES, "--values",
                                                          self.trainer.values, "--"], environment, self.folder("ahead"))
        self.check_end("keys", ahead)
        answer, real = self.start("keys, run", [KEEL, "run", "--"], self.on_processor("ahead", "embedded"),
                                  self.folder("there"))
        self.check_end("keys", answer)
        self.check("keys", "keys",
                   real.get("compiles") == 0 and keys(real) == keys(rehearsed),
                   f"{told(answer)}; only rehearsed {keys(rehearsed) - keys(real)}, only run "
                   f"{keys(real) - keys(rehearsed)}")

    def start_rehearsal(self, phase, target, compiles, words=(), like=None):
        folder = self.folder(phase.replace(":", "-").replace(", ", "-"), like)
        words = [KEEL, "rehearse", "--on", target, "--compile", compiles, "--values", self.trainer.values, *words, "--"]
        return *self.start(phase, words, self.environment(compiles), folder, target, 2 if like else 1), folder

    def rehearse(self, target, compiles, like=None):
        phase = f"{target}, {compiles}" + (", restart" if like else "")
        answer, stats, folder = self.start_rehearsal(phase, target, compiles, like=like)
        if self.check_end(phase, answer, 2 if like else 1):
            if self.trainer.saves:
                self.check(phase, "would save", "would have written" in answer.err, told(answer))
            rehearsal = stats.get("rehearsal") or {}
            self.check(phase, "guesses", rehearsal.get("guesses") == [], rehearsal.get("guesses"))
            if like:
                self.check_restored(phase, answer)
            else:
                self.check_accident(phase, self.environment(compiles), folder, target)

    def none(self):
        for target in self.trainer.targets:
            self.rehearse(target, "none")

    def none_restart(self):
        self.rehearse(self.trainer.compiled[0], "none", "cold")

    def compiler(self):
        for target in self.trainer.compiled:
            self.rehearse(target, "new")

    def compiler_again(self):
        """The cache is that of the compiler's rehearsal: a start on such a device would find everything in it."""
        for target in self.trainer.compiled:
            phase = f"{target}, again"
            answer, stats, _ = self.start_rehearsal(phase, target, "new")
            self.check_end(phase, answer)
            self.check(phase, "warm", stats.get("compiles") == 0, told(answer))

    def frozen(self):
        target = self.trainer.compiled[0]
        phase = f"{target}, frozen"
        answer, stats, _ = self.start_rehearsal(phase, target, "new", ["--freeze-after", "1", "--on-drift",
                                                                       "refuse"])
        refused = [line for line in answer.err.splitlines() if "was refused" in line and line.startswith("keel: ")]
        line = f"{self.trainer.accident.file}:{self.trainer.accident.line(self.packages)}"
        self.check(phase, "frozen", answer.code == 1 and stats.get("compiles") == 0 and len(refused) == 1
                   and line in refused[0], told(answer, 12))


# In this order; with the phases that each needs.
PHASES = {"bare": (), "cold": (), "warm": ("cold",), "restart": ("warm",), "contract": ("cold",), "keys": (),
          "none": (), "none_restart": ("cold",), "compiler": (), "compiler_again": ("compiler",),
          "frozen": ("compiler",)}
OF_SERVERS = ("frozen",)


def losses(answer):
    """All that it told: threads may tell them in any order, and a progress bar some of them, rounded."""
    return sorted(set(re.findall(r"(?:loss|reward)\S*[ :=]+(-?\d+\.\d{3,})", answer.out + answer.err)))


def keys(stats):
    return {program["identity"] for program in stats.get("by_program", [])}


def wanted_phases(names):
    wanted = set(names)
    for name in reversed(PHASES):
        if name in wanted:
            wanted.update(PHASES[name])
    return [name for name in PHASES if name in wanted]


def table_of(rows):
    line = "{:<12} {:<22} {:>8} {:>8} {:>6} {:>10} {:>7} {:>6}"
    yield line.format("trainer", "phase", "programs", "compiles", "loads", "recompiles", "CPU s", "s")
    for trainer, phase, stats, seconds, cpu in rows:
        figures = [stats.get(name, "-") for name in ("programs", "compiles", "loads", "recompile_count")]
        yield line.format(trainer, phase, *figures, round(cpu), round(seconds))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *(t.name for t in table.TRAINERS)])
    parser.add_argument("--part", default="1/1", help="every Nth trainer, from the Kth")
    parser.add_argument("--only", default=os.environ.get("KEEL_TRAINER_PHASES") or ",".join(PHASES),
                        help=f"of {', '.join(PHASES)}")
    parser.add_argument("--keep", action="store_true", help="keep the folders")
    return parser.parse_args()


def main():
    options = arguments()
    part, parts = map(int, options.part.split("/"))
    chosen = [t for t in table.TRAINERS if not options.names or t.name in options.names][part - 1::parts]
    phases = wanted_phases(options.only.split(","))
    report, rows, limits = Report(), [], []
    with Workspace("trainers") as space:
        for trainer in chosen:
            stage = Stage(space, trainer, report)
            if not stage.python.exists():
                report.skip(trainer.name, f".venv-trainers/{trainer.environment} is missing: tools/setup --trainers")
                continue
            of_trainer = trainer.phases or [phase for phase in PHASES if phase not in OF_SERVERS]
            for phase in phases:
                if phase in of_trainer:
                    getattr(stage, phase)()
            rows += [(trainer.name, *row) for row in stage.rows]
            limits += stage.limits
        print("\n".join([*table_of(rows), *limits]))
        if options.keep:
            shutil.copytree(space.folder, ROOT / "build" / "trainers", dirs_exist_ok=True, symlinks=True)
    report.finish()


if __name__ == "__main__":
    main()
