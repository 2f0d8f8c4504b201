"""Models that are found by name: those of the package, and those of the user's own folders."""

from __future__ import annotations

import os
from pathlib import Path

from arbora.errors import ArgumentError, FileError

__all__ = ["DEFAULT_MODEL", "FOLDERS_VARIABLE", "find_model", "installed_models"]

DEFAULT_MODEL = "en"
FOLDERS_VARIABLE = "ARBORA_MODELS"  # folders of model files, separated as in PATH

_ENDING = ".arbora"
_BUNDLED = Path(__file__).parents[1] / "bundled"


def installed_models() -> dict[str, Path]:
    """Model files by name: the user's folders first, then the package's own models."""
    folders = [Path(one) for one in os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if one]
    found: dict[str, Path] = {}
    for folder in [*folders, _BUNDLED]:
        for path in sorted(folder.glob(f"*{_ENDING}")):
            found.setdefault(path.stem, path)
    return found


def find_model(model: str | os.PathLike[str] | None = None) -> str | os.PathLike[str]:
    """The file of a model: a path, the name of an installed model, or None for the default.

    A file of this name comes first. Anything with a folder or an ending is a path.
    """
    if model is None:
        model = DEFAULT_MODEL
    if not isinstance(model, str) or not _is_name(model) or Path(model).exists():
        return model
    installed = installed_models()
    if model in installed:
        return installed[model]
    if not installed:
        raise ArgumentError(
            f"there is no file {model}, and no models are installed: train one with arbora train, "
            f"then give --model FILE or set {FOLDERS_VARIABLE} to a folder of models."
        )
    raise FileError(f"{model} is neither a file nor an installed model ({', '.join(installed)}).")


def _is_name(text: str) -> bool:
    separators = {os.sep, os.altsep or os.sep}
    return bool(text) and Path(text).suffix == "" and not separators & set(text)
