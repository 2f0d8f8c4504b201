"""A parser on the scores of your own encoder: a small BiLSTM, trained by exact likelihood.

The encoder is plain PyTorch and gives arc scores of a padded batch, (B, N+1, N+1). One line of
Arbora makes a distribution over trees of them, whose `log_prob` is the loss and whose `mbr` parses.
Needs the extra torch: pip install "arbora[torch]".
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch.nn.utils.rnn import pad_sequence

import arbora
from arbora.torch import SpanningTrees

TREEBANK = Path(__file__).parent / "treebank"
Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


class Encoder(torch.nn.Module):  # type: ignore[misc, unused-ignore]  # Any without PyTorch
    """Words and tags to scores [head, modifier]; position 0 is the root symbol."""

    def __init__(self, n_symbols: int, width: int = 48) -> None:
        super().__init__()
        self.embed = torch.nn.EmbeddingBag(n_symbols, width, mode="sum")
        self.lstm = torch.nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.head, self.modifier = (torch.nn.Linear(2 * width, width) for _ in range(2))

    def forward(self, symbols: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        batch, side, _ = symbols.shape
        vectors = self.embed(symbols.flatten(0, 1)).reshape(batch, side, -1)
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            vectors, lengths + 1, batch_first=True, enforce_sorted=False
        )
        states, _ = torch.nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return torch.relu(self.head(states)) @ torch.relu(self.modifier(states)).mT


def read(name: str, symbols: dict[str, int], batch_size: int = 32) -> list[Batch]:
    """Padded batches of symbols (form and tag; 0 is unknown), heads and lengths."""
    sentences = list(arbora.read_conllu(TREEBANK / name))
    batches = []
    for start in range(0, len(sentences), batch_size):
        some = sentences[start : start + batch_size]
        rows = [
            torch.tensor([[symbols.get("<root>", 0)] * 2]
                         + [[symbols.get(form.lower(), 0), symbols.get(f"/{tag}", 0)]
                            for form, tag in zip(one.forms, one.upos, strict=True)])
            for one in some
        ]  # fmt: skip
        heads = [torch.tensor(one.heads.tolist()) for one in some]
        lengths = torch.tensor([len(one) for one in heads])
        padded = pad_sequence(rows, batch_first=True)
        batches.append((padded, pad_sequence(heads, batch_first=True, padding_value=-1), lengths))
    return batches


def accuracy(encoder: Encoder, batches: list[Batch]) -> float:
    """The percentage of right heads in the trees with the most expected right heads."""
    right, count = 0, 0
    for words, heads, lengths in batches:
        with torch.no_grad():
            trees = SpanningTrees(encoder(words, lengths), lengths=lengths).mbr()
        right += int((trees.heads == heads)[heads >= 0].sum())
        count += int(lengths.sum())
    return 100.0 * right / count


def main() -> None:
    torch.manual_seed(0)
    train = list(arbora.read_conllu(TREEBANK / "train.conllu"))
    known = {form.lower() for one in train for form in one.forms}
    known |= {f"/{tag}" for one in train for tag in one.upos}
    symbols = {symbol: i for i, symbol in enumerate(["<unknown>", "<root>", *sorted(known)])}
    encoder = Encoder(len(symbols))
    optimizer = torch.optim.Adam(encoder.parameters(), lr=5e-3)
    batches, dev = read("train.conllu", symbols), read("dev.conllu", symbols)
    for epoch in range(1, 7):
        total = 0.0
        for words, heads, lengths in batches:
            trees = SpanningTrees(encoder(words, lengths), lengths=lengths)
            loss = -trees.log_prob(heads).sum() / lengths.sum()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call, unused-ignore]  # PyTorch has no type
            optimizer.step()
            total += loss.item()
        uas = accuracy(encoder, dev)
        print(f"epoch {epoch}: loss {total / len(batches):5.3f} a word, {uas:4.1f} % of dev heads")
    assert uas > 80.0


if __name__ == "__main__":
    main()
