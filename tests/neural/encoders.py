"""Small pretrained encoders with random values, saved as `transformers` saves them."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

KINDS = ("bert", "roberta")
_SIZES = {
    "hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 12,
    "max_position_embeddings": 34,
}  # fmt: skip


def save_encoder(folder, kind="bert", *, head=False, **settings):
    """Saves an encoder and its tokenizer in a folder; returns the folder."""
    import torch

    made = {"bert": _bert_tokenizer, "roberta": _roberta_tokenizer}[kind]()
    made.save(str(folder / "tokenizer.json"))
    names = {"bert": "Bert", "roberta": "Roberta"}
    configure = getattr(transformers, f"{names[kind]}Config")
    config = configure(vocab_size=made.get_vocab_size(), **{**_SIZES, **settings})
    ending = "ForMaskedLM" if head else "Model"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        model = getattr(transformers, names[kind] + ending)(config)
        for values in model.parameters():  # larger than at first, so that every word matters
            torch.nn.init.normal_(values, std=0.4)
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(folder)
    return folder


def _bert_tokenizer():
    """Word pieces: short forms are whole, others are cut into letters."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    letters = "abcdefghijklmnopqrstuvwxyzäöüßéè0123456789.,!?'-\"()"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "dog", "##s", "see", "cat", "big"]
    words += [mark + letter for letter in letters for mark in ("", "##")]
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    made = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return made


def _roberta_tokenizer():
    """Byte-level pairs, learnt from a few words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=290, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
    )  # fmt: skip
    made.train_from_iterator(["the dogs see the cats", "the big dogs"], trainer)
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return made
