"""What `keel run` has each Python of its command run first, by PYTHONPATH.

It leaves sys.path as it would have been, and two finders: one that wakes when JAX or torch_xla is
imported, and one, the last to be asked, by which `import keel` works where it is not installed.
Then the sitecustomize runs that would have run otherwise. Nothing here may fail the user's program,
or be more than an old Python can read.
"""

import os
import sys


# The package where the program has a module `keel` of its own.
APART = "_keel_of_run"


def say(text):
    try:
        sys.stderr.write("keel: %s\n" % text)
    except (AttributeError, OSError, ValueError):  # without a stderr, or with a closed one
        pass


def is_own():
    """Whether `import keel` gives the package, which must not be tried: a program's own module
    may be its script."""
    from importlib.util import find_spec
    try:
        spec = find_spec("keel")
    except ValueError:  # it is there and was made by hand
        return False
    folders = spec and spec.submodule_search_locations or ()
    return any(os.path.isfile(os.path.join(folder, "_run.py")) for folder in folders)


def is_folder(name):
    """Whether all that is found is a folder without an __init__.py, such as a checkout of Keel
    beside the script. Python itself prefers any package to one."""
    from importlib.machinery import PathFinder
    spec = PathFinder.find_spec(name)
    return spec is not None and spec.origin is None


class Wake(object):
    """Finds nothing but the package where a mere folder has its name. So late, a program's own
    module of the name `keel` stays its own."""

    # By the module that is imported: which function of keel._run to call first, and what the
    # program lacks if that fails.
    waiting = {"torch_xla": ("begin_torch", "without Keel's fixes and without torch_xla.launch"),
               "jax._src.xla_bridge": ("begin_jax", "with JAX's warning about Keel's platform")}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "keel" and is_folder(name):
            return Package.find_spec(name)
        if name in cls.waiting:
            function, lack = cls.waiting.pop(name)
            try:
                from importlib import import_module
                run = import_module(("keel" if is_own() else APART) + "._run")
                getattr(run, function)()
            except Exception as error:
                say("%s: %s; the program runs %s" % (type(error).__name__, error, lack))
        return None


class Package(object):
    folder = None

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name not in ("keel", APART):
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
