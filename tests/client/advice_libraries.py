"""Pairs as those of advice_programs.py, for advice about libraries that call jax.jit in the user's
name or compute in it: equinox, flax, optax.

    advice_libraries.py FUNCTION...
"""

import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
import optax
from flax import nnx
from numpyro.distributions.util import multinomial

W = 4  # another width for each function, so that none finds the programs of another


def ones(*shape):
    return np.ones(shape, np.float32)


def square(x):
    return (x * x).sum()


@eqx.filter_jit
def of_a_rate(w, rate):
    return w - rate * jnp.sign(w)


def static_number_accident():
    for rate in (0.1, 0.05):
        of_a_rate(ones(W), rate)  # <- here


def static_number_mended():
    for rate in (0.1, 0.05):
        of_a_rate(ones(W), jnp.asarray(rate))


def optimizer_parts_accident():
    params = {"w": ones(W), "v": ones(2)}
    for trained in ({"w": True, "v": True}, {"w": False, "v": True}):
        optimizer = optax.masked(optax.adam(0.1), trained)
        state = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype),
                             jax.eval_shape(optimizer.init, params))
        jax.jit(lambda state, grads: optimizer.update(grads, state))(state, params)  # <- here


def optimizer_parts_mended():
    params = {"w": ones(W), "v": ones(2)}
    optimizer = optax.chain(optax.adam(0.1), optax.masked(optax.set_to_zero(), {"w": True, "v": False}))
    step = jax.jit(lambda state, grads: optimizer.update(grads, state))
    for _ in range(2):
        step(optimizer.init(params), params)


def count_given_accident():
    step = eqx.filter_jit(lambda k, state, grads: optax.apply_every(k).update(grads, state))
    for k in (2, 4):
        step(k, optax.apply_every(2).init(ones(W)), ones(W))  # <- here


def count_given_mended_same():
    step = eqx.filter_jit(lambda k, state, grads: optax.apply_every(k).update(grads, state))
    for _ in range(2):
        step(2, optax.apply_every(2).init(ones(W)), ones(W))


def count_given_mended_array():
    step = eqx.filter_jit(lambda k, state, grads: optax.apply_every(k).update(grads, state))
    for k in (2, 4):
        step(jnp.asarray(k), optax.apply_every(2).init(ones(W)), ones(W))


def library_size_accident():
    for draws in (3, 5):
        multinomial(jax.random.key(0), ones(W) / W, draws)  # <- here


def library_size_mended():
    for _ in range(2):
        multinomial(jax.random.key(0), ones(W) / W, 5)


def library_again_accident():
    for _ in range(2):
        solver = jaxopt.GradientDescent(lambda w: square(w - 1), maxiter=2)
        solver.run(ones(W))  # <- here


def library_again_mended():
    solver = jaxopt.GradientDescent(lambda w: square(w - 1), maxiter=2)
    run = jax.jit(lambda w: solver.run(w).params)
    for _ in range(2):
        run(ones(W))


@eqx.filter_jit
def of_a_gain(x, gain):
    return square(x * gain)


def no_array_accident():
    of_a_gain(ones(W), 2)
    of_a_gain(ones(W), jnp.asarray(3, jnp.int32))  # <- here


def no_array_mended():
    of_a_gain(ones(W), jnp.asarray(2, jnp.int32))
    of_a_gain(ones(W), jnp.asarray(3, jnp.int32))


@eqx.filter_jit
def of_an_activation(x, activation):
    return square(activation(x))


def filtered_accident():
    for _ in range(2):
        of_an_activation(ones(W), lambda x: x * 2)  # <- here


def filtered_mended():
    def activation(x):
        return x * 2

    for _ in range(2):
        of_an_activation(ones(W), activation)


@eqx.filter_jit
def of_layers(layers, x):
    for layer in layers:
        x = jnp.tanh(layer * x)
    return square(x)


def filtered_accident_containers():
    of_layers([ones(W), ones(W)], ones(W))
    of_layers((ones(W), ones(W)), ones(W))  # <- here


def filtered_mended_containers():
    of_layers([ones(W), ones(W)], ones(W))
    of_layers([ones(W), ones(W)], ones(W))


class Counting(nnx.Module):
    def __init__(self):
        self.calls = 0
        self.weight = nnx.Param(jnp.ones(W))

    def __call__(self, x):
        self.calls += 1
        return square(x * self.weight[...])


class CountingInAnArray(nnx.Module):
    def __init__(self):
        self.calls = nnx.Variable(jnp.asarray(0))
        self.weight = nnx.Param(jnp.ones(W))

    def __call__(self, x):
        self.calls[...] += 1
        return square(x * self.weight[...])


@nnx.jit
def of_a_module(module, x):
    return module(x)


def module_accident():
    module = Counting()
    for _ in range(3):
        of_a_module(module, ones(W))  # <- here


def module_mended():
    module = CountingInAnArray()
    for _ in range(3):
        of_a_module(module, ones(W))


def library_accident():
    for nesterov in (False, True):
        optimizer = optax.sgd(0.1, momentum=0.9, nesterov=nesterov)

        @jax.jit
        def update(params, state, grads):
            updates, state = optimizer.update(grads, state)  # <- here
            return optax.apply_updates(params, updates), state

        params = {"w": ones(W)}
        update(params, optimizer.init(params), params)


def library_mended_fixed():
    optimizer = optax.sgd(0.1, momentum=0.9, nesterov=True)

    @jax.jit
    def update(params, state, grads):
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(params, updates), state

    params = {"w": ones(W)}
    state = optimizer.init(params)
    for _ in range(2):
        params, state = update(params, state, params)


def library_mended_each():
    plain, nesterov = (optax.sgd(0.1, momentum=0.9, nesterov=nesterov) for nesterov in (False, True))

    @jax.jit
    def plain_update(state, grads):
        return plain.update(grads, state)

    @jax.jit
    def nesterov_update(state, grads):
        return nesterov.update(grads, state)

    params = {"w": ones(W)}
    state = plain.init(params)
    for _ in range(2):
        _, state = plain_update(state, params)
        _, state = nesterov_update(state, params)


for name in sys.argv[1:]:
    globals()[name]()
    W += 1
