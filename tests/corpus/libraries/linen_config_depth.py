# cause: arguments
# subject: params['Dense_2']['bias']
# old: absent
# new: f32[8]
# program: jit_evaluate

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Mlp(nn.Module):
    layers: int

    @nn.compact
    def __call__(self, x):
        for _ in range(self.layers):
            x = nn.tanh(nn.Dense(8)(x))
        return x


def run(layers):
    model = Mlp(layers)
    params = jax.jit(model.init)(jax.random.key(0), x)["params"]

    @jax.jit
    def evaluate(params, x):
        return jnp.mean(model.apply({"params": params}, x) ** 2)

    return evaluate(params, x)  # <- cause


x = np.ones((4, 8), np.float32)
run(2)
run(3)
