"""What `make` has compiled: tests of builds continue from it instead of compiling everything."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
TAG = "cp312-abi3" if sys.version_info >= (3, 12) else "cp311-cp311"


def run(*command, **options):
    """Runs a command that must succeed; returns its standard output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def set_up_folder():
    """The build folder of tools/set_up.py for this Python, or None if it was not used."""
    folders = (ROOT / "build" / "develop").glob(f"{TAG}-*/CMakeCache.txt")
    return next((path.parent for path in folders), None)


@contextmanager
def no_other_build():
    """Waits until no other test, in whichever process, is building."""
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / "tests.lock").open("w") as file:
        try:
            import fcntl
        except ImportError:  # Windows, where `make` and its parallel tests are not used
            yield
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
