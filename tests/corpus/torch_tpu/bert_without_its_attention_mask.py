# cause: arguments
# subject: attention_mask
# old: i64[2,8]
# new: absent

import torch
import torch_tpu
import transformers

torch.manual_seed(0)
device = torch.device("tpu")
config = transformers.BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                                 intermediate_size=32, max_position_embeddings=16,
                                 attn_implementation="eager")
compiled = torch.compile(transformers.BertModel(config).to(device).eval(), backend="tpu")


@torch.no_grad()
def main():
    for step in range(6):
        ids = torch.randint(0, 50, (2, 8)).to(device)
        more = {} if step == 4 else {"attention_mask": torch.ones(2, 8, dtype=torch.int64).to(device)}
        print("%.5f" % compiled(input_ids=ids, **more).last_hidden_state.sum().item())  # <- cause


main()
