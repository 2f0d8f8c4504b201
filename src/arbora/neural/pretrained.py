"""Pretrained encoders: the vector of each word in its sentence, by a model of `transformers`.

The encoder is data: a configuration, a tokenizer and arrays, which a model file holds. Only
encoders whose code is part of `transformers` are built; no other code is loaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ModelError
from arbora.features import Encoded
from arbora.neural.encoder_settings import built, make_tokenizer, settings_of
from arbora.neural.extra import require_transformers
from arbora.neural.vocabulary import COLUMNS
from arbora.neural.windows import Window, windows_of

if TYPE_CHECKING:
    import torch

__all__ = ["GivenEncoder", "PretrainedEncoder", "Task", "batches_of"]

_PIECES_AT_ONCE = 2000  # with those that fill shorter windows up
_LONGEST = 512  # pieces in a window, also of encoders that read more: attention is quadratic
_OFFSET = 2  # positions that encoders such as RoBERTa leave out

Arrays = Mapping[str, NDArray[Any]]
Task = tuple[Window, NDArray[np.int64]]  # a window, and the rows of the words that it answers for


@dataclass(frozen=True, eq=False)
class GivenEncoder:
    """What a folder holds: the texts of its configuration and its tokenizer, and the arrays."""

    config: str
    tokenizer: str
    arrays: dict[str, NDArray[np.float32]]
    dimensions: int  # of a word's vector

    def digest(self) -> bytes:
        """A hash of everything."""
        found = hashlib.sha256(self.config.encode() + b"\0" + self.tokenizer.encode())
        for name in sorted(self.arrays):
            found.update(name.encode())
            found.update(self.arrays[name].tobytes())
        return found.digest()


class PretrainedEncoder:
    """An encoder of whole sentences. A word has the mean of the vectors of its pieces.

    The vector of a piece is the mean of its states in the last `layers` layers. The arrays, whose
    `shapes` are given by name, are an argument of `vectors`, since training may change them.
    """

    def __init__(
        self, config: str, tokenizer: str, layers: int, shapes: Mapping[str, tuple[int, ...]]
    ) -> None:
        self.config, self.tokenizer, self.layers, self.shapes = config, tokenizer, layers, shapes
        self.settings = settings_of(config)
        self._lock = Lock()
        # Calls exchange the parameters of a module, so every thread needs one of its own.
        self._idle: list[Any] = []

    @cached_property
    def _module(self) -> Any:
        """The module without its parameters."""
        require_transformers("a model with a pretrained encoder")
        return built(self.settings, self.shapes)

    @cached_property
    def _pieces(self) -> Any:
        require_transformers("a model with a pretrained encoder")
        return make_tokenizer(self.tokenizer)

    @property
    def dimensions(self) -> int:
        """The size of a word's vector."""
        with self._lock:
            return int(self._module.config.hidden_size)

    def tensors(self, arrays: Arrays) -> dict[str, torch.Tensor]:
        """Tensors of the arrays; they share the memory if it can be written to."""
        import torch

        return {
            name: torch.from_numpy(np.require(values, requirements="W"))
            for name, values in arrays.items()
        }

    def windows(self, encoded: Encoded) -> list[list[Window]]:
        """The windows of all sentences, which are cut into pieces once."""
        found: list[list[Window]] | None = encoded.derived.get(self)
        if found is None:
            block = encoded.block
            with self._lock:
                found = self.windows_of_forms(
                    [block.column(i, COLUMNS["form"]) for i in encoded.places.tolist()]
                )
            encoded.derived[self] = found
        return found

    def windows_of_forms(self, sentences: Sequence[Sequence[str]]) -> list[list[Window]]:
        """The windows of sentences: the whole of each, or overlapping parts of a long one."""
        limit, known = self._limit, {}
        for form in {form for forms in sentences for form in forms}:
            cut = self._pieces.encode([form], is_pretokenized=True, add_special_tokens=False)
            known[form] = tuple(cut.ids[:limit])
        return [windows_of([known[form] for form in forms], limit) for forms in sentences]

    @cached_property
    def _limit(self) -> int:
        """The number of pieces in a window."""
        positions = self._module.config.to_dict().get("max_position_embeddings")
        room = _LONGEST if not positions or positions < 0 else min(positions - _OFFSET, _LONGEST)
        room -= len(self._marks[0]) + len(self._marks[1])
        if room < 1:
            raise ModelError("the encoder reads too few word pieces at once.")
        return int(room)

    @cached_property
    def _marks(self) -> tuple[list[int], list[int]]:
        """What the tokenizer puts before and after a sentence."""
        ids = list(self._pieces.encode([], is_pretokenized=True).ids)
        around = self._pieces.encode(["a"], is_pretokenized=True)
        inside = [place for place, mark in enumerate(around.special_tokens_mask) if not mark]
        before = inside[0] if inside else len(ids)
        return ids[:before], ids[before:]

    def vectors(
        self, tensors: Mapping[str, torch.Tensor], tasks: Sequence[Task], rows: int
    ) -> torch.Tensor:
        """A table with the vectors of words, and zeros in all other rows."""
        import torch

        some = next(iter(tensors.values()))
        table = some.new_zeros(rows, self.dimensions)
        batches = batches_of(tasks)
        if not batches:
            return table
        with self._borrowed() as module:
            found = [self._batch(module, tensors, [one for one, _ in batch]) for batch in batches]
        places = np.concatenate([places for batch in batches for _, places in batch])
        return table.index_copy(0, torch.from_numpy(places), torch.cat(found).to(table.dtype))

    @contextmanager
    def _borrowed(self) -> Iterator[Any]:
        with self._lock:
            module = self._idle.pop() if self._idle else deepcopy(self._module)
        try:
            yield module
        finally:
            with self._lock:
                self._idle.append(module)

    def _batch(
        self, module: Any, tensors: Mapping[str, torch.Tensor], windows: Sequence[Window]
    ) -> torch.Tensor:
        """The vectors of the words that some windows answer for, in their order."""
        import torch

        before, after = self._marks
        ids = [
            [*before, *(piece for word in one.pieces for piece in word), *after] for one in windows
        ]
        longest = max(map(len, ids))
        table = np.full((len(ids), longest), module.config.pad_token_id or 0, dtype=np.int64)
        mask = np.zeros((len(ids), longest), dtype=np.int64)
        places: list[int] = []  # of pieces in the table
        owners: list[int] = []  # the words that they belong to
        sizes: list[int] = []  # of words
        for row, (own, window) in enumerate(zip(ids, windows, strict=True)):
            table[row, : len(own)], mask[row, : len(own)] = own, 1
            for start, end in window.own():
                first = row * longest + len(before)
                places.extend(range(first + start, first + end))
                owners.extend([len(sizes)] * (end - start))
                sizes.append(max(end - start, 1))  # a word without pieces has zeros
        inputs = {"input_ids": torch.from_numpy(table), "attention_mask": torch.from_numpy(mask)}
        layers = torch.func.functional_call(
            module, dict(tensors), (), {**inputs, "output_hidden_states": True}
        ).hidden_states
        used = layers[max(1, len(layers) - self.layers) :]  # the first are the embeddings
        states = torch.stack(list(used)).mean(dim=0)
        if states.shape[:2] != table.shape:
            raise ModelError("the encoder has no vector for each word piece.")
        pieces = states.flatten(0, 1)[torch.tensor(places, dtype=torch.int64)]
        sums = pieces.new_zeros(len(sizes), states.shape[2])
        sums = sums.index_add(0, torch.tensor(owners, dtype=torch.int64), pieces)
        return sums / torch.tensor(sizes, dtype=sums.dtype)[:, None]


def batches_of(tasks: Sequence[Task]) -> list[list[Task]]:
    """Windows of similar lengths, the longest first; those without pieces are left out.

    They depend on the windows alone, and so do the vectors.
    """
    answer: list[list[Task]] = []
    room = longest = 0
    for task in sorted(tasks, key=lambda task: -task[0].length):
        if not task[0].length:
            break
        if room < longest or not answer:
            answer.append([])
            longest = task[0].length
            room = max(_PIECES_AT_ONCE, longest)
        answer[-1].append(task)
        room -= longest
    return answer
