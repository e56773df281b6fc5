"""pytorch/xla 9755: a tensor that was never sharded has the spec "" until it is first dispatched,
and "{replicated}" from then on. The compiled function of torch.compile's openxla backend compares
the specs of its arguments with those it was traced with, so it is traced again for each new
unsharded input. The two mean the same; this fix makes them equal in that comparison only.

After a few calls with equal specs the function stops comparing, and then uses the same program for
an input with a different sharding. Calls that are equal only because of this fix do not count
towards that: without the fix they were traced again, and so gave right results.
"""

import ast
import inspect

from . import Mismatch

MODULE = "torch_xla._dynamo.dynamo_bridge"
FUNCTION = "extract_internal"
EXPECTED = """
if torch_xla._XLAC._get_xla_sharding_specs(xla_args_tensor_only) != xla_args_sharding_spec:
    pass
else:
    skip_checking_input_sharding_threashold -= 1
"""
FIXED = """
if _keel_specs_differ(
        _keel_specs := torch_xla._XLAC._get_xla_sharding_specs(xla_args_tensor_only),
        xla_args_sharding_spec):
    pass
else:
    skip_checking_input_sharding_threashold -= _keel_specs == xla_args_sharding_spec
"""
REPLICATED = "{replicated}"


def specs_differ(left, right) -> bool:
    """Both are lists with one spec per argument; () without SPMD."""
    return [spec or REPLICATED for spec in left] != [spec or REPLICATED for spec in right]


def _dump(*nodes) -> str:
    return " ".join(ast.dump(node) for node in nodes)


class _Rewrite(ast.NodeTransformer):
    """Replaces the test and the last branch of EXPECTED by those of FIXED."""

    def __init__(self):
        expected = ast.parse(EXPECTED).body[0]
        self.wanted = _dump(expected.test, *expected.orelse)
        self.found = 0

    def visit_If(self, node):
        self.generic_visit(node)
        if _dump(node.test, *node.orelse) == self.wanted:
            self.found += 1
            fixed = ast.parse(FIXED).body[0]
            node.test = _placed(fixed.test, node.test)
            node.orelse = [_placed(fixed.orelse[0], node.orelse[0])]
        return node


def _placed(tree, like):
    for node in ast.walk(tree):
        ast.copy_location(node, like)
    return tree


def apply(module) -> None:
    function = getattr(module, FUNCTION, None)
    if not inspect.isfunction(function) or function.__module__ != MODULE:
        raise Mismatch(f"{FUNCTION} is not a function of {MODULE}")
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse("".join(lines))
    rewrite = _Rewrite()
    tree = ast.fix_missing_locations(rewrite.visit(tree))
    if rewrite.found != 1 or len(tree.body) != 1:
        raise Mismatch(f"{FUNCTION} compares sharding specs {rewrite.found} times, not once")
    ast.increment_lineno(tree, first - 1)  # keeps tracebacks and the lines of operations right
    code = compile(tree, function.__code__.co_filename, "exec", dont_inherit=True)
    module._keel_specs_differ = specs_differ
    exec(code, module.__dict__)
