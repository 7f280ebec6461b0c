# needs: transformers
"""A tiny Llama and a tiny BERT classifier of `transformers`, built from a configuration and trained."""

import torch
from measure import Steps
from torch_measure import allow_torchvision_without_cuda, finish

library = allow_torchvision_without_cuda()  # transformers imports torchvision where there is one

from transformers import BertConfig, BertForSequenceClassification, LlamaConfig, LlamaForCausalLM  # noqa: E402

torch.manual_seed(0)
llama = LlamaForCausalLM(
    LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64,
    )
)  # fmt: skip
bert = BertForSequenceClassification(
    BertConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=64, num_labels=3,
    )
)  # fmt: skip
tokens = torch.randint(1, 64, (8, 16))
mask = torch.ones_like(tokens)
mask[:, 12:] = 0
labels = tokens[:, 0] % 3

steps = Steps()
for model, inputs in (
    (llama, {"input_ids": tokens, "labels": tokens}),
    (bert, {"input_ids": tokens, "attention_mask": mask, "labels": labels}),
):
    model.train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / 10))
    for step in range(60):
        with steps:
            output = model(**inputs)
            output.loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
        if step % 20 == 0:
            print(f"step {step}: loss {output.loss.item():.6f}")
llama.eval()
written = llama.generate(tokens[:2, :4], max_new_tokens=4, do_sample=True, pad_token_id=0)
print(written.tolist())
finish(steps, llama, bert)
