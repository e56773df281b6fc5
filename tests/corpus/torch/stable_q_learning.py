# cause: stable

import copy
import random

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
random.seed(0)
online = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).to(device)
target = copy.deepcopy(online).requires_grad_(False)
optimizer = torch.optim.SGD(online.parameters(), lr=0.05)
torch_xla.sync()
memory = [(torch.randn(4), random.randrange(2), random.random(), torch.randn(4)) for _ in range(32)]


def act(state, share):
    if random.random() < share:
        return random.randrange(2)
    with torch.no_grad():
        best = online(state[None].to(device)).argmax(1)
    torch_xla.sync()
    return best.item()


def learn():
    states, actions, rewards, following = zip(*random.sample(memory, 8))
    states, following = torch.stack(states).to(device), torch.stack(following).to(device)
    actions, rewards = torch.tensor(actions).to(device), torch.tensor(rewards).to(device)
    with torch.no_grad():
        wanted = rewards + 0.95 * target(following).amax(1)
    values = online(states).gather(1, actions[:, None]).squeeze(1)
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(values, wanted).backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), online.parameters()):
            slow.mul_(0.98).add_(fast, alpha=0.02)
    torch_xla.sync()


for step in range(6):
    state = torch.randn(4)
    memory.append((state, act(state, 1 / (1 + step)), 1.0, torch.randn(4)))
    learn()
