# cause: retrace
# advice: once
# reason: each customer's demand is fitted by a solver made anew

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def deviance(weights, x, counts):
    rates = x @ weights
    return jnp.mean(jnp.exp(rates) - counts * rates) + 0.01 * jnp.sum(weights**2)


class Demand:
    def __init__(self, maxiter=20):
        self.maxiter = maxiter
        self.weights = {}

    def fit(self, customer, x, counts):
        solver = jaxopt.GradientDescent(fun=deviance, maxiter=self.maxiter, stepsize=0.05, acceleration=False)
        update = jax.jit(lambda w, x, counts: solver.run(w, x=x, counts=counts).params)
        start = np.zeros(x.shape[1], np.float32)
        self.weights[customer] = np.asarray(update(start, x, counts))  # <- cause

    def forecast(self, customer, x):
        return np.exp(x @ self.weights[customer])


def orders(customers):
    rng = np.random.default_rng(0)
    for name in customers:
        x = rng.normal(size=(14, 3)).astype(np.float32)
        yield name, x, rng.poisson(2.0, 14).astype(np.float32)


demand = Demand()
for name, x, counts in orders(["north", "south", "east", "west"]):
    demand.fit(name, x, counts)
    print(name, demand.forecast(name, x[:2]))
