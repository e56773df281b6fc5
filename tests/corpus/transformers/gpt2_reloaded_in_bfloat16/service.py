import torch
import torch_xla
from transformers import GPT2LMHeadModel


class Service:
    def __init__(self, folder):
        self.device = torch_xla.device()
        self.load(folder)

    def load(self, folder):
        model = GPT2LMHeadModel.from_pretrained(folder, dtype="auto")
        self.model = model.eval().to(self.device)  # <- cause
        torch_xla.sync()

    @torch.no_grad()
    def next_tokens(self, prompts):
        ids = torch.tensor(prompts).to(self.device)
        tokens = self.model(ids, use_cache=False).logits[:, -1].float().argmax(-1)
        torch_xla.sync()  # <- call
        return tokens.tolist()
