"""Reproduction of the papers' tables, each by its own recipe."""

from arbora.reproduction.recipe import PAPERS, Recipe, read_recipe
from arbora.reproduction.report import Report
from arbora.reproduction.reproduce import reproduce

__all__ = ["PAPERS", "Recipe", "Report", "read_recipe", "reproduce"]
