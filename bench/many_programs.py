"""A run of many programs, for report_speed: a training script that goes wrong in every way at once.

Usage: many_programs.py COUNT [FIRST], under `keel run`. It jits forty functions, and calls each
again and again: with another batch, another length, a constant from the host, a branch that comes
or goes, an optional argument, another dtype.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

FUNCTIONS = 40
WIDTH = 16


def make(number):
    def loss(params, batch, rate, deep):
        x = batch["x"] if "x" in batch else batch["tokens"].astype(jnp.float32)
        if "mask" in batch:
            x = x * batch["mask"][:, None]
        for layer in params:
            x = jnp.tanh(x @ layer["w"] + layer["b"])
        if deep:
            x = x + jnp.sin(x) * jnp.cos(x)
        return (x * rate).mean() + number

    def step(params, batch, rate, deep):
        value, gradient = jax.value_and_grad(loss)(params, batch, rate, deep)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient), value

    step.__name__ = step.__qualname__ = f"step_{number}"
    return jax.jit(step, static_argnums=(2, 3))


def main():
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    steps = [make(number) for number in range(FUNCTIONS)]
    params = [{"w": np.ones((WIDTH, WIDTH), np.float32), "b": np.zeros(WIDTH, np.float32)} for _ in range(3)]
    for index in range(first, first + count):
        number, turn = index % FUNCTIONS, index // FUNCTIONS
        batch = {"x": np.ones((8, WIDTH), np.float32)}
        rate, deep = 1.0, False
        kind = (turn + number) % 5 if turn else 5
        if kind == 0:
            batch = {"x": np.ones((8 + turn, WIDTH), np.float32)}
        elif kind == 1:
            rate = 1.0 + turn
        elif kind == 2:
            deep, rate = True, 1.0 + turn // 5
        elif kind == 3:
            batch["mask"] = np.ones(8, np.float32)
            rate = 2.0 + turn // 5
        elif kind == 4:
            batch = {"tokens": np.ones((8 + turn // 5, WIDTH), np.int32)}
        steps[number](params, batch, rate, deep)


if __name__ == "__main__":
    main()
