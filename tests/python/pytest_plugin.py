"""keel.pytest_plugin with real pytest and real JAX: tests that stay within the contract pass, the one
that leaves it fails with what differs, and bad contracts end the session in one line.

KEEL_PYTEST_PYTHON is a Python with pytest and JAX (default: that of .venv-libraries)."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import KEEL, LIBRARY, ROOT, Report, Workspace, clean_environment, run, told  # noqa: E402

PYTHON = os.environ.get("KEEL_PYTEST_PYTHON") or ROOT / ".venv-libraries" / "bin" / "python"
MODEL = '''
import jax, numpy as np
@jax.jit
def step(w, x):
    return w - 0.1 * (x.T @ (x @ w))
def go(rows):
    return step(np.zeros((4, 1), np.float32), np.ones((rows, 4), np.float32))
if __name__ == "__main__":
    go(8)
'''
TESTS = '''
from model import go
def test_within():
    go(8)
def test_outside():
    go(5)
'''
FIXTURE = '''
import pytest
from model import go
def test_within(keel_contract):
    with keel_contract("keel.contract"):
        go(8)
def test_outside(keel_contract):
    with keel_contract("keel.contract"):
        go(6)
def test_free():
    go(7)
'''
report = Report()


def main():
    with Workspace("pytest") as space:
        environment = clean_environment() | {
            "KEEL_CONFIG": os.devnull, "KEEL_RUN_DIR": str(space.runs), "KEEL_QUIET": "1",
            "KEEL_CACHE_DIR": str(space.path("cache")), "PYTHONDONTWRITEBYTECODE": "1"}
        if "KEEL_PYTEST_PATH" in os.environ:
            environment["PYTHONPATH"] = os.environ["KEEL_PYTEST_PATH"]
        for name, text in (("model.py", MODEL), ("test_model.py", TESTS), ("test_fixture.py", FIXTURE)):
            space.path(name).write_text(text)

        def keel(*words):
            return run([KEEL, *words], environment, cwd=space.folder)

        def test(*words):
            return keel("run", "--", PYTHON, "-m", "pytest", "-q", "-p", "keel.pytest_plugin", "-p",
                        "no:cacheprovider", *words)

        answer = keel("contract", "record", "-o", "keel.contract", "--", PYTHON, "model.py")
        report.check("a run is recorded", answer.code == 0, told(answer))
        answer = test("--keel-contract", "keel.contract", "test_model.py")
        report.check("--keel-contract fails the test that leaves it",
                     answer.code == 1 and "1 failed, 1 passed" in answer.out and "test_outside" in answer.out
                     and "f32[5,4] is not in keel.contract (listed: f32[8,4])" in answer.out, answer.out[-2000:])
        answer = test("test_fixture.py")
        report.check("the fixture holds one test", answer.code == 1 and "1 failed, 2 passed" in answer.out
                     and "f32[6,4] is not in keel.contract" in answer.out, answer.out[-2000:])
        answer = test("--keel-contract", "none.contract", "test_model.py")
        report.check("a contract that is not there ends the session", answer.code == 4
                     and "none.contract" in answer.err, told(answer))
        answer = run([PYTHON, "-m", "pytest", "-q", "-p", "keel.pytest_plugin", "--keel-contract", "keel.contract",
                      "test_model.py"], environment | {"PYTHONPATH": os.pathsep.join(
                          [str(LIBRARY.parent / "keel" / "python"), environment.get("PYTHONPATH", "")])},
                     cwd=space.folder)
        report.check("without Keel, too, with the next step", answer.code == 4 and "keel run" in answer.err,
                     told(answer))
    report.finish()


main()
