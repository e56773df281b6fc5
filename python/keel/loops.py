"""In a rehearsal: what ended because of a value that no device computed, or soon after one was read.

When a line first reads such a value, the loops around it, in its function and in its callers', are found
in their source and watched from then on (`sys.monitoring`, so Python 3.12 and later). A loop that runs to
the end of what it iterates over did what it would do on the device. One that ends before is noted at the
process's end if

- it had rounds of a range or a list left, and it does not just try again after errors, or
- a test uses the value: the read is in an `if`, `while` or `assert`, or its result has a name that such a
  test uses, or
- the test that left it compares a floating-point number, wherever that came from,

unless the test that left it only compares whole numbers, such as a step with a number of steps. If an
error ends the script where such a value was tested, only the error is noted.
"""

import ast
import atexit
import dis
import functools
import linecache
import os
import sys
import threading
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ._library import note_left, when_unreal

TARGET = "KEEL_REHEARSE"
FRAMES = 40  # of a stack, innermost first
LARGEST = 1 << 20  # bytes of a file that is parsed
CLIENTS = (os.path.dirname(os.path.abspath(__file__)) + os.sep, *(
    f"-packages{os.sep}{name}{os.sep}" for name in ("jax", "jaxlib", "numpy", "torch", "torch_xla")))
PASSING = ("enumerate", "tqdm", "trange", "range", "track")  # what gives as many as its argument
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)

_lock = threading.RLock()  # a finalizer or a signal handler may read, too
_trees: Dict[str, Optional[ast.Module]] = {}
_loops: Dict[Tuple[Any, int], "_Loop"] = {}  # by code and line
_errors: List[Tuple[str, int, int, int, str]] = []  # file, lines of a test that may raise, the read, function
_branches: Dict[Tuple[Any, int], List["_Branch"]] = {}  # by code and offset
_begins: Dict[Tuple[Any, int], List["_Loop"]] = {}  # likewise: what makes a `for` begin
_tool: Optional[int] = None


class _Loop:
    """One that is watched, in what was its last run."""

    def __init__(self, code: Any, node: Any) -> None:
        self.code, self.node = code, node
        self.round = self.rounds = 0  # 0: unknown
        self.read = 0  # Keel's number of the line that read last; 0: none
        self.decides = self.is_over = self.is_counted = self.is_measured = False


class _Branch:
    """An instruction that may end a loop: its own, or one of an `if` or `assert` in it."""

    def __init__(self, loop: _Loop, is_own: bool, test: Optional[ast.expr], end: int = 0) -> None:
        self.loop, self.is_own, self.test = loop, is_own, test  # test: None for a `for`
        self.end = end  # where a `for` goes when it is over


# ---- the source ----------------------------------------------------------------------------------


def _tree(file: str) -> Optional[ast.Module]:
    if file not in _trees:
        text = "".join(linecache.getlines(file))
        try:
            _trees[file] = ast.parse(text) if 0 < len(text) <= LARGEST else None
        except (SyntaxError, ValueError, RecursionError):
            _trees[file] = None
    return _trees[file]


@functools.lru_cache(maxsize=256)
def _positions(code: Any) -> List[Tuple[Optional[int], ...]]:
    return list(code.co_positions())


def _place(code: Any, offset: int) -> Optional[Tuple[int, int, int, int]]:
    """First line and column, last line and column."""
    positions = _positions(code)
    if offset // 2 >= len(positions):
        return None
    line, end_line, column, end_column = positions[offset // 2]
    return None if None in (line, end_line, column, end_column) else (line, column, end_line, end_column)


def _holds(node: ast.AST, place: Tuple[int, int, int, int]) -> bool:
    return hasattr(node, "lineno") and (node.lineno, node.col_offset) <= place[:2] \
        and place[2:] <= (node.end_lineno, node.end_col_offset)


def _around(tree: ast.AST, place: Tuple[int, int, int, int]) -> List[ast.AST]:
    """The nodes of one function that hold a place, outermost first."""
    found: List[ast.AST] = []
    node: Optional[ast.AST] = tree
    while node is not None:
        node = next((child for child in ast.iter_child_nodes(node) if _holds(child, place)), None)
        if isinstance(node, FUNCTIONS):
            found = []
        elif node is not None:
            found.append(node)
    return found


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """What a function runs of a node, without the functions in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, FUNCTIONS):
            yield child
            yield from _inside(child)


def _leaves(node: ast.AST) -> bool:
    """Whether an `if` may leave the loop that it is in."""
    return any(isinstance(part, (ast.Break, ast.Return, ast.Raise)) for part in _inside(node))


def _tries(loop: ast.AST) -> bool:
    """Whether a round that raises nothing is the last, whatever it reads: `try: return f()`."""
    def plain(body: List[ast.stmt]) -> Iterator[ast.AST]:
        for node in body:
            yield node
            if isinstance(node, (ast.With, ast.AsyncWith)):
                yield from plain(node.body)
            elif isinstance(node, ast.Try):
                yield from plain(node.body + node.orelse + node.finalbody)

    def goes_on(node: ast.AST) -> bool:
        return isinstance(node, ast.Continue) or any(
            goes_on(child) for child in ast.iter_child_nodes(node)
            if not isinstance(child, (ast.ExceptHandler, *FUNCTIONS)))

    return any(isinstance(node, (ast.Return, ast.Break)) for node in plain(loop.body)) and not goes_on(loop)


def _decides(loop: ast.AST, around: List[ast.AST]) -> bool:
    """Whether what is read there decides if the loop goes on, as far as its own function shows."""
    names = set()
    for node, inner in zip(around, [*around[1:], None]):
        if isinstance(node, (ast.While, ast.If, ast.Assert)) and inner is node.test:
            return not isinstance(node, ast.If) or _leaves(node)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    for node in [loop, *_inside(loop)]:
        is_test = isinstance(node, (ast.While, ast.Assert)) or (isinstance(node, ast.If) and _leaves(node))
        if is_test and any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node.test)):
            return True
    return False


# ---- values --------------------------------------------------------------------------------------


def _value(node: Any, frame: Any) -> Any:
    """What an expression is, if nobody's code runs to know it; otherwise None."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Attribute):
        try:
            return object.__getattribute__(_value(node.value, frame), "__dict__").get(node.attr)
        except AttributeError:
            return None
    if isinstance(node, ast.Subscript):
        holder, at = _value(node.value, frame), _value(node.slice, frame)
        try:
            return holder[at] if type(holder) in (list, tuple, dict) and type(at) in (int, str) else None
        except LookupError:
            return None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _value(node.operand, frame)
        return -value if type(value) in (int, float) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)):
        left, right = _value(node.left, frame), _value(node.right, frame)
        if type(left) is int and type(right) is int and (right or not isinstance(node.op, ast.FloorDiv)):
            return {ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__,
                    ast.FloorDiv: int.__floordiv__}[type(node.op)](left, right)
    return None


def _range(node: Any, frame: Any) -> Any:
    """The range or list that a `for` iterates over; None if it is something else."""
    if isinstance(node, ast.Call) and node.args and not node.keywords and isinstance(node.func, (ast.Name, ast.Attribute)):
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        if name in ("range", "trange"):
            values = [_value(part, frame) for part in node.args]
            return range(*values) if len(values) < 4 and all(type(value) is int for value in values) else None
        return _range(node.args[0], frame) if name in PASSING else None
    value = _value(node, frame)
    return value if type(value) in (list, tuple, range) else None


def _count_rounds(loop: _Loop, frame: Any) -> None:
    """The round in which the loop is, from what it counts with."""
    node = loop.node
    items = _range(node.iter, frame) if isinstance(node, ast.For) else None
    if items is None:
        return
    target, is_range = node.target, type(items) is range
    if isinstance(node.iter, ast.Call) and isinstance(target, ast.Tuple) and getattr(node.iter.func, "id", "") == "enumerate":
        target, items = target.elts[0], range(len(items))
        is_range = True
    number = _value(target, frame)
    if is_range and type(number) is int and number in items:
        loop.round, loop.rounds = items.index(number) + 1, len(items)


def _operands(test: ast.expr) -> List[ast.expr]:
    """The tests that `and`, `or` and `not` put together."""
    if isinstance(test, ast.BoolOp):
        return [part for value in test.values for part in _operands(value)]
    return _operands(test.operand) if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else [test]


def _is_count(test: ast.expr, frame: Any) -> bool:
    """Whether a test only compares whole numbers."""
    return isinstance(test, ast.Compare) and all(
        type(_value(part, frame)) is int for part in (test.left, *test.comparators))


def _is_measured(test: ast.expr, frame: Any) -> bool:
    """Whether a test compares a floating-point number that is no literal. numpy's are named like its types."""
    return isinstance(test, ast.Compare) and any(
        not isinstance(part, ast.Constant) and "float" in type(_value(part, frame)).__name__
        for part in (test.left, *test.comparators))


# ---- watching ------------------------------------------------------------------------------------


def _follow(branch: _Branch, destination: int, frame: Any) -> None:
    loop = branch.loop
    loop.is_measured = branch.test is not None and _is_measured(branch.test, frame)
    if branch.test is None:
        loop.is_over = destination >= branch.end
        loop.round = 0 if loop.is_over else loop.round + 1
    elif branch.is_own:
        place = _place(loop.code, destination)
        loop.is_over = not loop.decides and not loop.is_measured and place is not None \
            and not _holds(loop.node, place)
    loop.is_counted = branch.test is not None and _is_count(branch.test, frame)


def _on_branch(code: Any, offset: int, destination: int) -> Any:
    branches = _branches.get((code, offset))
    if branches is None:
        return sys.monitoring.DISABLE
    try:
        for branch in branches:
            _follow(branch, destination, sys._getframe(1))
    except Exception:  # it would be raised in the script
        pass
    return None


def _steps(node: ast.AST, place: Tuple[int, int, int, int]) -> bool:
    """Whether what begins a `for` or takes its next item has that place: the whole statement's in Python 3.12, then
    what it iterates over."""
    whole = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
    return isinstance(node, ast.For) and (place == whole or _holds(node.iter, place))


def _on_instruction(code: Any, offset: int) -> Any:
    loops = _begins.get((code, offset))
    if loops is None:
        return sys.monitoring.DISABLE
    for loop in loops:
        loop.round = 0
    return None


def _note_branches(loop: _Loop) -> None:
    """The instructions of the loop's function that may end it, and the one that begins a `for`."""
    tests = [(False, node.test) for node in _inside(loop.node)
             if isinstance(node, ast.Assert) or (isinstance(node, ast.If) and _leaves(node))]
    if isinstance(loop.node, ast.While):
        tests.append((True, loop.node.test))
    tests = [(is_own, part) for is_own, test in tests for part in _operands(test)]
    for instruction in dis.get_instructions(loop.code):
        place = _place(loop.code, instruction.offset)
        found: List[_Branch] = []
        if place and instruction.opname == "GET_ITER" and _steps(loop.node, place):
            _begins.setdefault((loop.code, instruction.offset), []).append(loop)
        if place and instruction.opname == "FOR_ITER" and _steps(loop.node, place):
            found.append(_Branch(loop, True, None, instruction.argval))
        elif place and "JUMP_IF" in instruction.opname:
            found += [_Branch(loop, is_own, test) for is_own, test in tests if _holds(test, place)]
        if found:
            _branches.setdefault((loop.code, instruction.offset), []).extend(found)


def _start() -> bool:
    global _tool
    monitoring = sys.monitoring
    for tool in (4, 3):  # nobody's
        if _tool is None and monitoring.get_tool(tool) is None:
            monitoring.use_tool_id(tool, "keel")
            _tool = tool
            for event in _branching():
                monitoring.register_callback(tool, event, _on_branch)
            monitoring.register_callback(tool, monitoring.events.INSTRUCTION, _on_instruction)
            atexit.register(_tell)
    return _tool is not None


def _branching() -> List[int]:
    events = sys.monitoring.events
    if hasattr(events, "BRANCH_LEFT"):
        return [events.BRANCH_LEFT, events.BRANCH_RIGHT]
    return [events.BRANCH]


def _watch(code: Any, node: Any, frame: Any) -> _Loop:
    loop = _loops.get((code, node.lineno))
    if loop is None:
        loop = _loops[code, node.lineno] = _Loop(code, node)
        _note_branches(loop)
        events = sys.monitoring.events.INSTRUCTION
        for event in _branching():
            events |= event
        sys.monitoring.set_local_events(_tool, code, events)
        sys.monitoring.restart_events()  # an earlier loop of this code may have disabled this one's
        _count_rounds(loop, frame)
    return loop


def _note_errors(read: int, code: Any, around: List[ast.AST]) -> None:
    """What is read in a test may decide whether an error is raised."""
    for node, inner in zip(around, around[1:]):
        raises = isinstance(node, ast.Assert) or (isinstance(node, ast.If) and any(
            isinstance(part, ast.Raise) for part in _inside(node)))
        if raises and inner is node.test:
            _errors.append((code.co_filename, node.lineno, node.end_lineno, read, code.co_qualname))


def _look(read: int, frame: Any) -> None:
    is_first = True
    for _ in range(FRAMES):
        while frame is not None and any(name in frame.f_code.co_filename for name in CLIENTS):
            frame = frame.f_back
        if frame is None:
            return
        tree = _tree(frame.f_code.co_filename)
        place = _place(frame.f_code, frame.f_lasti)
        around = _around(tree, place) if tree and place else []
        if is_first:
            _note_errors(read, frame.f_code, around)
        for node in around:
            if isinstance(node, (ast.For, ast.While)) and not (isinstance(node, ast.For) and _holds(node.iter, place)):
                loop = _watch(frame.f_code, node, frame)
                loop.read = read
                loop.decides |= is_first and _decides(node, around)
        is_first = False
        frame = frame.f_back


def _note(read: int) -> None:
    """Keel's library calls this, on the thread that reads."""
    try:
        with _lock:
            if _start():
                _look(read, sys._getframe(1))
    except Exception:  # the answer lacks what cannot be understood
        pass


def _tell_error() -> bool:
    error = getattr(sys, "last_exc", None)  # of the script's end
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        for file, first, last, read, function in _errors:
            if file == trace.tb_frame.f_code.co_filename and first <= trace.tb_lineno <= last:
                note_left(read, file, trace.tb_lineno, function, 0, 0, True, True)
                return True
        trace = trace.tb_next
    return False


def _tell() -> None:
    when_unreal(None)
    sys.monitoring.free_tool_id(_tool)
    if _tell_error():
        return
    for loop in list(_loops.values()):  # another thread may add one
        is_short = 0 < loop.round < loop.rounds and not _tries(loop.node)
        decides = loop.decides or loop.is_measured
        if loop.is_over or loop.is_counted or not loop.read or not (is_short or decides):
            continue
        if 0 < loop.rounds == loop.round:
            continue  # left in its last round
        note_left(loop.read, loop.code.co_filename, loop.node.lineno, loop.code.co_qualname, loop.round if is_short else 0,
                  loop.rounds if is_short else 0, decides, False)


def begin() -> None:
    """Before JAX or PyTorch/XLA makes its client."""
    if os.environ.get(TARGET) and hasattr(sys, "monitoring"):
        when_unreal(_note)
