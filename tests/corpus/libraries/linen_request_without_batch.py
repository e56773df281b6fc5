# cause: shape
# subject: frames
# old: f32[4,6,5]
# new: f32[6,5]
# reason: the server is asked for one clip that nobody put into a batch; it works, in another program

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Tagger(nn.Module):
    @nn.compact
    def __call__(self, frames):
        x = nn.tanh(nn.Dense(8)(frames))
        x = nn.tanh(nn.Dense(8)(nn.LayerNorm()(x)))
        weights = nn.softmax(nn.Dense(1)(x), axis=-2)
        return nn.Dense(3)(jnp.sum(weights * x, axis=-2))


class Service:
    def __init__(self, batch):
        self.model = Tagger()
        self.params = jax.jit(self.model.init)(jax.random.key(0), batch)
        self.probabilities = jax.jit(self._probabilities)

    def _probabilities(self, params, frames):
        return nn.softmax(self.model.apply(params, frames), axis=-1)

    def answer(self, frames):
        return np.asarray(self.probabilities(self.params, frames))  # <- cause


clips = np.ones((4, 6, 5), np.float32)
service = Service(clips)
service.answer(clips)
service.answer(clips + 1)
service.answer(clips[0])
