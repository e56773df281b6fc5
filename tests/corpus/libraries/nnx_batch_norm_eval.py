# cause: structure

import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(4, 6, rngs=rngs)
        self.norm = nnx.BatchNorm(6, rngs=rngs)

    def __call__(self, x):
        hidden = self.hidden(x)
        return nnx.gelu(self.norm(hidden))  # <- cause


@nnx.jit
def forward(model, x):
    return model(x).sum()


model = nnx.jit(Net)(nnx.Rngs(0))
x = np.ones((4, 4), np.float32)
for training in (True, False):
    model.set_attributes(use_running_average=not training)
    forward(model, x)  # <- call
