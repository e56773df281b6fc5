# cause: constant
# subject: temperature
# old: 0.5
# new: 0.25
# advice: array
# reason: the server marks the temperature of a request static

import functools

import flax.linen as nn
import jax
import numpy as np


class LanguageModel(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        return nn.Dense(12)(nn.Embed(12, 6)(tokens))


class Server:
    def __init__(self):
        self.model = LanguageModel()
        self.params = jax.jit(self.model.init)(jax.random.key(0), np.zeros((1, 4), np.int32))

    @functools.partial(jax.jit, static_argnums=(0, 4))
    def sample(self, params, key, tokens, temperature):
        logits = self.model.apply(params, tokens)[:, -1]
        return jax.random.categorical(key, logits / temperature)  # <- cause

    def answer(self, request):
        tokens = np.asarray([request["prompt"]], np.int32)
        return self.sample(self.params, jax.random.key(1), tokens, request["temperature"])  # <- call


server = Server()
for temperature in (0.5, 0.5, 0.25):
    print(server.answer({"prompt": [1, 2, 3, 4], "temperature": temperature}))
