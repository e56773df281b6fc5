# program: SyncTensorsGraph
# cause: first
# reason: the divergence from the old policy is read before the update, to stop early

import torch
import torch_xla
from torch import nn
from torch.distributions import Categorical

device = torch_xla.device()
torch.manual_seed(0)


class ActorCritic(nn.Module):
    def __init__(self, observations=5, actions=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, 16), nn.Tanh())
        self.policy, self.value = nn.Linear(16, actions), nn.Linear(16, 1)

    def forward(self, states):
        h = self.body(states)
        return self.policy(h), self.value(h).squeeze(-1)


def rollout(size):
    states, actions = torch.randn(size, 5), torch.randint(3, (size,))
    return [t.to(device) for t in (states, actions, -torch.rand(size), torch.randn(size), torch.randn(size))]


model = ActorCritic().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.003)
clip, target = 0.2, 50.0
torch_xla.sync()
for update in range(3):
    states, actions, old, advantages, returns = rollout(16)
    for epoch in range(3):
        logits, values = model(states)
        policy = Categorical(logits=logits, validate_args=False)
        ratio = (policy.log_prob(actions) - old).exp()
        surrogate = torch.min(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)
        loss = -surrogate.mean() + 0.5 * (values - returns).square().mean() - 0.01 * policy.entropy().mean()
        divergence = (old - policy.log_prob(actions)).mean().item()  # <- cut
        if divergence > target:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- cause
