"""Exceptions. Every message is one sentence that names the place and the remedy."""

from __future__ import annotations

__all__ = [
    "AlignmentError",
    "ArboraError",
    "ArgumentError",
    "ConstraintError",
    "DataError",
    "DataWarning",
    "FileError",
    "ModelError",
    "NoTreeError",
    "PatternError",
    "ScoreError",
    "ShapeError",
    "SolverError",
    "TooLargeError",
]


class ArboraError(ValueError):
    """The base class of all errors about input; also a `ValueError`."""


class AlignmentError(ArboraError):
    """Gold and system do not hold the same words."""


class ArgumentError(ArboraError):
    """An option or argument has an invalid value."""


class PatternError(ArgumentError):
    """A pattern that cannot be read: `at` is the place of the error in `text`, from 0."""

    def __init__(self, sentence: str, text: str, at: int) -> None:
        super().__init__(f"{sentence} (character {at + 1} of the pattern {text!r}).")
        self.sentence = sentence
        self.text = text
        self.at = at

    def __reduce__(self) -> tuple[type[PatternError], tuple[str, str, int]]:
        return PatternError, (self.sentence, self.text, self.at)


class ShapeError(ArboraError):
    """An array has the wrong shape or type."""


class ScoreError(ArboraError):
    """A score is NaN, +inf or too large."""


class NoTreeError(ArboraError):
    """The allowed arcs contain no tree; `word` is a word that cannot be attached, or None."""

    def __init__(self, message: str, word: int | None = None) -> None:
        super().__init__(message)
        self.word = word


class ConstraintError(ArboraError):
    """Constraints contradict each other or name an arc that does not exist."""


class TooLargeError(ArboraError):
    """The result would need more memory than the machine has."""


class DataError(ArboraError):
    """A sentence of a file is malformed; `file` and `line` (from 1) say where."""

    def __init__(self, message: str, file: str, line: int) -> None:
        super().__init__(f"{file}, line {line}: {message}.")
        self.message = message
        self.file = file
        self.line = line

    def __reduce__(self) -> tuple[type[DataError], tuple[str, str, int]]:
        return DataError, (self.message, self.file, self.line)


class DataWarning(UserWarning):
    """A file can be read, but contains something unusual that may be a mistake."""


class FileError(ArboraError, OSError):
    """A file cannot be opened, read or written; also an `OSError`."""


class ModelError(ArboraError):
    """A model file or checkpoint cannot be used."""


class SolverError(ArboraError):
    """A linear programming solver found no solution within its limits."""


def unreadable(name: object, error: BaseException) -> FileError:
    """The error for a file that cannot be read."""
    return FileError(f"{name} cannot be read: {reason(error)}.")


def unwritable(name: object, error: BaseException, advice: str = "") -> FileError:
    """The error for a file that cannot be written."""
    return FileError(f"{name} cannot be written: {reason(error)}{advice}.")


def reason(error: BaseException) -> str:
    """The system's error message, beginning in lower case and without a full stop."""
    text = (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")
    return text[0].lower() + text[1:]
