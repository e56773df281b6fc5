# program: jit_forward
# cause: retrace
# pattern: alternating
# reason: each epoch jits the step for training and for evaluation anew, with dropout or without

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, deterministic):
        x = nn.relu(nn.Dense(12)(x))
        x = nn.Dropout(0.3)(x, deterministic=deterministic)
        return nn.Dense(2)(x)


net = Net()


def make_forward(deterministic):
    def forward(params, x, key):
        out = net.apply({"params": params}, x, deterministic, rngs={"dropout": key})
        return jax.nn.log_softmax(out)

    return jax.jit(forward)


def run(params, x, key, training):
    forward = make_forward(deterministic=not training)
    return forward(params, x, key)  # <- cause


x = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)
key = jax.random.key(0)
params = jax.jit(net.init, static_argnums=2)(key, x, True)["params"]
for epoch in range(4):
    for training in (True, False):
        out = run(params, x, key, training)  # <- call
    print(epoch, np.asarray(out).sum())
