# cause: dtype
# old: f32[...
# new: bf16[...
# reason: the checkpoint was saved in bfloat16 and is loaded as it was saved

import tempfile

import torch
from service import Service
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=1, n_head=2,
                    tie_word_embeddings=False)
with tempfile.TemporaryDirectory() as folder:
    first, second = f"{folder}/first", f"{folder}/second"
    GPT2LMHeadModel(config).save_pretrained(first)
    GPT2LMHeadModel(config).to(torch.bfloat16).save_pretrained(second)
    service = Service(first)
    print(service.next_tokens([[4, 8, 15, 16], [23, 42, 4, 8]]))
    service.load(second)
    print(service.next_tokens([[4, 8, 15, 16], [23, 42, 4, 8]]))
