"""From raw text to sentences, words and multiword tokens."""

from typing import TYPE_CHECKING, Any

from arbora.segmentation.segmenter import Segmented, Segmenter

if TYPE_CHECKING:
    from arbora.segmentation.training import train_segmenter

__all__ = [
    "Segmented",
    "Segmenter",
    "train_segmenter",
]


def __getattr__(name: str) -> Any:
    if name == "train_segmenter":  # segmenting does not need what learns it
        from arbora.segmentation.training import train_segmenter

        return train_segmenter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
