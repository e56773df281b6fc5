# cause: stable
# reason: temperature and number of the request are arrays of one type, requests are padded to one size

import haiku as hk
import jax
import numpy as np


def network(tokens):
    return hk.Linear(9)(hk.Embed(9, 6)(tokens))


model = hk.without_apply_rng(hk.transform(network))


class Service:
    def __init__(self, size, length):
        self.size, self.length = size, length
        self.params = jax.jit(model.init)(jax.random.key(0), np.zeros((size, length), np.int32))
        self.sample = jax.jit(self.sample_last)

    @staticmethod
    def sample_last(params, number, tokens, lengths, temperature):
        key = jax.random.fold_in(jax.random.key(0), number)
        logits = model.apply(params, tokens)
        last = logits[np.arange(len(tokens)), lengths - 1]
        return jax.random.categorical(key, last / temperature)

    def answer(self, number, prompts, temperature=1.0):
        tokens = np.zeros((self.size, self.length), np.int32)
        lengths = np.ones(self.size, np.int32)
        for row, prompt in enumerate(prompts):
            tokens[row, : len(prompt)] = prompt
            lengths[row] = len(prompt)
        sampled = self.sample(
            self.params, np.uint32(number), tokens, lengths, np.float32(temperature))
        return np.asarray(sampled)[: len(prompts)]


service = Service(4, 6)
service.answer(0, [[1, 2], [3]])
service.answer(1, [[1, 2, 3, 4], [3], [5, 6]], 0.5)
service.answer(2, [[8]], temperature=2)
