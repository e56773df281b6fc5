import torch


class Lookahead:
    def __init__(self, inner, every):
        self.inner, self.every, self.count = inner, every, 0
        self.fast = [p for group in inner.param_groups for p in group["params"]]
        self.slow = [p.detach().clone() for p in self.fast]

    def zero_grad(self):
        self.inner.zero_grad()

    @torch.no_grad()
    def step(self):
        self.inner.step()
        self.count += 1
        if self.count % self.every == 0:
            for slow, fast in zip(self.slow, self.fast):
                slow.add_(fast - slow, alpha=0.5)  # <- cause
                fast.copy_(slow)
