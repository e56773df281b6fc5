#!/usr/bin/env python3
"""Writes the train steps of examples/jax/train_gpt.py as a plugin receives them, and times JAX's key.

Usage: .venv/bin/python bench/make_programs.py FOLDER LAYERS...
       .venv/bin/python bench/make_programs.py FOLDER --explain LIBRARY

For each number of layers: FOLDER/gpt<layers>.mlir and .opts, and one line on stdout: the number of
layers and the median seconds that JAX takes for its own cache key of that module. bench_key
calls this.

With --explain, programs and their changed forms: gpt<8>, and two made by hand with 20,000 and
100,000 operations, ops20000 and ops100000; for each, NAME_batch, NAME_constant and NAME_layer. Then
one line: the microseconds to read the Python stack at the point where JAX compiles (with the function
of LIBRARY), the first time and the median, how many frames it has, and how many are kept.
bench_explain calls this.

It compiles nothing.
"""

import ctypes
import os
import pathlib
import statistics
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "jax"))
sys.dont_write_bytecode = True

import jax
import jax.numpy as jnp
import train_gpt
from jax._src import cache_key, compiler
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

STABLEHLO = "1.13.3"  # the embedded plugin's version
REPEATS = 15
WIDTH, BATCH, SEQ = 256, 8, 128  # the example's own


class Caught(Exception):
    """Stops a compile once its inputs are known."""


def catch_compile(backend, computation, devices, compile_options, *_, **__):
    raise Caught(backend, computation, devices, compile_options)


def inputs_of_compile(layers, rows=BATCH):
    """What JAX passes to its compiler for the train step."""
    jax.clear_caches()
    params = jax.eval_shape(
        lambda: train_gpt.init_params(jax.random.key(0), layers, WIDTH, SEQ))
    state = jax.eval_shape(train_gpt.adamw_init, params)
    batch = jax.ShapeDtypeStruct((rows, SEQ + 1), jnp.int32)
    lowered = train_gpt.train_step.lower(params, state, batch, 0.001)
    try:
        lowered.compile()
    except Caught as caught:
        return caught.args
    sys.exit("make_programs: JAX compiled without calling compile_or_get_cached")


def key_seconds(backend, computation, devices, compile_options):
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        cache_key.get(computation, devices, compile_options, backend)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def write_gpt(folder, name, *arguments):
    _, computation, _, options = inputs_of_compile(*arguments)
    (folder / f"{name}.mlir").write_bytes(
        stablehlo.serialize_portable_artifact(computation, STABLEHLO))
    (folder / f"{name}.opts").write_bytes(options.SerializeAsString())


def write_train_steps(folder):
    write_gpt(folder, "gpt8", 8)
    write_gpt(folder, "gpt8_batch", 8, BATCH // 2)
    write_gpt(folder, "gpt8_layer", 9)
    b1, b2, decay = train_gpt.adamw.__defaults__
    train_gpt.adamw.__defaults__ = (b1, b2, decay * 2)
    write_gpt(folder, "gpt8_constant", 8)
    train_gpt.adamw.__defaults__ = (b1, b2, decay)


LAYER = 10  # operations


def chain(operations, rows=8, constant=None, more=0):
    """A program of that many operations: layers of ten in a row, some with weights of their own.

    constant: the layer with another constant; more: extra layers in the middle."""
    layers = (operations - 2) // LAYER
    weights = min(64, layers)
    x, w = f"tensor<{rows}x16xf32>", "tensor<16x16xf32>"
    arguments = ", ".join([f'%x: {x} loc("x")']
                          + [f'%w{i}: {w} loc("weights[{i}]")' for i in range(weights)])
    lines, last = [], "x"
    order = [*range(layers // 2), *range(layers, layers + more), *range(layers // 2, layers)]
    for at, layer in enumerate(order):
        value = "9.25" if layer == constant else f"{layer % 7}.5"
        n, line = at * LAYER, layer % 50 + 10

        def add(offset, text, result=x):
            lines.append(f'%v{n + offset} = stablehlo.{text} : {result} '
                         f'loc(callsite("block"("model.py":{line}:{offset}) at "train.py":30:4))')

        add(0, f"dot_general %{last}, %w{layer % weights}, contracting_dims = [1] x [0]",
            f"({x}, {w}) -> {x}")
        add(1, f"constant dense<{value}>")
        add(2, f"multiply %v{n}, %v{n + 1}")
        add(3, f"tanh %v{n + 2}")
        add(4, f"add %v{n + 3}, %{last}")
        add(5, "constant dense<0.5>")
        add(6, f"multiply %v{n + 4}, %v{n + 5}")
        add(7, f"maximum %v{n + 6}, %v{n + 1}")
        add(8, f"subtract %v{n + 7}, %v{n + 3}")
        add(9, f"add %v{n + 8}, %v{n + 4}")
        last = f"v{n + 9}"
    return (f"module @jit_chain {{\nfunc.func public @main({arguments}) -> {x} {{\n"
            + "\n".join(lines) + f"\nreturn %{last} : {x}\n}}\n}}\n")


def write_chains(folder, operations):
    changes = {"": {}, "_batch": {"rows": 4}, "_constant": {"constant": operations // LAYER // 2},
               "_layer": {"more": 1}}
    for ending, change in changes.items():
        with mlir.make_ir_context():
            module = ir.Module.parse(chain(operations, **change))
            (folder / f"ops{operations}{ending}.mlir").write_bytes(
                stablehlo.serialize_portable_artifact(module, STABLEHLO))


def stack_cost(library):
    """Where JAX compiles: microseconds the first time and usually, frames of the stack, frames kept."""
    read = ctypes.CDLL(library).bench_stack
    read.restype = ctypes.c_double
    kept = ctypes.c_uint()
    costs = []

    def catch(*_, **__):
        for _ in range(REPEATS):
            costs.append(read(ctypes.byref(kept)))
        frame, frames = sys._getframe(), 0
        while frame:
            frame, frames = frame.f_back, frames + 1
        raise Caught(frames)

    compiler.compile_or_get_cached = catch
    frames = inputs_of_compile(1)[0]
    return costs[0] * 1e6, statistics.median(costs) * 1e6, frames, kept.value


def main():
    folder = pathlib.Path(sys.argv[1])
    compiler.compile_or_get_cached = catch_compile
    if sys.argv[2] == "--explain":
        write_train_steps(folder)
        write_chains(folder, 20_000)
        write_chains(folder, 100_000)
        print(*stack_cost(sys.argv[3]))
        return
    for layers in map(int, sys.argv[2:]):
        backend, computation, devices, options = inputs_of_compile(layers)
        print(layers, key_seconds(backend, computation, devices, options), flush=True)
        program = stablehlo.serialize_portable_artifact(computation, STABLEHLO)
        (folder / f"gpt{layers}.mlir").write_bytes(program)
        (folder / f"gpt{layers}.opts").write_bytes(options.SerializeAsString())


if __name__ == "__main__":
    main()
