#!/usr/bin/env python3
"""examples/c/gpt.c beside examples/jax/train_gpt.py: the same weights and rows give the same losses.

Usage: tests/tensor/gpt.py BUILD

JAX's losses are those of the script's own functions, on JAX's own backend. 100 steps, with epochs
that end in a short batch, whole and in micro-batches: within 1e-5 of each other. Bytes beyond ASCII
have no weight in C; so the first text has none, and for the second one JAX's loss has weights too.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "jax"))
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import train_gpt

LAYERS, WIDTH, LENGTH, BATCH, EPOCH, STEPS = 2, 128, 64, 8, 29, 100
TOLERANCE = 1e-5


def by_name(params):
    """JAX's weights under the names of C."""
    names = {name: params[name] for name in ("embed", "position", "final_norm")}
    for layer, block in enumerate(params["blocks"]):
        names |= {f"block{layer:02}.{name}": value for name, value in block.items()}
    return {name: np.asarray(value, np.float32) for name, value in names.items()}


def write_safetensors(path, arrays):
    header, offset = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(a.tobytes() for a in arrays.values()))


def weighted_loss(params, batch):
    inputs, targets = batch[:, :-1], batch[:, 1:]
    log_probs = jax.nn.log_softmax(train_gpt.gpt(params, inputs), axis=-1)
    nats = -jnp.take_along_axis(log_probs, targets[..., None], axis=-1)[..., 0]
    return jnp.sum(jnp.where(targets < 128, nats, 0)) / jnp.sum(targets < 128)


def starts_of(text):
    """What train_gpt.epoch_of_batches draws, epoch after epoch."""
    rng = np.random.default_rng(0)
    while True:
        yield from rng.integers(0, len(text) - LENGTH, size=EPOCH)


def jax_losses(params, text):
    rng, state, losses = np.random.default_rng(0), train_gpt.adamw_init(params), []
    params = jax.tree.map(jnp.copy, params)  # the step takes its own
    while len(losses) < STEPS:
        for batch in train_gpt.epoch_of_batches(rng, text, EPOCH, BATCH, LENGTH):
            rate = 1e-3 * min(1.0, (len(losses) + 1) / 10)
            params, state, loss = train_gpt.train_step(params, state, batch, rate)
            losses.append(float(loss))
    return losses[:STEPS]


def run_c(build, folder, *options):
    sizes = {"layers": LAYERS, "width": WIDTH, "seq": LENGTH, "batch": BATCH, "epoch": EPOCH, "steps": STEPS,
             "log-every": 1, "load": folder / "start", "rows": folder / "rows"}
    command = [build / "examples" / "gpt", folder / "text"]
    for name, value in sizes.items():
        command += [f"--{name}", str(value)]
    said = subprocess.run([*command, *options], text=True, capture_output=True, timeout=900)
    if said.returncode or f"2 programs in {STEPS + 1} steps" not in said.stdout:
        sys.exit(f"gpt {options}: exit {said.returncode}\n{said.stdout}{said.stderr}")
    return [float(loss) for loss in re.findall(r"^step.*loss ([\d.]+)", said.stdout, re.M)]


def compare(what, expected, got):
    if len(got) != len(expected):
        sys.exit(f"{what}: {len(got)} losses, and JAX has {len(expected)}")
    apart = [abs(x - y) / y for x, y in zip(got, expected)]
    worst = max(range(STEPS), key=apart.__getitem__)
    print(f"{what}: {expected[0]:.4f} to {expected[-1]:.4f}; most apart in step {worst + 1}: {apart[worst]:.1e}")
    if apart[worst] > TOLERANCE:
        sys.exit(f"{what}: step {worst + 1}: {got[worst]}, and JAX has {expected[worst]}")


def check(build, folder, text, option_lists):
    params = train_gpt.init_params(jax.random.key(0), LAYERS, WIDTH, LENGTH)
    write_safetensors(folder / "start", by_name(params))
    (folder / "text").write_bytes(text.tobytes())
    starts = starts_of(text)
    (folder / "rows").write_text("".join(f"{next(starts)}\n" for _ in range(STEPS * BATCH)))
    expected = jax_losses(params, text)
    for options in option_lists:
        compare(" ".join(["gpt", *options]), expected, run_c(build, folder, *options))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    text = train_gpt.read_text(None)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check(build, folder, text[text < 128], [[], ["--micro-batches", "2"]])
        train_gpt.loss_of = weighted_loss  # before its step is traced again
        train_gpt.train_step.clear_cache()
        check(build, folder, text, [[]])


if __name__ == "__main__":
    main()
