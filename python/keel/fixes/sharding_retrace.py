"""pytorch/xla 9755: a tensor that was never sharded has the spec "" until it is first dispatched,
and "{replicated}" from then on. The compiled function of torch.compile's openxla backend compares
the specs of its arguments with those it was traced with, so it is traced again for each new
unsharded input. The two mean the same; here they compare as equal, and nowhere else."""

import ast
import inspect

from . import Mismatch

MODULE = "torch_xla._dynamo.dynamo_bridge"
FUNCTION = "extract_internal"
EXPECTED = "torch_xla._XLAC._get_xla_sharding_specs(xla_args_tensor_only) != xla_args_sharding_spec"
NAME = "_keel_specs_differ"
REPLICATED = "{replicated}"


def specs_differ(left, right) -> bool:
    """Both are lists of a spec an argument; () where there is no SPMD."""
    return [spec or REPLICATED for spec in left] != [spec or REPLICATED for spec in right]


class _Rewrite(ast.NodeTransformer):
    def __init__(self):
        self.wanted = ast.dump(ast.parse(EXPECTED, mode="eval").body)
        self.found = 0

    def visit_Compare(self, node):
        if ast.dump(node) != self.wanted:
            return self.generic_visit(node)
        self.found += 1
        call = ast.Call(func=ast.Name(id=NAME, ctx=ast.Load()),
                        args=[node.left, node.comparators[0]], keywords=[])
        return ast.copy_location(call, node)


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
    ast.increment_lineno(tree, first - 1)  # so that tracebacks and the lines of operations stay
    code = compile(tree, function.__code__.co_filename, "exec")
    setattr(module, NAME, specs_differ)
    exec(code, module.__dict__)
