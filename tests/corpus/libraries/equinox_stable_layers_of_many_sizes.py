# cause: stable
# reason: layers of twelve sizes, made in a loop outside jit, are each made once
import equinox as eqx
import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.key(0), 12)
widths = list(range(8, 21))
layers = [eqx.nn.Linear(a, b, key=key) for a, b, key in zip(widths, widths[1:], keys)]


@eqx.filter_jit
def step(layers, x):
    for layer in layers:
        x = jax.nn.relu(jax.vmap(layer)(x))
    return x.sum()


for _ in range(4):
    print(float(step(layers, jnp.ones((4, 8)))))
