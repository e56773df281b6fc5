# cause: shape
# old: i64[1,4]
# new: i64[1,5]
# advice: full length
# reason: each token is appended to what the decoder is given

import torch
import torch_xla
from transformers import WhisperConfig, WhisperForConditionalGeneration
from transformers.modeling_outputs import BaseModelOutput

device = torch_xla.device()
torch.manual_seed(0)
config = WhisperConfig(vocab_size=64, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                       decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, num_mel_bins=8,
                       max_source_positions=12, max_target_positions=16, pad_token_id=0, bos_token_id=1,
                       eos_token_id=2, decoder_start_token_id=3)
model = WhisperForConditionalGeneration(config).to(device).eval()
sound = torch.randn(1, 8, 24).to(device)
tokens = torch.tensor([[3, 7]]).to(device)
torch_xla.sync()
with torch.no_grad():
    heard = model.get_encoder()(sound).last_hidden_state
    torch_xla.sync()
    for _ in range(4):
        logits = model(encoder_outputs=BaseModelOutput(heard), decoder_input_ids=tokens, use_cache=False).logits
        tokens = torch.cat([tokens, logits[:, -1:].argmax(-1)], dim=-1)  # <- cause
        torch_xla.sync()  # <- call
print(tokens.tolist())
