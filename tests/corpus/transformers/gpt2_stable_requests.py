# cause: stable

import torch
import torch_xla
from transformers import GPT2Config, GPT2LMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=1, n_head=2)


class Service:
    def __init__(self, length):
        self.length = length
        self.model = GPT2LMHeadModel(config).to(device).eval()
        torch_xla.sync()

    @torch.no_grad()
    def score(self, prompts, temperature):
        ids = torch.zeros(len(prompts), self.length, dtype=torch.long)
        for row, prompt in enumerate(prompts):
            ids[row, :len(prompt)] = torch.tensor(prompt)
        last = torch.tensor([len(prompt) - 1 for prompt in prompts]).to(device)
        logits = self.model(ids.to(device), use_cache=False).logits
        logits = logits.gather(1, last[:, None, None].expand(-1, 1, logits.shape[-1])).squeeze(1)
        scores = (logits / temperature).softmax(-1)
        torch_xla.sync()
        return scores.cpu()


service = Service(16)
for temperature in (0.7, 1.3, 0.9):
    prompts = [list(range(1, 4 + int(temperature * 3))), [9, 9, 2]]
    print(service.score(prompts, temperature).max(-1).values)
