"""Each Python that `keel run` starts runs this first, through PYTHONPATH.

It restores sys.path and adds two finders: one that acts when JAX or torch_xla is imported, and one,
asked last, that makes `import keel` work if the package is not installed. Then it runs the
sitecustomize that would have run otherwise. Nothing here may break the user's program, or use
syntax that an old Python cannot read.
"""

import os
import sys


# The package's name if the program has a module `keel` of its own.
APART = "_keel_of_run"


def say(text):
    try:
        sys.stderr.write("keel: %s\n" % text)
    except (AttributeError, OSError, ValueError):  # no stderr, or a closed one
        pass


def is_own():
    """Whether `import keel` would give this package. Only looks, because a program's own module may
    be its script."""
    from importlib.util import find_spec
    try:
        spec = find_spec("keel")
    except ValueError:  # a module made by hand
        return False
    folders = spec and spec.submodule_search_locations or ()
    return any(os.path.isfile(os.path.join(folder, "_run.py")) for folder in folders)


def is_folder(name):
    """Whether only a folder without an __init__.py is found, such as a checkout of Keel beside the
    script. Python itself prefers any package to such a folder."""
    from importlib.machinery import PathFinder
    spec = PathFinder.find_spec(name)
    return spec is not None and spec.origin is None


class Wake(object):
    """Finds only this package, if a plain folder has its name: a program's own module `keel` takes
    precedence."""

    # Per imported module: the function of keel._run to call first, and what the program lacks if
    # that fails.
    waiting = {"torch_xla": ("begin_torch", "without Keel's fixes and without torch_xla.launch"),
               "torch_tpu": ("begin_torch_tpu", "without Keel"),
               # Before the modules that it acts upon: a finder that is added while Python asks the
               # others is not asked for the same module.
               "jax": ("begin_jax", "without Keel's part of JAX: on the embedded CPU plugin, without "
                                    "kernels such as LAPACK's")}

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
    """Runs the sitecustomize that this one hides."""
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
