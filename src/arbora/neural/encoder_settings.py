"""What a pretrained encoder is built from: its configuration and its tokenizer, which are data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from arbora.errors import ModelError

__all__ = ["built", "configuration", "make_tokenizer", "settings_of"]

_MOST_LAYERS = 1000  # a configuration with more would be built for ever
# Settings that choose kernels or number types, some of which would be fetched from elsewhere.
_IGNORED = ("torch_dtype", "dtype", "quantization_config", "attn_implementation",
            "experts_implementation", "use_kernels", "architectures")  # fmt: skip


def settings_of(config: str) -> dict[str, Any]:
    """The settings in a configuration's text; raises for those that need code of their own."""
    try:
        found = json.loads(config)
    except (ValueError, RecursionError):
        raise ModelError("the encoder's configuration is damaged.") from None
    if not isinstance(found, dict) or not isinstance(found.get("model_type"), str):
        raise ModelError("the encoder's configuration names no type of model.")
    if "auto_map" in found:
        raise ModelError(
            "the encoder needs code of its own (auto_map), which is never run: use an encoder "
            "whose code is part of transformers."
        )
    if found.get("is_encoder_decoder"):
        raise ModelError("the encoder has a decoder, which has no vectors of words: use another.")
    kept: dict[str, Any] = _plain(found)
    for name, value in kept.items():
        if "layers" in name and isinstance(value, int) and value > _MOST_LAYERS:
            raise ModelError(f"the encoder's configuration has {value:,} as {name}.")
    return kept


def _plain(value: Any) -> Any:
    """The settings without private ones and those that are ignored, at any depth."""
    if isinstance(value, dict):
        return {
            name: _plain(inner)
            for name, inner in value.items()
            if not name.startswith("_") and name not in _IGNORED
        }
    return value


def configuration(settings: Mapping[str, Any]) -> Any:
    """The configuration of `transformers` for a type of masked language model."""
    from transformers import AutoConfig
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    own = dict(settings)
    kind = own.pop("model_type")
    if kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        raise ModelError(
            f"the encoder's type {kind!r} is not a masked language model of the installed "
            "transformers."
        )
    try:
        return AutoConfig.for_model(kind, **own)
    except Exception as problem:
        raise ModelError("the encoder's configuration is damaged.") from problem


def built(settings: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> Any:
    """The module for a configuration, without parameters: calls bring those of `shapes`."""
    import torch
    from transformers import AutoModel

    configured = configuration(settings)

    def make(device: str) -> Any:
        with torch.device(device):
            made = AutoModel.from_config(
                configured, trust_remote_code=False, attn_implementation="eager"
            )
        if getattr(made, "pooler", None) is not None:
            made.pooler = None  # of whole sentences
        return made.eval()

    try:
        # First without memory: a configuration may state any size.
        needed = {
            name: tuple(values.shape)
            for name, values in make("meta").state_dict().items()
            if values.is_floating_point()
        }
        if needed != dict(shapes):
            wrong = min(name for name in {*needed, *shapes} if needed.get(name) != shapes.get(name))
            raise ModelError(f"the encoder's {wrong!r} does not fit its configuration.")
        with torch.random.fork_rng(devices=[]):  # the random numbers of others stay as they are
            module = make("cpu")
    except ModelError:
        raise
    except Exception as problem:
        raise ModelError("the encoder cannot be built from its configuration.") from problem
    for part in module.modules():
        for name, values in part.named_parameters(recurse=False):
            empty = torch.nn.Parameter(values.to("meta"), requires_grad=False)
            setattr(part, name, empty)
    return module


def make_tokenizer(text: str) -> Any:
    """The tokenizer, without limits on lengths."""
    from tokenizers import Tokenizer

    try:
        stored = json.loads(text)
        _begin_words(stored.get("pre_tokenizer"))
        made = Tokenizer.from_str(json.dumps(stored))
    except Exception as problem:
        raise ModelError("the encoder's tokenizer is damaged.") from problem
    made.no_padding()
    made.no_truncation()
    return made


def _begin_words(settings: Any) -> None:
    """Words of byte-level tokenizers begin with a space, as they do in running text."""
    if isinstance(settings, dict):
        if settings.get("type") == "ByteLevel":
            settings["add_prefix_space"] = True
        for one in settings.get("pretokenizers", ()):
            _begin_words(one)
