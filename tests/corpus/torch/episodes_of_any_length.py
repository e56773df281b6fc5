# program: SyncTensorsGraph
# cause: shape
# old: f32[9]
# new: f32[6]
# advice: Pad
# reason: no episode is as long as another; of states, actions and returns the last are moved first

import random

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
random.seed(0)
policy = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
policy.to(device)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.01)
torch_xla.sync()


def play(steps):
    states = [torch.randn(4) for _ in range(steps)]
    actions = [random.randrange(2) for _ in range(steps)]
    rewards = [1.0] * steps
    return torch.stack(states), torch.tensor(actions), torch.tensor(rewards)


def returns_of(rewards, discount=0.9):
    returns, total = [], 0.0
    for reward in reversed(rewards.tolist()):
        total = reward + discount * total
        returns.insert(0, total)
    return torch.tensor(returns)


for steps in (5, 9, 6):
    states, actions, rewards = play(steps)
    returns = returns_of(rewards).to(device)  # <- cause
    log_probabilities = policy(states.to(device)).log_softmax(-1)
    chosen = log_probabilities.gather(1, actions.to(device)[:, None]).squeeze(1)
    optimizer.zero_grad()
    (-chosen * returns).sum().backward()
    optimizer.step()
    torch_xla.sync()  # <- call
