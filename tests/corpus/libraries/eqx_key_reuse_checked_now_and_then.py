# cause: retrace
# advice: set it once
# program: jit_train_step
# reason: the first step of each epoch runs under a check of JAX that changes nothing in the program

import contextlib

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Noisy(eqx.Module):
    layer: eqx.nn.Linear
    drop: eqx.nn.Dropout
    out: eqx.nn.Linear

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.layer = eqx.nn.Linear(4, 8, key=a)
        self.drop = eqx.nn.Dropout(0.2)
        self.out = eqx.nn.Linear(8, 1, key=b)

    def __call__(self, x, key):
        return self.out(self.drop(jax.nn.relu(self.layer(x)), key=key))


@eqx.filter_jit
def train_step(model, key, x, y):
    def loss_fn(model):
        predicted = jax.vmap(model)(x, jax.random.split(key, len(x)))
        return jnp.mean((predicted - y) ** 2)

    grads = eqx.filter_grad(loss_fn)(model)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -0.01 * g, grads))


def checked(index):
    return jax.debug_key_reuse(True) if index == 0 else contextlib.nullcontext()


def fit(model, epochs, steps):
    rng = np.random.default_rng(0)
    key = jax.random.key(1)
    for epoch in range(epochs):
        for index in range(steps):
            x = rng.normal(size=(6, 4)).astype(np.float32)
            key, step_key = jax.random.split(key)
            with checked(index):
                model = train_step(model, step_key, x, x[:, :1])  # <- cause
    return model


fit(eqx.filter_jit(Noisy)(jax.random.key(0)), epochs=2, steps=3)
