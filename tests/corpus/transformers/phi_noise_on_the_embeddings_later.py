# cause: structure
# old: nothing
# reason: NEFTune's noise is added to the embeddings from the second epoch on

import math

import torch
import torch_xla
from transformers import PhiConfig, PhiForCausalLM

device = torch_xla.device()
torch.manual_seed(0)


class Tuner:
    def __init__(self, model, alpha, noisy_from):
        self.model, self.alpha, self.noisy_from = model.to(device).train(), alpha, noisy_from
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        torch_xla.sync()

    def embeddings(self, ids, epoch):
        x = self.model.get_input_embeddings()(ids)
        if epoch >= self.noisy_from:
            bound = self.alpha / math.sqrt(x.shape[1] * x.shape[2])
            x = x + torch.empty_like(x).uniform_(-bound, bound)  # <- cause
        return x

    def step(self, ids, epoch):
        self.optimizer.zero_grad()
        loss = self.model(inputs_embeds=self.embeddings(ids, epoch), labels=ids).loss
        loss.backward()
        self.optimizer.step()
        torch_xla.sync()  # <- call
        return loss


config = PhiConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
                   max_position_embeddings=32, use_cache=False)
tuner = Tuner(PhiForCausalLM(config), alpha=5, noisy_from=1)
for epoch in range(3):
    for _ in range(2):
        loss = tuner.step(torch.randint(64, (3, 10)).to(device), epoch)
    print(epoch, loss.item())
