"""Choices that several layers share, by name."""

from __future__ import annotations

from typing import Literal

__all__ = ["Root", "TreeClass"]

Root = Literal["single", "multi"]
TreeClass = Literal["nonprojective", "projective"]
