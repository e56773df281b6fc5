# cause: constant
# subject: model.dropout.rate
# reason: the rate is a Python number of the module; it is compared with, and divided by

import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(4, 8, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x):
        return self.dropout(self.layer(x))  # <- cause


@nnx.jit
def forward(model, x):
    return model(x).sum()


model = nnx.jit(Net)(nnx.Rngs(0))
x = np.ones((2, 4), np.float32)
forward(model, x)
model.dropout.rate = 0.25
forward(model, x)  # <- call
