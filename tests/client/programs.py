"""Compiles and runs small programs of different names: `programs.py COUNT [HEAVY]`. HEAVY is the
number of layers of one more program that takes long to compile. With --wait it says "ready" and
waits for a line on its input before it compiles. Prints the results' bits as one JSON line."""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np


def numbered(i):
    def program(x):
        return jnp.tanh(x * (1 + i)) @ x + i
    program.__name__ = f"program_{i}"
    return program


def heavy(layers):
    def program(x):
        for i in range(layers):
            x = jnp.sin(x @ x * 0.01 + i) + jnp.where(x > i, jnp.exp(-x * x), x[::-1] * 0.5)
        return x
    program.__name__ = "heavy"
    return program


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    functions = [numbered(i) for i in range(int(words[0]))]
    functions += [heavy(int(layers)) for layers in words[1:]]
    x = np.random.default_rng(2).standard_normal((8, 8)).astype(np.float32)
    lowered = {function.__name__: jax.jit(function).lower(x) for function in functions}
    if "--wait" in sys.argv:
        print("ready", flush=True)
        sys.stdin.readline()
    print(json.dumps({name: np.asarray(low.compile()(x)).tobytes().hex()
                      for name, low in lowered.items()}))


if __name__ == "__main__":
    main()
