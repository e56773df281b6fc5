#!/usr/bin/env python3
"""examples/c/generate.c writes what JAX's model says, with a cache and without one.

Usage: tests/tensor/generate.py BUILD

Prompts of four lengths fall into three buckets: three programs read them, one writes. Without the
cache it is one program. The rows end where they are full.
"""

import pathlib
import subprocess
import sys
import tempfile

import gpt  # first: it chooses JAX's backend
import jax
import jax.numpy as jnp
import numpy as np

PROMPTS = ["The ", "An object is callable", "abcdefghij", "x"]
COUNT = 50


def expected(params, prompt):
    row = list(prompt.encode())
    logits = jax.jit(gpt.train_gpt.gpt)
    while len(row) < min(gpt.LENGTH, len(prompt) + COUNT):
        padded = np.zeros((1, gpt.LENGTH), np.int32)
        padded[0, : len(row)] = row
        row.append(int(jnp.argmax(logits(params, padded)[0, len(row) - 1])))
    return bytes(row)


def run_c(build, weights, *options):
    command = [build / "examples" / "generate", "--layers", str(gpt.LAYERS), "--width", str(gpt.WIDTH), "--seq",
               str(gpt.LENGTH), "--count", str(COUNT), *options, weights, *PROMPTS]
    said = subprocess.run(command, capture_output=True, timeout=600)
    if said.returncode:
        sys.exit(f"generate {options}: exit {said.returncode}: {said.stderr.decode()}")
    return said.stdout, said.stderr.decode().strip()


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        params = gpt.train_gpt.init_params(jax.random.key(1), gpt.LAYERS, gpt.WIDTH, gpt.LENGTH)
        weights = pathlib.Path(folder) / "weights"
        gpt.write_safetensors(weights, gpt.by_name(params))
        rows = [expected(params, prompt) for prompt in PROMPTS]
        count = sum(len(row) - len(prompt) for row, prompt in zip(rows, PROMPTS))
        text = b"".join(row + b"\n" for row in rows)
        for options, programs in ([], 4), (["--recompute"], 1):
            got, figures = run_c(build, weights, *options)
            if got != text or figures != f"{programs} programs for {count} bytes":
                sys.exit(f"generate {options}: {figures}\n{got}\nexpected, {count} bytes:\n{text}")
            print(f"generate {options}: {figures}")


if __name__ == "__main__":
    main()
