# cause: stable

import copy
import random

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)
dice = random.Random(1)


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, outputs))


class Agent:
    def __init__(self, discount=0.97, mixing=0.02):
        self.actor, self.critic = network(4, 2).to(device), network(6, 1).to(device)
        self.target = copy.deepcopy(self.critic).requires_grad_(False)
        self.of_actor = torch.optim.SGD(self.actor.parameters(), lr=0.005)
        self.of_critic = torch.optim.SGD(self.critic.parameters(), lr=0.03)
        self.discount, self.mixing = discount, mixing

    def update_critic(self, state, action, reward, following):
        with torch.no_grad():
            planned = self.actor(following).tanh()
            wanted = reward + self.discount * self.target(torch.cat([following, planned], 1))
        loss = F.smooth_l1_loss(self.critic(torch.cat([state, action], 1)), wanted)
        self.of_critic.zero_grad()
        loss.backward()
        self.of_critic.step()
        torch_xla.sync()
        return loss

    def update_actor(self, state):
        loss = -self.critic(torch.cat([state, self.actor(state).tanh()], 1)).mean()
        self.of_actor.zero_grad()
        loss.backward()
        self.of_actor.step()
        with torch.no_grad():
            for kept, new in zip(self.target.parameters(), self.critic.parameters()):
                kept.lerp_(new, self.mixing)
        torch_xla.sync()
        return loss

    @torch.no_grad()
    def act(self, state):
        action = self.actor(torch.tensor([state]).to(device)).tanh()
        torch_xla.sync()
        return [value + dice.gauss(0, 0.1) for value in action.cpu()[0].tolist()]


agent = Agent()
memory = []
torch_xla.sync()
for episode in range(3):
    state = [dice.random() for _ in range(4)]
    for _ in range(dice.randint(5, 8)):
        action = agent.act(state)
        following = [dice.random() for _ in range(4)]
        memory.append((state, action, [dice.random()], following))
        state = following
    for _ in range(3):
        rows = [dice.choice(memory) for _ in range(8)]
        batch = [torch.tensor(column).to(device) for column in zip(*rows)]
        of_critic = agent.update_critic(*batch)
        of_actor = agent.update_actor(batch[0])
    print(episode, len(memory), of_critic.item(), of_actor.item())
