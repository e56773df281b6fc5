# program: SyncTensorsGraph
# cause: arguments
# reason: the copies of the online weights are recorded with the next step

import copy

import torch
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(5)


def q_network(states, actions):
    return nn.Sequential(nn.Linear(states, 16), nn.ReLU(), nn.Linear(16, actions))


class Agent:
    def __init__(self):
        self.online = q_network(4, 2).to(device)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.optimizer = torch.optim.SGD(self.online.parameters(), lr=0.01)
        torch_xla.sync()

    def learn(self, state, action, reward, following):
        with torch.no_grad():
            wanted = reward + 0.9 * self.target(following).max(1).values
        value = self.online(state).gather(1, action[:, None])[:, 0]
        loss = nn.functional.smooth_l1_loss(value, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        torch_xla.sync()  # <- call
        return loss

    def refresh(self):
        self.target.load_state_dict(self.online.state_dict())  # <- cause


def transitions(count):
    for _ in range(count):
        batch = torch.randn(8, 4), torch.randint(2, (8,)), torch.rand(8), torch.randn(8, 4)
        yield [part.to(device) for part in batch]


agent = Agent()
for number, batch in enumerate(transitions(6)):
    if number == 4:
        agent.refresh()
    loss = agent.learn(*batch)
print(loss.item())
