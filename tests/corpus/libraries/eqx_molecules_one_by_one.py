# cause: shape
# pattern: unpadded
# advice: Pad
# reason: each molecule has its own number of atoms, and nobody pads them

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Energy(eqx.Module):
    embed: eqx.nn.Embedding
    pair: eqx.nn.MLP
    readout: eqx.nn.Linear

    def __init__(self, key):
        one, two, three = jax.random.split(key, 3)
        self.embed = eqx.nn.Embedding(10, 8, key=one)
        self.pair = eqx.nn.MLP(1, 8, 16, 1, key=two)
        self.readout = eqx.nn.Linear(8, 1, key=three)

    def __call__(self, species, positions):
        atoms = jax.vmap(self.embed)(species)
        offsets = positions[:, None] - positions[None, :]
        squared = jnp.sum(offsets**2, axis=-1, keepdims=True)
        filters = jax.vmap(jax.vmap(self.pair))(jnp.exp(-squared))
        atoms = atoms + jnp.einsum("ijf,jf->if", filters, atoms)
        return jnp.sum(jax.vmap(self.readout)(jnp.tanh(atoms)))


def loss_fn(model, species, positions, energy):
    return (model(species, positions) - energy) ** 2


def make_step(optimizer):
    @eqx.filter_jit
    def step(model, opt_state, species, positions, energy):
        loss, grads = eqx.filter_value_and_grad(loss_fn)(model, species, positions, energy)
        updates, opt_state = optimizer.update(grads, opt_state)
        return eqx.apply_updates(model, updates), opt_state, loss

    return step


def molecules(count):
    rng = np.random.default_rng(5)
    for size in rng.permutation(np.arange(4, 30))[:count]:
        yield (rng.integers(0, 10, size).astype(np.int32),
               rng.normal(size=(size, 3)).astype(np.float32), np.float32(rng.normal()))


model = eqx.filter_jit(Energy)(jax.random.key(0))
optimizer = optax.adam(1e-3)
opt_state = jax.jit(optimizer.init)(eqx.filter(model, eqx.is_array))
step = make_step(optimizer)
for species, positions, energy in molecules(6):
    model, opt_state, loss = step(model, opt_state, species, positions, energy)  # <- cause
    print(len(species), float(loss))
