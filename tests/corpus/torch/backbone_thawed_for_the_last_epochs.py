# program: SyncTensorsGraph
# cause: structure
# subject: optimizer
# old: updates 2 tensors
# new: updates 6 tensors
# advice: requires_grad
# reason: only the head is trained at first, then all of the network

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = torch.nn.Sequential(torch.nn.Linear(8, 12), torch.nn.ReLU(), torch.nn.Linear(12, 12))
        self.head = torch.nn.Linear(12, 3)

    def forward(self, x):
        return self.head(self.backbone(x).relu())


def set_trainable(module, trainable):
    for p in module.parameters():
        p.requires_grad_(trainable)


def fit(model, optimizer, data):
    for x, labels in data:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()  # <- cause
        torch_xla.sync()  # <- call
    return loss.item()


def main():
    data = [(torch.randn(8, 8), torch.randint(3, (8,))) for _ in range(3)]
    model = Network().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    torch_xla.sync()
    for epoch in range(3):
        set_trainable(model.backbone, epoch >= 2)
        print(epoch, fit(model, optimizer, data))


main()
