# cause: stable

import copy
import random

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
dice = random.Random(0)
SIZE, ROWS = 32, 8


class Buffer:
    def __init__(self):
        self.rows, self.next = [], 0

    def add(self, *row):
        if len(self.rows) < SIZE:
            self.rows.append(row)
        else:
            self.rows[self.next] = row
        self.next = (self.next + 1) % SIZE

    def sample(self):
        columns = zip(*dice.sample(self.rows, ROWS))
        return [torch.tensor(column).to(device) for column in columns]


values = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
target = copy.deepcopy(values).requires_grad_(False)
optimizer = torch.optim.SGD(values.parameters(), lr=0.02)
torch_xla.sync()


@torch.no_grad()
def act(state, chance):
    if dice.random() < chance:
        return dice.randrange(2)
    best = values(torch.tensor([state]).to(device)).argmax(-1)
    torch_xla.sync()
    return best.item()


def learn(buffer):
    states, actions, rewards, following = buffer.sample()
    with torch.no_grad():
        wanted = rewards + 0.95 * target(following).amax(1)
    guessed = values(states).gather(1, actions[:, None]).squeeze(1)
    optimizer.zero_grad()
    F.smooth_l1_loss(guessed, wanted).backward()
    optimizer.step()
    torch_xla.sync()


buffer, state = Buffer(), [0.1, 0.2, 0.3]
for step in range(24):
    action = act(state, chance=max(0.1, 0.9 - step * 0.05))
    following = [dice.uniform(-1, 1) for _ in range(3)]
    buffer.add(state, action, following[action] * 0.5, following)
    state = following
    if len(buffer.rows) >= ROWS:
        learn(buffer)
    if step % 10 == 9:
        target.load_state_dict({name: value.cpu() for name, value in values.state_dict().items()})
