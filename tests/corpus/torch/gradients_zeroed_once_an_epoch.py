# program: SyncTensorsGraph
# cause: gradient
# old: create
# new: accumulate

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn


class Spotter(nn.Module):
    """Which of a few words is spoken in a short recording."""

    def __init__(self, words=6):
        super().__init__()
        self.listen = nn.Sequential(nn.Conv1d(1, 8, 9, stride=4), nn.ReLU(),
                                    nn.Conv1d(8, 16, 5, stride=2), nn.ReLU())
        self.decide = nn.Linear(16, words)

    def forward(self, waves):
        return self.decide(self.listen(waves[:, None]).mean(2))


class Epoch:
    def __init__(self, model, optimizer, device):
        self.model, self.optimizer, self.device = model, optimizer, device

    def run(self, recordings):
        self.model.train()
        self.optimizer.zero_grad()
        losses = [self.step(waves, words) for waves, words in recordings]
        return torch.stack([loss.cpu() for loss in losses]).mean().item()

    def step(self, waves, words):
        loss = F.cross_entropy(self.model(waves.to(self.device)), words.to(self.device))
        loss.backward()  # <- cause
        self.optimizer.step()
        torch_xla.sync()  # <- call
        return loss.detach()


def main():
    torch.manual_seed(0)
    device = torch_xla.device()
    recordings = [(torch.randn(4, 128), torch.randint(6, (4,))) for _ in range(4)]
    model = Spotter().to(device)
    epoch = Epoch(model, torch.optim.SGD(model.parameters(), lr=0.01), device)
    torch_xla.sync()
    for number in range(2):
        print(number, epoch.run(recordings))


main()
