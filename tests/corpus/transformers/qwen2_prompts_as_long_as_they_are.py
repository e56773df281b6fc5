# cause: shape
# pattern: unpadded
# advice: Pad
# reason: each prompt is scored as it was tokenized, without padding

import torch
import torch_xla
from transformers import Qwen2Config, Qwen2ForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = Qwen2Config(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
                     num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=64)


class Scorer:
    def __init__(self):
        self.model = Qwen2ForCausalLM(config).to(device).eval()
        torch_xla.sync()

    @torch.no_grad()
    def __call__(self, tokens):
        ids = torch.tensor([tokens], device=device)  # <- cause
        logits = self.model(ids, use_cache=False).logits
        scores = logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None])
        total = scores.sum()
        torch_xla.sync()  # <- call
        return total.item()


score = Scorer()
prompts = [torch.randint(64, (length,)).tolist() for length in (9, 17, 12, 22, 14)]
for prompt in prompts:
    print(len(prompt), score(prompt))
