"""Attachment scores, significance tests and the calibration of probabilities."""

import warnings as _warnings

from arbora.evaluation.agreement import Agreement, Disagreement, Figure, Kappa, agreement
from arbora.evaluation.analysis import ErrorAnalysis, analyse, analyse_text
from arbora.evaluation.attachment import AttachmentScores, evaluate
from arbora.evaluation.confusion import Confusion, SentenceErrors
from arbora.evaluation.counts import Attachment, Match, NonProjective, TreeFaults
from arbora.evaluation.reliability import Calibration, CalibrationBin, calibration
from arbora.evaluation.rules import RULES, EvaluationRule
from arbora.evaluation.significance import Comparison, Difference, compare
from arbora.evaluation.text_scores import TextScores, evaluate_segmentation, evaluate_text

__all__ = [
    "RULES",
    "Agreement",
    "Attachment",
    "AttachmentScores",
    "Calibration",
    "CalibrationBin",
    "Comparison",
    "Confusion",
    "Difference",
    "Disagreement",
    "ErrorAnalysis",
    "EvaluationRule",
    "Figure",
    "Kappa",
    "Match",
    "NonProjective",
    "SentenceErrors",
    "TextScores",
    "TreeFaults",
    "agreement",
    "analyse",
    "analyse_text",
    "calibration",
    "compare",
    "evaluate",
    "evaluate_segmentation",
    "evaluate_text",
]

_RENAMED = {"Rule": "EvaluationRule", "Scores": "AttachmentScores"}


def __getattr__(name: str) -> object:
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _warnings.warn(
        f"arbora.evaluation.{name} is deprecated and will be removed in version 0.4: use "
        f"{_RENAMED[name]}.",
        DeprecationWarning,
        stacklevel=2,
    )
    value: object = globals()[_RENAMED[name]]
    return value
