# program: SyncTensorsGraph
# cause: first

import torch
import torch_xla
from torch import nn


class MixtureDensity(nn.Module):
    """Predicts a mixture of Gaussians for each row."""

    def __init__(self, inputs=4, hidden=16, parts=3):
        super().__init__()
        self.hidden = nn.Linear(inputs, hidden)
        self.weights, self.means = nn.Linear(hidden, parts), nn.Linear(hidden, parts)
        self.spreads = nn.Linear(hidden, parts)

    def forward(self, x):
        hidden = self.hidden(x).tanh()
        return self.weights(hidden).log_softmax(1), self.means(hidden), self.spreads(hidden).exp()


def negative_log_likelihood(mixture, y):
    weights, means, spreads = mixture
    distance = (y[:, None] - means) / spreads
    each = weights - 0.5 * distance.pow(2) - spreads.log()
    likelihood = each.logsumexp(1)
    assert torch.isfinite(likelihood).all(), "the likelihood is not finite"  # <- cut
    return -likelihood.mean()


def fit(model, data, device, rate):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    history = []
    for x, y in data:
        optimizer.zero_grad()
        loss = negative_log_likelihood(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- cause
        history.append(loss.item())  # <- read
    return history


torch.manual_seed(0)
device = torch_xla.device()
model = MixtureDensity().to(device)
torch_xla.sync()
print(fit(model, [(torch.randn(12, 4), torch.randn(12)) for _ in range(5)], device, rate=0.02))
