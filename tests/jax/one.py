#!/usr/bin/env python3
"""Runs one of JAX's test files and writes an outcome a test.

Usage: one.py FILE OUT [--sources FOLDER] [--sample N] [--only FILE] [--list]
OUT gets a line a test, as each ends: its outcome (ok, skip, fail, error, expected, unexpected) and
its name; before it begins a line "begin". So what a crash leaves is known. --sample takes at most N
tests, spread over the file (0: all); --only those whose names a file lists. --list writes the names
and runs nothing. What tests need of JAX that its package lacks comes from --sources.
"""

import argparse
import importlib.util
import pathlib
import sys
import unittest

from absl import flags


def name_of(test):
    """A test's name, without the values that make up the rest of its id."""
    method = getattr(test, "_testMethodName", None)
    name = f"{type(test).__module__}.{type(test).__qualname__}.{method}" if method else test.id()
    return " ".join(name.split())


class Outcomes(unittest.TestResult):
    def __init__(self, out):
        super().__init__()
        self.out = out
        self.outcome = None

    def tell(self, word, test):
        self.out.write(f"{word}\t{name_of(test)}\n")
        self.out.flush()

    def startTest(self, test):
        super().startTest(test)
        self.outcome = "ok"
        self.tell("begin", test)

    def stopTest(self, test):
        super().stopTest(test)
        self.tell(self.outcome, test)

    def addError(self, test, err):
        super().addError(test, err)
        if isinstance(test, unittest.TestCase):
            self.outcome = "error"
        else:  # of a class or a module
            self.tell("error", test)
        print(self.errors[-1][1], file=sys.stderr)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.outcome = "fail"
        print(self.failures[-1][1], file=sys.stderr)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.outcome = "fail" if issubclass(err[0], test.failureException) else "error"

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if isinstance(test, unittest.TestCase) and self.outcome:
            self.outcome = "skip"

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.outcome = "expected"

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.outcome = "unexpected"


def every(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from every(test)
        else:
            yield test


class Missing:
    """Finds modules of JAX's that its package has not: asked last, so only those."""

    def __init__(self, sources):
        self.sources = sources

    def find_spec(self, name, path=None, target=None):
        del path, target
        file = self.sources.joinpath(*name.split(".")).with_suffix(".py")
        if not name.startswith("jax._src.") or not file.exists():
            return None
        return importlib.util.spec_from_file_location(name, file)


def load(path, sources):
    """The module under its own name, since tests are named by it."""
    if sources:
        sys.meta_path.append(Missing(sources))
    sys.path.insert(0, str(path.parent))
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    specification.loader.exec_module(module)
    return module


def chosen(tests, options):
    if options.only:
        wanted = set(options.only.read_text().split("\n"))
        return [test for test in tests if name_of(test) in wanted]
    if options.sample and len(tests) > options.sample:
        return [tests[i * len(tests) // options.sample] for i in range(options.sample)]
    return tests


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sources", type=pathlib.Path)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--only", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    sys.argv[1:] = []
    with options.out.open("w") as out:
        module = load(options.file, options.sources)
        if not flags.FLAGS.is_parsed():
            flags.FLAGS(sys.argv)
        tests = list(every(unittest.defaultTestLoader.loadTestsFromModule(module)))
        if options.list:
            out.write("\n".join(name_of(test) for test in chosen(tests, options)))
            return
        unittest.TestSuite(chosen(tests, options)).run(Outcomes(out))
        out.write("done\t\n")


if __name__ == "__main__":
    main()
