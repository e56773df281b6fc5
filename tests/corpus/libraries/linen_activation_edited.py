# cause: edit
# old: hidden = nn.relu(nn.Dense(8)(x))
# new: hidden = nn.silu(nn.Dense(8)(x))
# program: jit_predict
# run: relu
# run: silu
# reason: the file of the network is edited between the two runs

import pathlib
import sys

import jax
import numpy as np

FILE = pathlib.Path("network_edited.py")
FILE.write_text(f"""
import flax.linen as nn
import jax


class Network(nn.Module):
    @nn.compact
    def __call__(self, x):
        hidden = nn.{sys.argv[1]}(nn.Dense(8)(x))
        return nn.Dense(2)(hidden)


@jax.jit
def predict(params, x):
    return Network().apply(params, x)
""")
sys.path.insert(0, str(FILE.resolve().parent))
import network_edited  # noqa: E402

x = np.ones((4, 3), np.float32)
params = jax.jit(network_edited.Network().init)(jax.random.key(0), x)
for _ in range(2):
    network_edited.predict(params, x)
