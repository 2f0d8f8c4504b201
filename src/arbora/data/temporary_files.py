"""Names of files that are written aside: they say which process writes them.

What a killed process left half-written can be removed by the next one, and nothing else is: a file
whose process still runs, or runs where this one cannot see it, stays.
"""

from __future__ import annotations

import glob
import hashlib
import os
import platform
import secrets
from contextlib import suppress
from pathlib import Path

__all__ = ["remove_leftovers", "temporary_path"]

_LONGEST = 100  # bytes of the target's name; file systems take 255 in all


def temporary_path(target: Path) -> Path:
    """A new hidden path beside the target, with this process's name in it."""
    owner = f"{_place()}-{os.getpid()}"
    return target.with_name(f".{_stem(target)}.{owner}.{secrets.token_hex(6)}.tmp")


def remove_leftovers(target: Path) -> None:
    """Removes what processes that no longer run left half-written beside the target."""
    pattern = f".{glob.escape(_stem(target))}.{_place()}-*.*.tmp"
    with suppress(OSError):  # tidying up is no reason to fail
        for path in target.parent.glob(pattern):
            process = path.name.rsplit(".", 3)[1].partition("-")[2]
            if process.isdecimal() and not _runs(int(process)):
                path.unlink(missing_ok=True)


def _stem(target: Path) -> str:
    return target.name.encode("utf-8", "surrogateescape")[:_LONGEST].decode("utf-8", "ignore")


def _place() -> str:
    """Where process numbers mean the same: this machine, and in Linux this container."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return hashlib.sha256(f"{platform.node()} {namespace}".encode()).hexdigest()[:8]


def _runs(process: int) -> bool:
    """Whether there is such a process; true where that cannot be asked."""
    if os.name == "nt":  # where the question would be a signal
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
