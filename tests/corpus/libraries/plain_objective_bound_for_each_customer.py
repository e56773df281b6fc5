# cause: retrace
# advice: once
# program: jit_minimise
# reason: each customer has a Partial of a function that was defined for that customer

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial


@jax.jit
def minimise(objective, start):
    def body(_, at):
        return at - 0.05 * jax.grad(objective)(at)

    return jax.lax.fori_loop(0, 20, body, start)


def objective_of(demand, price):
    def cost(demand, price, order):
        return jnp.sum((order - demand) ** 2) + jnp.sum(jnp.abs(order) * price)

    return Partial(cost, demand, price)


class Planner:
    def __init__(self, products):
        self.start = np.zeros(products, np.float32)

    def plan(self, demand, price):
        return minimise(objective_of(demand, price), self.start)  # <- cause


def demands(rng, customers):
    for customer in range(customers):
        yield customer, rng.random(4).astype(np.float32), rng.random(4).astype(np.float32)


def main():
    planner = Planner(4)
    for customer, demand, price in demands(np.random.default_rng(0), 4):
        orders = planner.plan(demand, price)
        print(customer, np.asarray(orders).round(2))


if __name__ == "__main__":
    main()
