"""The vectors of a pretrained encoder, as an input of the network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ModelError
from arbora.features import Encoded
from arbora.neural.pretrained import GivenEncoder, PretrainedEncoder, Task, batches_of
from arbora.neural.shards import Shard
from arbora.neural.sizes import Sizes

if TYPE_CHECKING:
    import torch

__all__ = ["TUNED", "Context"]

TUNED = "encoder."  # before the names of the encoder's arrays
_CONFIG, _TOKENIZER = "encoder_config", "encoder_tokenizer"  # their texts as bytes

Arrays = Mapping[str, NDArray[Any]]


class Context:
    """An encoder, and its arrays unless they are learnt: then the scorer has them."""

    def __init__(self, encoder: PretrainedEncoder, frozen: Arrays | None) -> None:
        self.encoder, self.frozen = encoder, frozen

    @classmethod
    def of(cls, given: GivenEncoder, sizes: Sizes) -> Context:
        """The encoder of a folder."""
        shapes = {name: values.shape for name, values in given.arrays.items()}
        encoder = PretrainedEncoder(given.config, given.tokenizer, sizes.context_layers, shapes)
        return cls(encoder, None if sizes.tuned else given.arrays)

    @cached_property
    def _tensors(self) -> dict[str, torch.Tensor]:
        assert self.frozen is not None
        return self.encoder.tensors(self.frozen)

    def vectors(
        self, encoded: Encoded, shard: Shard, learnt: Mapping[str, torch.Tensor] | None
    ) -> torch.Tensor:
        """A row for each token of a shard, with zeros for root symbols.

        `learnt` are the arrays that the scorer has; the vectors' gradients reach them.
        """
        import torch

        remembered = encoded.derived.get(self)
        if remembered is not None:
            return torch.from_numpy(remembered[shard.places])
        torch.set_num_threads(1)  # as for gradients: the same sums with any number of threads
        windows = self.encoder.windows(encoded)
        tasks = [
            (window, row[1 + window.first : 1 + window.last])
            for row, sentence in zip(shard.padded, shard.sentences.tolist(), strict=True)
            for window in windows[sentence]
        ]
        if self.frozen is None:
            assert learnt is not None
            return self.encoder.vectors(learnt, tasks, len(shard.places))
        with torch.no_grad():
            return self.encoder.vectors(self._tensors, tasks, len(shard.places))

    def remember(
        self, encoded: Encoded, each: Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]
    ) -> None:
        """Computes the vectors of all sentences, unless they are learnt or remembered.

        `each` runs a function on several threads.
        """
        if self.frozen is None or self in encoded.derived:
            return
        import torch

        starts = np.concatenate([[0], np.cumsum(encoded.n_words + 1)])
        table = np.zeros((int(starts[-1]), self.encoder.dimensions), dtype=np.float32)
        tasks = [
            (window, start + 1 + np.arange(window.first, window.last))
            for start, windows in zip(starts, self.encoder.windows(encoded), strict=False)
            for window in windows
        ]

        def run(batch: list[Task]) -> None:
            torch.set_num_threads(1)
            places = np.concatenate([places for _, places in batch])
            ends = np.cumsum([len(places) for _, places in batch])
            own = [
                (window, np.arange(end - len(places), end))
                for (window, places), end in zip(batch, ends, strict=True)
            ]
            with torch.no_grad():
                table[places] = self.encoder.vectors(self._tensors, own, len(places)).numpy()

        each(run, batches_of(tasks))
        encoded.derived[self] = table

    def state(self) -> dict[str, NDArray[Any]]:
        """What a model file has to hold, besides learnt arrays."""
        texts = {_CONFIG: self.encoder.config, _TOKENIZER: self.encoder.tokenizer}
        stored: dict[str, NDArray[Any]] = {
            name: np.frombuffer(text.encode(), dtype=np.uint8) for name, text in texts.items()
        }
        return stored | {TUNED + name: values for name, values in (self.frozen or {}).items()}

    @classmethod
    def from_store(cls, sizes: Sizes, arrays: Arrays) -> Context:
        """The encoder that `state` described; whether its arrays fit shows when it is used."""
        own = {
            name.removeprefix(TUNED): values
            for name, values in arrays.items()
            if name.startswith(TUNED)
        }
        if not own or any(values.dtype != np.float32 for values in own.values()):
            raise ModelError("the encoder's arrays are damaged.")
        texts = [arrays[name].tobytes().decode() for name in (_CONFIG, _TOKENIZER)]
        shapes = {name: values.shape for name, values in own.items()}
        encoder = PretrainedEncoder(texts[0], texts[1], sizes.context_layers, shapes)
        return cls(encoder, None if sizes.tuned else own)
