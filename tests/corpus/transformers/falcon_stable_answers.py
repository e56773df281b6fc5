# cause: stable

import torch
import torch_xla
from transformers import FalconConfig, FalconForCausalLM, LogitsProcessorList, TemperatureLogitsWarper

device = torch_xla.device()
torch.manual_seed(0)
config = FalconConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, alibi=False,
                      max_position_embeddings=32, attention_dropout=0.0, hidden_dropout=0.0)
model = FalconForCausalLM(config).to(device).eval()
LENGTH = 16
torch_xla.sync()


class Service:
    def __init__(self, model):
        self.model = model

    @torch.no_grad()
    def answer(self, prompt, new_tokens, temperature):
        """The prompt in a buffer of fixed length; what stands behind the last token is not looked at."""
        warpers = LogitsProcessorList([TemperatureLogitsWarper(temperature)])
        buffer = torch.zeros(1, LENGTH, dtype=torch.long)
        buffer[0, :len(prompt)] = torch.tensor(prompt)
        ids, last = buffer.to(device), torch.tensor([len(prompt) - 1]).to(device)
        for _ in range(new_tokens):
            logits = self.model(ids, use_cache=False).logits.index_select(1, last)[:, 0]
            noise = torch.rand(1, 64).clamp(min=1e-6).to(device)
            scores = warpers(ids, logits) - noise.log().neg().log()
            last = last + 1
            ids = ids.index_copy(1, last, scores.argmax(-1, keepdim=True))
            torch_xla.sync()
        return ids[0].tolist()[:len(prompt) + new_tokens]


service = Service(model)
print(service.answer([4, 8, 15], new_tokens=4, temperature=0.7))
print(service.answer([2, 3, 5, 7, 11, 13], new_tokens=6, temperature=1.3))
print(service.answer([42], new_tokens=3, temperature=0.7))
