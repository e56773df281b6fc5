# program: SyncTensorsGraph
# cause: structure
# old: nothing
# reason: from then on a frozen copy is computed as well; its weights come with it

import copy

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

device = torch_xla.device()
torch.manual_seed(0)


class Trainer:
    def __init__(self, model):
        self.model, self.teacher = model, None
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def keep_teacher(self):
        self.teacher = copy.deepcopy(self.model).eval().requires_grad_(False)
        torch_xla.sync()

    def loss_of(self, x, y):
        logits = self.model(x)
        loss = F.cross_entropy(logits, y)
        if self.teacher is not None:
            target = self.teacher(x)  # <- cause
            loss = loss + 0.5 * F.kl_div(logits.log_softmax(-1), target.softmax(-1), reduction="batchmean")
        return loss

    def train_epoch(self, batches):
        for x, y in batches:
            self.optimizer.zero_grad()
            loss = self.loss_of(x.to(device), y.to(device))
            loss.backward()
            self.optimizer.step()
            torch_xla.sync()  # <- call
        return loss.item()


batches = [(torch.randn(8, 6), torch.randint(3, (8,))) for _ in range(2)]
trainer = Trainer(nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3)).to(device))
torch_xla.sync()
for epoch in range(3):
    if epoch == 2:
        trainer.keep_teacher()
    print(epoch, trainer.train_epoch(batches))
