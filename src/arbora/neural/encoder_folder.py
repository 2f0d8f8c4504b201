"""Reading of a pretrained encoder from a folder, as `save_pretrained` writes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError, ModelError
from arbora.neural.encoder_settings import configuration, settings_of
from arbora.neural.extra import require_transformers
from arbora.neural.pretrained import GivenEncoder, PretrainedEncoder

__all__ = ["read_encoder"]

Arrays = dict[str, NDArray[np.float32]]

_TOLERANCE = 1e-3  # of single precision in a batch and alone
_ARRAYS = ("model.safetensors", "model.safetensors.index.json")
_PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json")


def read_encoder(folder: str | os.PathLike[str]) -> GivenEncoder:
    """The encoder in a folder, in single precision; it has read a sentence."""
    require_transformers("a pretrained encoder")
    place = Path(folder)
    _check_files(place)
    try:
        config = (place / "config.json").read_text("utf-8")
        tokenizer = (place / "tokenizer.json").read_text("utf-8")
        arrays = _read_arrays(place, settings_of(config))
        return GivenEncoder(config, tokenizer, arrays, _dimensions(config, tokenizer, arrays))
    except (ModelError, OSError, UnicodeDecodeError) as problem:
        raise ArgumentError(f"{folder}: {problem}") from problem


def _check_files(folder: Path) -> None:
    """Raises for folders without the files of an encoder."""
    if not folder.is_dir():
        raise ArgumentError(
            f"{folder}: no such folder; an encoder is read from the folder that save_pretrained "
            "wrote."
        )
    for name, writer in (("config.json", "the model"), ("tokenizer.json", "its fast tokenizer")):
        if not (folder / name).is_file():
            raise ArgumentError(
                f"{folder}: there is no {name}, which save_pretrained of {writer} writes."
            )
    if any((folder / name).is_file() for name in _ARRAYS):
        return
    if any((folder / name).is_file() for name in _PICKLES):
        raise ArgumentError(
            f"{folder}: the encoder's arrays are a pickle, which can run code; save it again as "
            "safetensors."
        )
    raise ArgumentError(
        f"{folder}: there is no model.safetensors, which save_pretrained of the model writes."
    )


def _read_arrays(folder: Path, settings: dict[str, Any]) -> Arrays:
    """The arrays under the names of the encoder without a head."""
    import torch
    from transformers import AutoModel

    configured = configuration(settings)
    try:
        with _silence(), torch.random.fork_rng(devices=[]):
            found, told = AutoModel.from_pretrained(
                folder, config=configured, local_files_only=True, trust_remote_code=False,
                use_safetensors=True, dtype=torch.float32, attn_implementation="eager",
                output_loading_info=True,
            )  # fmt: skip
    except Exception as problem:
        raise ModelError(
            "the encoder's arrays are damaged or do not fit its configuration."
        ) from problem
    missing = sorted(name for name in told["missing_keys"] if not name.startswith("pooler."))
    if missing:
        raise ModelError(f"the encoder's file has no {missing[0]!r}.")
    return {
        name: np.array(values.detach().numpy())
        for name, values in found.state_dict().items()
        if values.is_floating_point() and not name.startswith("pooler.")
    }


def _dimensions(config: str, tokenizer: str, arrays: Arrays) -> int:
    """The size of a word's vector; raises unless the encoder reads sentences."""
    import torch

    shapes = {name: values.shape for name, values in arrays.items()}
    encoder = PretrainedEncoder(config, tokenizer, 1, shapes)
    try:
        tensors = encoder.tensors(arrays)
        tasks, rows = [], 0
        for windows in encoder.windows_of_forms([["a"], ["a", "b", "c", "d"]]):
            for one in windows:
                tasks.append((one, np.arange(rows, rows + one.last - one.first)))
                rows += one.last - one.first
        with torch.no_grad():
            found = encoder.vectors(tensors, tasks, rows)
            alone = encoder.vectors(tensors, tasks[:1], 1)
    except ModelError:
        raise
    except Exception as problem:
        raise ModelError("the encoder fails on short sentences.") from problem
    if not torch.isfinite(found).all():
        raise ModelError("the encoder's vectors are not finite.")
    if not torch.allclose(found[:1], alone, rtol=_TOLERANCE, atol=_TOLERANCE):
        raise ModelError("the encoder's vectors depend on the longer sentences beside a sentence.")
    return encoder.dimensions


@contextmanager
def _silence() -> Iterator[None]:
    """No bars and reports of `transformers`: what is wrong becomes a sentence of ours."""
    from transformers.utils import logging

    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()
