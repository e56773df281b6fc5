# program: SyncTensorsGraph
# cause: constant
# old: 4
# new: 6
# advice: tensor | index_copy
# reason: the buffer of what was played is on the device, and Python counts where it is written

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Replay:
    def __init__(self, capacity, width):
        self.states = torch.zeros(capacity, width).to(device)
        self.place, self.capacity = 0, capacity

    def add(self, states):
        self.states[self.place:self.place + len(states)] = states  # <- cause
        self.place = (self.place + len(states)) % self.capacity

    def sample(self, count):
        return self.states.index_select(0, torch.randint(self.capacity, (count,)).to(device))


replay = Replay(16, 3)
critic = torch.nn.Linear(3, 1).to(device)
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
torch_xla.sync()
for episode in range(4):
    replay.add(torch.randn(2, 3).to(device))
    optimizer.zero_grad()
    loss = (critic(replay.sample(8)) - 1).square().mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
