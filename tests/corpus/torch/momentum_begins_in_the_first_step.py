# program: SyncTensorsGraph
# cause: arguments
# old: absent
# advice: before the first step
# reason: SGD makes its momentum in the first step, and the second gets it as inputs

import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


class Forecaster(torch.nn.Module):
    def __init__(self, window, hidden):
        super().__init__()
        self.rnn = torch.nn.Linear(window, hidden)
        self.out = torch.nn.Linear(hidden, 1)

    def forward(self, series):
        return self.out(torch.sigmoid(self.rnn(series)))


def windows(series, width, batch):
    pieces = series.unfold(0, width + 1, 1)
    for start in range(0, len(pieces) - batch + 1, batch):
        some = pieces[start:start + batch]
        yield some[:, :-1].contiguous(), some[:, -1:].contiguous()


def train(model, series):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-4)
    for x, y in windows(series, 10, 8):
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = torch.nn.functional.l1_loss(model(x), y)
        loss.backward()
        optimizer.step()  # <- cause
        torch_xla.sync()  # <- call
    return loss.item()


model = Forecaster(10, 12).to(device)
torch_xla.sync()
print(train(model, torch.sin(torch.arange(50.0) / 5)))
