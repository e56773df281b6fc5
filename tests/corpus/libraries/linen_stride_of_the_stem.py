# cause: size
# subject: self.stride
# old: 1
# new: 2
# reason: the second network looks at every second pixel only; what the later layers see follows

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    stride: int = 1

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(4, (3, 3), strides=self.stride, use_bias=False)(x)  # <- cause
        x = nn.Conv(6, (3, 3))(nn.relu(x))
        return nn.Dense(2)(x.mean((1, 2)))


def evaluate(model, params, batches):
    predict = jax.jit(model.apply)
    return [np.asarray(predict(params, images)).argmax(-1) for images in batches]  # <- call


batches = np.ones((3, 2, 8, 8, 1), np.float32)
params = jax.jit(Net().init)(jax.random.key(0), batches[0])
for stride in (1, 2):
    evaluate(Net(stride), params, batches)
