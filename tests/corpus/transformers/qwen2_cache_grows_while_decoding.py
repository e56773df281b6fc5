# cause: shape
# pattern: unpadded

import torch
import torch_xla
from transformers import DynamicCache, Qwen2Config, Qwen2ForCausalLM


def small_model():
    config = Qwen2Config(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                         num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=64)
    return Qwen2ForCausalLM(config).eval()


class Completer:
    def __init__(self, model, device):
        self.model, self.device = model.to(device), device
        torch_xla.sync()

    def read_prompt(self, ids):
        out = self.model(ids, past_key_values=DynamicCache(), use_cache=True)
        word = out.logits[:, -1].argmax(-1, keepdim=True)
        torch_xla.sync()
        return word, out.past_key_values

    def next_word(self, word, cache):
        out = self.model(word, past_key_values=cache, use_cache=True)  # <- cause
        word = out.logits[:, -1].argmax(-1, keepdim=True)
        torch_xla.sync()  # <- call
        return word, out.past_key_values

    @torch.no_grad()
    def complete(self, prompt, words):
        word, cache = self.read_prompt(torch.tensor([prompt]).to(self.device))
        answer = [word.item()]
        for _ in range(words - 1):
            word, cache = self.next_word(word, cache)
            answer.append(word.item())
        return answer


torch.manual_seed(0)
completer = Completer(small_model(), torch_xla.device())
print(completer.complete([5, 9, 33, 12], words=6))
