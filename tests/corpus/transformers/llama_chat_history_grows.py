# cause: shape
# old: i64[1,14]
# new: i64[1,20]
# advice: Pad
# reason: each turn is answered to all that was said before it

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64)


class Chat:
    def __init__(self, model):
        self.model, self.history = model, []

    @torch.no_grad()
    def say(self, message):
        self.history += message
        ids = torch.tensor([self.history]).to(device)  # <- cause
        logits = self.model(input_ids=ids, use_cache=False).logits
        token = logits[:, -1].argmax(-1)
        torch_xla.sync()  # <- call
        self.history.append(token.item())
        return token.item()


chat = Chat(LlamaForCausalLM(config).to(device).eval())
torch_xla.sync()
chat.say([1, 5, 9, 12, 3, 8])
chat.say([2, 7, 7, 11, 4, 6, 1])
chat.say([9, 9, 31, 20, 6])
