# program: SyncTensorsGraph
# cause: arguments
# pattern: growing
# reason: continual learning: each task leaves a prototype, from which later features are kept away

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Learner:
    def __init__(self, width=11):
        self.encoder = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, width)).to(device)
        self.optimizer = torch.optim.SGD(self.encoder.parameters(), lr=0.02)
        self.prototypes = [torch.randn(width).to(device)]

    def loss_of(self, features, target):
        near = F.mse_loss(features, target)
        others = torch.stack(self.prototypes)  # <- cause
        return near + 0.1 * (features @ others.T).square().mean()

    def train(self, task):
        for _ in range(2):
            x = torch.randn(8, 6).to(device)
            target = torch.full((8, 11), 0.3 * task + 0.2).to(device)
            self.optimizer.zero_grad()
            loss = self.loss_of(self.encoder(x), target)
            loss.backward()
            self.optimizer.step()
            torch_xla.sync()  # <- call
        return loss.item()

    @torch.no_grad()
    def remember(self):
        examples = torch.randn(10, 6).to(device)
        self.prototypes.append(self.encoder(examples).mean(0))
        torch_xla.sync()


learner = Learner()
torch_xla.sync()
for task in range(5):
    print(task, learner.train(task))
    learner.remember()
