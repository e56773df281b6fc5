#!/usr/bin/env python3
"""examples/nam52 beside oracle.py, at the tiny size: the same numbers from the same seed and text.

Usage: tests/nam52/against_oracle.py BUILD [TEXT]

Held: each block forward to 1e-5 and its gradients to 1e-4 of their norm; the first
losses to 1e-5; all gradients and the weights after a step of AdamW to 1e-4, the biases of the experts and the
counted overflow exactly. Two programs train, at every depth of MTP; a run that goes on from a checkpoint has the losses of one
that was not interrupted.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy
import oracle

jax.config.update("jax_default_matmul_precision", "highest")
ROOT = pathlib.Path(__file__).resolve().parents[2]
VALUE, GRADIENT, C = 1e-5, 1e-4, oracle.TINY
DTYPES = {"F32": "float32", "I32": "int32"}
WRONG = []


def read(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    return {name: numpy.frombuffer(data[8 + size :][slice(*x["data_offsets"])], DTYPES[x["dtype"]]).reshape(x["shape"])
            for name, x in header.items()}


def run(build, *options):
    env = dict(os.environ, KEEL_CONFIG=os.devnull)
    said = subprocess.run([build / "examples" / "nam52", *map(str, options)], text=True, capture_output=True, timeout=1500, env=env)
    if said.returncode:
        sys.exit(f"nam52 {options}: exit {said.returncode}\n{said.stdout}{said.stderr}")
    return said.stdout


def hold(what, ours, theirs, tolerance):
    """As norms of all elements."""
    ours, theirs = numpy.asarray(ours, "float64"), numpy.asarray(theirs, "float64")
    apart = float(numpy.linalg.norm(ours - theirs) / max(numpy.linalg.norm(theirs), 1e-30))
    if ours.shape != theirs.shape or not apart <= tolerance:
        WRONG.append(f"{what}: {apart:.2e} apart, {ours.shape} and {theirs.shape}")
    return apart


def block_of(p, b, which):
    """What the block makes of the tokens' rows alone, and a scalar of it that has a gradient everywhere."""
    n, rank, m, more = f"L{which:02}.{'AEMG'[which % 4]}.", which // 4, oracle.masks_of(b), 0.0
    x = oracle.rms(p["emb.tok"][b["tokens"]])
    if which % 4 == 0:
        y, more = oracle.attention(C, p, n, oracle.rms(x), m, rank in C["sparse"])
    elif which % 4 == 1:
        y, balance, z, _, _ = oracle.experts(C, p, n, oracle.rms(x), m, jnp.zeros(C["experts"]))
        more = balance + z
    elif which % 4 == 2:
        y = oracle.mamba(C, p, n, oracle.rms(x), m)
    else:
        y = oracle.engram(C, p, n, x, m, b["tokens"], rank)
    return (y * jnp.sin(y)).sum() + more, y


def hold_block(which, p, b, dumped):
    name = f"L{which:02}.{'AEMG'[which % 4]}"
    chosen = {n: value for n, value in p.items() if n.startswith(name) or n == "emb.tok"}
    (loss, y), g = jax.jit(jax.value_and_grad(lambda p: block_of(p, b, which), has_aux=True))(chosen)
    forward = hold(f"{name} forward", dumped[f"{name}.y"], y, VALUE)
    hold(f"{name} loss", dumped[f"{name}.loss"], loss, VALUE)
    # Of a bias that is 0 and a convolution that begins at 0 the gradient is a gradient like any other.
    worst = max(hold(f"{name} gradient of {n}", dumped[f"{name}.d.{n}"], g[n], GRADIENT) for n in chosen)
    print(f"{name}: forward {forward:.1e}, {len(chosen)} gradients at worst {worst:.1e}")


def flat(values, names):
    return numpy.concatenate([numpy.asarray(values[name], "float64").ravel() for name in names])


def losses_of(said):
    return [tuple(map(float, pair)) for pair in re.findall(r"loss ([\d.]+)  next token ([\d.]+)", said)]


def hold_step(build, folder, text, mtp):
    options = ["--steps", 1, "--mtp", mtp, "--save", folder / f"after{mtp}"]
    if mtp == 1:
        options += ["--dump", folder / "dump"]
    said = run(build, text, *options)
    p, saved = oracle.first_values(C, mtp), read(folder / f"after{mtp}")
    if mtp == 1:
        dumped = read(folder / "dump")
        hold_step.batch = {n: jnp.asarray(value) for n, value in dumped.items() if "." not in n}
        first = {n: value[0] for n, value in hold_step.batch.items()}
        for which in range(C["blocks"]):
            hold_block(which, p, first, dumped)
    biases = [jnp.zeros(C["experts"])] * (C["blocks"] // 4)
    loss, next_token, after, biases, dropped, g = jax.jit(lambda p, b: oracle.step(C, mtp, p, b, biases))(p, hold_step.batch)
    count = sum(value.size for value in p.values())
    if f"{count} parameters" not in said:
        WRONG.append(f"mtp {mtp}: not {count} parameters: {said}")
    own, own_next = losses_of(said)[0]
    apart = [hold(f"mtp {mtp} loss", own, loss, VALUE), hold(f"mtp {mtp} next token", own_next, next_token, VALUE)]
    # Where a gradient is next to nothing, the sign of the first update is that of the rounding: all of them at once.
    weights = hold(f"mtp {mtp} weights after a step", flat(saved, after), flat(after, after), GRADIENT)
    moments = {name: saved[f"optimizer.m.{name}"] * 10 for name in after}  # 1 - beta1 of the gradients
    gradients = hold(f"mtp {mtp} gradients", flat(moments, after), flat(g, after), GRADIENT)
    for rank, bias in enumerate(biases):
        hold(f"mtp {mtp} bias {rank}", saved[f"L{4 * rank + 1:02}.E.bias"], bias, 1e-6)
        if saved[f"L{4 * rank + 1:02}.E.overflow"] != int(dropped[rank]):
            WRONG.append(f"mtp {mtp} overflow {rank}: {saved[f'L{4 * rank + 1:02}.E.overflow']} is not {dropped[rank]}")
    print(f"mtp {mtp}: loss {own} {apart[0]:.1e}, next token {apart[1]:.1e}, gradients {gradients:.1e}, weights after a step {weights:.1e}")


def hold_run(build, folder, text):
    """Fields come and go: two programs. Interrupted: the same losses."""
    whole = run(build, text, "--steps", 12, "--log-every", 1)
    if "  2 programs\n" not in whole.splitlines(keepends=True)[-1]:
        WRONG.append(f"not two programs:\n{whole}")
    run(build, text, "--steps", 6, "--log-every", 1, "--save", folder / "half")
    rest = run(build, text, "--steps", 12, "--log-every", 1, "--load", folder / "half")
    if losses_of(whole)[6:] != losses_of(rest):
        WRONG.append(f"a run that goes on differs:\n{whole}\n{rest}")
    if not losses_of(whole)[-1][1] < losses_of(whole)[0][1] - 0.2:
        WRONG.append(f"the loss does not fall:\n{whole}")
    print(f"12 steps: next token {losses_of(whole)[0][1]} to {losses_of(whole)[-1][1]}, interrupted the same")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        text = folder / "text"
        paths = sys.argv[2:] or sorted((ROOT / "docs").glob("*.md"))
        text.write_text("\n\n".join(pathlib.Path(path).read_text() for path in paths))
        for mtp in (1, 3):
            hold_step(build, folder, text, mtp)
        hold_run(build, folder, text)
    if WRONG:
        sys.exit("\n".join(WRONG))


if __name__ == "__main__":
    main()
