"""PyTorch as an extra: asked for only in training and explanations."""

from __future__ import annotations

from importlib.util import find_spec

from arbora.errors import ArgumentError

__all__ = ["require_torch", "require_transformers"]


def require_torch(what: str) -> None:
    """Raises unless PyTorch is installed; `what` needs it."""
    if find_spec("torch") is None:
        raise ArgumentError(
            f'{what} requires PyTorch: install it with pip install "arbora[neural]".'
        )


def require_transformers(what: str) -> None:
    """Raises unless PyTorch and transformers are installed; `what` needs them."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise ArgumentError(
            f"{what} requires PyTorch and transformers: install them with pip install "
            '"arbora[encoder]".'
        )
