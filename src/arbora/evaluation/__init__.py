"""How good is a parse, is one parser better than another, do probabilities keep their promise?"""

from arbora.evaluation.attachment import AttachmentScores, evaluate
from arbora.evaluation.counts import Attachment, Match, NonProjective, TreeFaults
from arbora.evaluation.reliability import Calibration, CalibrationBin, calibration
from arbora.evaluation.rules import RULES, Rule
from arbora.evaluation.significance import Comparison, Difference, compare

__all__ = [
    "RULES",
    "Attachment",
    "AttachmentScores",
    "Calibration",
    "CalibrationBin",
    "Comparison",
    "Difference",
    "Match",
    "NonProjective",
    "Rule",
    "TreeFaults",
    "calibration",
    "compare",
    "evaluate",
]
