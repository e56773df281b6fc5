# cause: shape
# old: i64[8,12]
# new: i64[3,12]
# advice: drop_last

import torch
from torch.utils.data import DataLoader
from trainer import Trainer
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=32, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0)
rows = [{"input_ids": torch.randint(64, (12,))} for _ in range(19)]
trainer = Trainer(GPT2LMHeadModel(config), DataLoader(rows, batch_size=8), epochs=2)
trainer.train()
print(trainer.log)
