"""Nothing opens a network connection."""

from __future__ import annotations

import subprocess
import sys

# Any attempt to connect or to look up a name ends the process with this status.
_GUARD = """
import os, socket
def refuse(*args, **keywords):
    os.write(2, b"a connection was attempted")
    os._exit(99)
socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = socket.gethostbyname = socket.create_connection = refuse
"""

_PYTHON = """
import arbora
document = arbora.load()("She saw the man with a telescope.")
assert document[0].heads.tolist().count(0) == 1
"""

_COMMANDS = """
import sys
from arbora.cli import main
for arguments in (["--help"], ["models"], ["parse", "She saw the man."], ["draw", "She sleeps."]):
    sys.argv = ["arbora", *arguments]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
"""


def run(script):
    return subprocess.run(
        [sys.executable, "-c", _GUARD + script], capture_output=True, text=True, check=False
    )


def test_the_guard_notices():
    assert run("socket.create_connection(('127.0.0.1', 9))").returncode == 99


def test_python_needs_no_network():
    done = run(_PYTHON)
    assert done.returncode == 0, done.stderr


def test_commands_need_no_network():
    done = run(_COMMANDS)
    assert done.returncode == 0, done.stderr
    assert "telescope" not in done.stderr
