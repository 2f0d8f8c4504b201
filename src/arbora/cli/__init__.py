"""The command `arbora`. One file for each of its commands; heavy imports wait inside them."""

from arbora.cli.app import app, main

__all__ = ["app", "main"]
