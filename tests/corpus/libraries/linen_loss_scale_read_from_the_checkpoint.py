# cause: weak_type
# subject: scale
# old: weak f32[]
# new: f32[]
# program: jit_train_step
# run: fresh
# run: resume
# advice: jnp.asarray
# reason: a fresh run takes the scale of its settings, a resumed one that of the checkpoint

import pathlib
import sys

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

CHECKPOINT = pathlib.Path("checkpoint.npz")
SETTINGS = {"loss_scale": 128.0, "rate": 0.01}


class Head(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(8, dtype=jnp.bfloat16, param_dtype=jnp.bfloat16)(x)
        return nn.Dense(1, dtype=jnp.bfloat16, param_dtype=jnp.bfloat16)(nn.relu(x))


model = Head()


@jax.jit
def train_step(params, scale, x, y):
    def loss_fn(params):
        return ((model.apply({"params": params}, x) - y) ** 2).mean() * scale

    grads = jax.grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - (SETTINGS["rate"] * g / scale).astype(p.dtype),
                        params, grads)


def save(params, scale):
    leaves = [np.asarray(leaf, np.float32) for leaf in jax.tree.leaves(params)]
    np.savez(CHECKPOINT, *leaves, scale=np.float32(scale))


def load(params):
    stored = np.load(CHECKPOINT)
    leaves, tree = jax.tree.flatten(params)
    leaves = [stored[f"arr_{i}"].astype(leaf.dtype) for i, leaf in enumerate(leaves)]
    return jax.tree.unflatten(tree, leaves), stored["scale"]


x = np.ones((4, 3), jnp.bfloat16)
y = np.zeros((4, 1), jnp.bfloat16)
params = jax.jit(model.init)(jax.random.key(0), x)["params"]
scale = SETTINGS["loss_scale"]
if sys.argv[1] == "resume":
    params, scale = load(params)
for _ in range(3):
    params = train_step(params, scale, x, y)  # <- cause
save(params, scale)
