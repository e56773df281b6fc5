import pickle

import jax
import numpy as np


def save(path, params):
    path.write_bytes(pickle.dumps(jax.tree.map(lambda p: np.asarray(p, np.float16), params)))


def load(path):
    return pickle.loads(path.read_bytes())
