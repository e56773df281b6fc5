# cause: structure
# reason: in inference the running statistics are read, and no batch statistics computed

import equinox as eqx
import jax
import numpy as np


class Net(eqx.Module):
    linear: eqx.nn.Linear
    norm: eqx.nn.BatchNorm

    def __init__(self, key):
        self.linear = eqx.nn.Linear(4, 6, key=key)
        self.norm = eqx.nn.BatchNorm(6, axis_name="batch", mode="batch")

    def __call__(self, x, state):
        hidden = self.linear(x)
        return self.norm(hidden, state)  # <- cause


@eqx.filter_jit
def forward(model, state, x):
    batched = jax.vmap(model, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
    return batched(x, state)[0]


model, state = eqx.nn.make_with_state(Net)(jax.random.key(0))
x = np.ones((3, 4), np.float32)
forward(model, state, x)
forward(eqx.nn.inference_mode(model), state, x)  # <- call
