# cause: retrace
# advice: containers
# reason: the layers were a list; put back after the surgery as a tuple they make the same program

import equinox as eqx
import jax
import numpy as np


class Stack(eqx.Module):
    layers: list

    def __call__(self, x):
        for layer in self.layers:
            x = jax.nn.tanh(layer(x))
        return x


@eqx.filter_jit
def forward(model, x):
    return jax.vmap(model)(x).mean()


one, two, three = jax.random.split(jax.random.key(0), 3)
model = Stack([eqx.nn.Linear(4, 4, key=one), eqx.nn.Linear(4, 4, key=two)])
x = np.ones((3, 4), np.float32)
for _ in range(2):
    forward(model, x)
last = eqx.nn.Linear(4, 4, key=three)
model = eqx.tree_at(lambda model: model.layers, model, (*model.layers[:-1], last))
forward(model, x)  # <- cause
