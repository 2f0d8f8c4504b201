"""Names of temporary files, which contain the process that writes them.

The next process removes the files of killed processes, and no others: a file whose process still
runs, or runs on another machine or in another container, is kept.
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
    """A new hidden path in the target's folder, with this process's number in it."""
    owner = f"{_place()}-{os.getpid()}"
    return target.with_name(f".{_stem(target)}.{owner}.{secrets.token_hex(6)}.tmp")


def remove_leftovers(target: Path) -> None:
    """Removes the target's temporary files of processes that no longer run."""
    pattern = f".{glob.escape(_stem(target))}.{_place()}-*.*.tmp"
    with suppress(OSError):  # a failure to clean up is not an error
        for path in target.parent.glob(pattern):
            process = path.name.rsplit(".", 3)[1].partition("-")[2]
            if process.isdecimal() and not _runs(int(process)):
                path.unlink(missing_ok=True)


def _stem(target: Path) -> str:
    return target.name.encode("utf-8", "surrogateescape")[:_LONGEST].decode("utf-8", "ignore")


def _place() -> str:
    """A key of the process namespace: this machine, and in Linux this container."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return hashlib.sha256(f"{platform.node()} {namespace}".encode()).hexdigest()[:8]


def _runs(process: int) -> bool:
    """Whether there is such a process; true where that is unknown."""
    if os.name == "nt":  # where os.kill(process, 0) would send a signal
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
