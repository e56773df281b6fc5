#!/usr/bin/env python3
"""Writes the train steps of examples/jax/train_gpt.py as a plugin gets them, and times JAX's key.

Usage: .venv/bin/python bench/make_programs.py FOLDER LAYERS...

For each number of layers: FOLDER/gpt<layers>.mlir and .opts, and one line on stdout: the number of
layers and the median seconds that JAX takes for its own cache key of that very module. Nothing is
compiled. bench_key calls this.
"""

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
from jaxlib.mlir.dialects import stablehlo

STABLEHLO = "1.13.3"  # what the embedded plugin asks for
REPEATS = 15
WIDTH, BATCH, SEQ = 256, 8, 128  # the example's own


class Caught(Exception):
    """Ends a compile once its inputs are known."""


def catch_compile(backend, computation, devices, compile_options, *_, **__):
    raise Caught(backend, computation, devices, compile_options)


def inputs_of_compile(layers):
    """What JAX hands to its compiler for the train step."""
    params = jax.eval_shape(
        lambda: train_gpt.init_params(jax.random.key(0), layers, WIDTH, SEQ))
    state = jax.eval_shape(train_gpt.adamw_init, params)
    batch = jax.ShapeDtypeStruct((BATCH, SEQ + 1), jnp.int32)
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


def main():
    folder = pathlib.Path(sys.argv[1])
    compiler.compile_or_get_cached = catch_compile
    for layers in map(int, sys.argv[2:]):
        backend, computation, devices, options = inputs_of_compile(layers)
        print(layers, key_seconds(backend, computation, devices, options), flush=True)
        program = stablehlo.serialize_portable_artifact(computation, STABLEHLO)
        (folder / f"gpt{layers}.mlir").write_bytes(program)
        (folder / f"gpt{layers}.opts").write_bytes(options.SerializeAsString())


if __name__ == "__main__":
    main()
