# program: SyncTensorsGraph
# cause: structure
# old: nothing
# reason: a second term joins the loss after the first epoch

import torch
import torch.nn.functional as F
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Sequential(torch.nn.Linear(10, 12), torch.nn.GELU())
        self.head = torch.nn.Linear(12, 4)

    def forward(self, x):
        z = self.encoder(x)
        return z, self.head(z)


class Objective:
    def __init__(self, temperature):
        self.temperature = temperature
        self.contrast = False

    def __call__(self, z, logits, labels):
        loss = F.cross_entropy(logits, labels)
        if self.contrast:
            likeness = z @ z.t() / self.temperature  # <- cause
            loss = loss + 0.3 * torch.logsumexp(likeness, dim=1).mean()
        return loss


def run_epoch(model, optimizer, objective, data):
    for x, labels in data:
        x, labels = x.to(device), labels.to(device)
        optimizer.zero_grad()
        z, logits = model(x)
        loss = objective(z, logits, labels)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    return loss.item()


data = [(torch.randn(8, 10), torch.randint(4, (8,))) for _ in range(3)]
model = Model().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
objective = Objective(temperature=0.2)
torch_xla.sync()
for epoch in range(3):
    objective.contrast = epoch >= 1
    print(epoch, run_epoch(model, optimizer, objective, data))
