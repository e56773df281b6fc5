# cause: structure
# program: jit_nll

import distrax
import jax
import jax.numpy as jnp
import numpy as np


def make_nll(depth):
    def nll(params, x):
        layers = [distrax.Block(distrax.Tanh(), 1) for _ in range(depth)]
        layers.append(distrax.ScalarAffine(shift=params["shift"], log_scale=params["log_scale"]))
        base = distrax.Independent(distrax.Normal(jnp.zeros(2), jnp.ones(2)), 1)
        flow = distrax.Transformed(base, distrax.Chain([distrax.Inverse(layers[0]), *layers[1:-1],
                                                        distrax.Block(layers[-1], 1)]))
        return -flow.log_prob(x).mean()  # <- cause
    return jax.jit(nll)


params = {"shift": np.float32(0.5), "log_scale": np.float32(0.1)}
x = np.full((4, 2), 0.25, np.float32)
make_nll(2)(params, x)
make_nll(3)(params, x)  # <- call
