# cause: stable

import torch
import torch_xla
from transformers import Qwen2Config, Qwen2ForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
LENGTH, NEW, PAD = 20, 5, 0
config = Qwen2Config(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
                     num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=LENGTH,
                     attn_implementation="eager")


class Service:
    """All requests are rows of one length, with the place of the next token beside them."""

    def __init__(self):
        self.model = Qwen2ForCausalLM(config).to(device).eval()
        self.places = torch.arange(LENGTH).to(device)
        torch_xla.sync()

    def step(self, ids, lengths):
        valid = (self.places[None] < lengths).long()
        logits = self.model(ids, attention_mask=valid, use_cache=False).logits
        last = (lengths - 1)[:, :, None].expand(-1, 1, logits.shape[-1])
        tokens = logits.gather(1, last).squeeze(1).argmax(-1, keepdim=True)
        return torch.where(self.places[None] == lengths, tokens, ids), lengths + 1

    @torch.no_grad()
    def __call__(self, requests):
        ids = torch.full((len(requests), LENGTH), PAD)
        for place, request in enumerate(requests):
            ids[place, :len(request)] = torch.tensor(request)
        lengths = torch.tensor([[len(request)] for request in requests])
        ids, lengths = ids.to(device), lengths.to(device)
        for _ in range(NEW):
            ids, lengths = self.step(ids, lengths)
            torch_xla.sync()
        rows = ids.tolist()
        return [row[len(request):len(request) + NEW] for row, request in zip(rows, requests)]


serve = Service()
for lengths in ((4, 9), (12, 3), (7, 7)):
    requests = [torch.randint(1, 64, (length,)).tolist() for length in lengths]
    print(serve(requests))
