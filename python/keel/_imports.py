"""Runs a function as soon as a module has been imported."""

import sys
from typing import Callable, Dict, List

Visit = Callable[[object], None]


class _Loader:
    """Uses the module's own loader, then calls the visitors. The module keeps its own loader."""

    def __init__(self, own, waiting: Dict[str, List[Visit]]):
        self.own, self.waiting = own, waiting

    def __getattr__(self, name):  # code that looks for a module may ask for its source
        return getattr(self.own, name)

    def create_module(self, spec):
        return self.own.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.own
        self.own.exec_module(module)
        for visit in self.waiting.pop(module.__name__, ()):
            visit(module)


class _Finder:
    def __init__(self):
        self.waiting: Dict[str, List[Visit]] = {}

    def find_spec(self, name, path=None, target=None):
        if name not in self.waiting:
            return None
        spec = self._found_by_others(name, path, target)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, self.waiting)
        return spec

    def _found_by_others(self, name, path, target):
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if finder is not self and find else None
            if spec is not None:
                return spec
        return None


_finder = _Finder()


def when_imported(name: str, visit: Visit) -> None:
    """Calls visit(module) once: now if the module is imported, otherwise after its import.

    An exception in it makes the import fail, so it should raise nothing."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    if name in sys.modules and not getattr(spec, "_initializing", False):
        visit(sys.modules[name])
        return
    _finder.waiting.setdefault(name, []).append(visit)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
