"""Hashes of names and letters in plain Python, as the core computes them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["bucket", "hash_of", "key_of"]

_64 = (1 << 64) - 1
_MIX = 0x9FB21C651E98DF25
_PLACES = (
    0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xFF51AFD7ED558CCD,
    0xD1342543DE82EF95, 0xAF251AF3B0F025B5,
)  # fmt: skip


def _mixed(z: int) -> int:
    z = (z ^ (z >> 32)) * _MIX & _64
    z = (z ^ (z >> 29)) * 0xD6E8FEB86659FD93 & _64
    return z ^ (z >> 32)


def hash_of(letters: Sequence[int]) -> int:
    state = 0x2545F4914F6CDD1D
    for letter in letters:
        state = (state ^ letter) * _MIX & _64
    return _mixed(state)


def _name(text: str) -> int:
    data = text.encode()
    state = 0x2545F4914F6CDD1D + len(data)
    for byte in data:
        state = (state ^ byte) * _MIX & _64
    return _mixed(state)


def key_of(name: str, *atoms: int) -> int:
    total = _name(name)
    for atom, place in zip(atoms, _PLACES, strict=False):
        total = (total + atom * place) & _64
    return (total ^ (total >> 31)) * _MIX & _64


def bucket(n: int) -> int:
    return (
        n
        if n < 4
        else next(b for b, top in ((4, 8), (5, 16), (6, 32), (7, 64), (8, n + 1)) if n < top)
    )
