"""What `keel run` has each Python of its command run first, by PYTHONPATH.

It leaves sys.path as it would have been, and two finders: one that wakes when torch_xla is
imported, and one, the last to be asked, by which `import keel` works where it is not installed.
Then the sitecustomize runs that would have run otherwise. Nothing here may fail the user's program,
or be more than an old Python can read.
"""

import os
import sys


class Wake(object):
    """Finds nothing. So late, a program's own module of the name `keel` stays its own."""

    done = False

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "torch_xla" and not cls.done:
            cls.done = True
            try:
                from keel import _run
                _run.begin()
            except Exception as error:
                sys.stderr.write("keel: %s: %s; the program runs without Keel's fixes and without "
                                 "torch_xla.launch\n" % (type(error).__name__, error))
        return None


class Package(object):
    folder = None

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "keel":
            return None
        from importlib.util import spec_from_file_location
        return spec_from_file_location(name, os.path.join(cls.folder, "__init__.py"),
                                       submodule_search_locations=[cls.folder])


def begin(here):
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    if sys.version_info >= (3, 9):
        Package.folder = os.path.dirname(here)
        sys.meta_path.insert(0, Wake)
        sys.meta_path.append(Package)


def run_other():
    """As if this one were not there."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


begin(os.path.dirname(os.path.abspath(__file__)))
if sys.version_info >= (3, 5):
    run_other()
