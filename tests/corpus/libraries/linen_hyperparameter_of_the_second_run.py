# cause: constant
# subject: multiply
# old: 0.02
# new: 0.03
# run: --label 0.02
# run: --label 0.03
# reason: a command line's number that the loss closes over

import argparse

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--label", type=float)
arguments = parser.parse_args()
model = nn.Dense(2)
x = np.ones((3, 4), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)


@jax.jit
def train_step(params, x):
    def loss_fn(params):
        penalty = sum(jnp.sum(p ** 2) for p in jax.tree.leaves(params))
        return jnp.mean(model.apply(params, x)) + arguments.label * penalty  # <- cause

    return jax.grad(loss_fn)(params)


for _ in range(2):
    train_step(params, x)  # <- call
