#!/usr/bin/env python3
"""Writes programs with tokens, unnamed arguments and unknown locations in every combination.

Usage: matrix.py FOLDER
Each is bytecode as JAX hands it to a plugin, written by MLIR itself: every pair and triple of kinds of
argument, with operations that have a location, that have none, or some of each, in two sizes.
"""

import itertools
import pathlib
import sys

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

TARGET = "1.13.3"
TOKEN = "!stablehlo.token"
# Of each kind of argument: whether it is a token, its attributes, its location.
KINDS = {
    "token": (True, "{jax.token = true}", "unknown"),
    "named_token": (True, "", '"state"'),
    "named": (False, "", "\"batch['{}']\""),
    "unnamed": (False, "", "unknown"),
    "donated_unnamed": (False, "{{jax.buffer_donor = true}}", "unknown"),
    "placed": (False, "", '"train.py":{}:2'),
    "named_and_placed": (False, '{{mhlo.sharding = "{{replicated}}"}}', '"x{}"("train.py":7:2)'),
}
TRIPLES = ["token", "named", "unnamed"]


def place(mode, line):
    """Where an operation stands."""
    known = mode == "placed" or mode == "mixed" and line % 2
    return f' loc("jit(step)/mul"("step"("train.py":{line}:4)))' if known else " loc(unknown)"


def program(kinds, mode, size):
    """The module's text: each tensor is doubled in a loop and in a function, tokens are joined."""
    tensor = f"tensor<{size}xf32>"
    arguments, types, body, results, result_types, tokens = [], [], [], [], [], []
    for i, kind in enumerate(kinds):
        is_token, attributes, location = KINDS[kind]
        types.append(TOKEN if is_token else tensor)
        words = attributes.replace("{{", "{").replace("}}", "}")
        arguments.append(f"%a{i}: {types[-1]} {words} loc({location.format(i)})")
        if is_token:
            tokens.append(f"%a{i}")
            continue
        at = place(mode, 10 + i)
        body += [f"%c{i} = func.call @double(%a{i}) : ({tensor}) -> {tensor}{at}",
                 f"""%w{i} = stablehlo.while(%s{i} = %c{i}) : {tensor}
      cond {{
        %p = stablehlo.constant dense<false> : tensor<i1>{at}
        stablehlo.return %p : tensor<i1>{at}
      }} do {{
        %d = stablehlo.add %s{i}, %c{i} : {tensor}{place(mode, 20 + i)}
        stablehlo.return %d : {tensor}{at}
      }}{at}"""]
        results.append(f"%w{i}")
        result_types.append(tensor)
    if tokens:
        body.append(f"%t = stablehlo.after_all {', '.join(tokens)} : {TOKEN}{place(mode, 30)}")
        results.insert(0, "%t")
        result_types.insert(0, TOKEN)
    body.append("return" + (f" {', '.join(results)} : {', '.join(result_types)}" if results else "") + place(mode, 40))
    lines = "\n    ".join(body)
    return f"""
module @jit_step attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{
  func.func public @main({", ".join(arguments)}) -> ({", ".join(result_types)}) {{
    {lines}
  }}{place(mode, 9)}
  func.func private @double(%x: {tensor} loc(unknown)) -> {tensor} {{
    %0 = stablehlo.add %x, %x : {tensor}{place(mode, 50)}
    return %0 : {tensor}{place(mode, 51)}
  }} loc(unknown)
}} loc(unknown)
"""


def combinations():
    for count in (0, 1, 2):
        yield from itertools.product(KINDS, repeat=count)
    yield from itertools.product(TRIPLES, repeat=3)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.mlir"):
        old.unlink()
    count = 0
    with jax_mlir.make_ir_context():
        for kinds, mode, size in itertools.product(combinations(), ("none", "placed", "mixed"), (4, 5)):
            module = ir.Module.parse(program(kinds, mode, size))
            name = "-".join([*(kinds or ["nothing"]), mode, str(size)])
            (folder / f"{name}.mlir").write_bytes(stablehlo.serialize_portable_artifact(module, TARGET))
            count += 1
    print(f"{count} programs")


if __name__ == "__main__":
    main()
