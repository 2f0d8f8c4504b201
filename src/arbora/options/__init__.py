"""Options, each declared once: small dataclasses with default, range, help and panel.

The command line, validation, help, model cards, tables in the documentation and the typed signature
of `Parser` derive from these declarations. This package imports only the standard library, so that
`--help` does not wait for NumPy.
"""

from arbora.options.build import PublicOption, flatten, public_options
from arbora.options.declare import Component
from arbora.options.inference import (
    AutomataOptions,
    BeliefPropagationOptions,
    DecodeName,
    DualDecompositionOptions,
    ExactOptions,
    Factors,
    HillClimbingOptions,
    InferenceOptions,
    ScheduleName,
    SolverName,
    TrainingInferenceOptions,
)
from arbora.options.learners import (
    AnnealingName,
    BeliefLearnerOptions,
    HeadSelectionOptions,
    L2Options,
    L2RiskOptions,
    LearnerOptions,
    LogLinearOptions,
    MaxMarginOptions,
    MiraOptions,
    MiraVariant,
    PerceptronOptions,
    RiskOptions,
)
from arbora.options.optimizers import (
    AdaGradOptions,
    AdamOptions,
    ConjugateGradientOptions,
    ExponentiatedGradientOptions,
    LbfgsOptions,
    OnlineOptions,
    OptimizerOptions,
    SgdOptions,
)
from arbora.options.orders import (
    ClusterFeatures,
    FirstOrderOptions,
    GrandparentOptions,
    GrandsiblingOptions,
    HigherOrderOptions,
    OrderOptions,
    SiblingOptions,
)
from arbora.options.parser import LabelsName, ParserOptions, RootName
from arbora.options.parsing import HeadSetGroups, ParseOptions
from arbora.options.renamed import RENAMED_OPTIONS, current_names
from arbora.options.scorers import (
    LinearNeuralOptions,
    LinearOptions,
    NeuralOptions,
    ScorerOptions,
)
from arbora.options.segmentation import SegmenterOptions
from arbora.options.spelling import speak_command_line, spelled
from arbora.options.stages import StageOptions
from arbora.options.tagging import LemmatiserOptions, TaggerOptions
from arbora.options.templates import Templates

__all__ = [
    "RENAMED_OPTIONS",
    "AdaGradOptions",
    "AdamOptions",
    "AnnealingName",
    "AutomataOptions",
    "BeliefLearnerOptions",
    "BeliefPropagationOptions",
    "ClusterFeatures",
    "Component",
    "ConjugateGradientOptions",
    "DecodeName",
    "DualDecompositionOptions",
    "ExactOptions",
    "ExponentiatedGradientOptions",
    "Factors",
    "FirstOrderOptions",
    "GrandparentOptions",
    "GrandsiblingOptions",
    "HeadSelectionOptions",
    "HeadSetGroups",
    "HigherOrderOptions",
    "HillClimbingOptions",
    "InferenceOptions",
    "L2Options",
    "L2RiskOptions",
    "LabelsName",
    "LbfgsOptions",
    "LearnerOptions",
    "LemmatiserOptions",
    "LinearNeuralOptions",
    "LinearOptions",
    "LogLinearOptions",
    "MaxMarginOptions",
    "MiraOptions",
    "MiraVariant",
    "NeuralOptions",
    "OnlineOptions",
    "OptimizerOptions",
    "OrderOptions",
    "ParseOptions",
    "ParserOptions",
    "PerceptronOptions",
    "PublicOption",
    "RiskOptions",
    "RootName",
    "ScheduleName",
    "ScorerOptions",
    "SegmenterOptions",
    "SgdOptions",
    "SiblingOptions",
    "SolverName",
    "StageOptions",
    "TaggerOptions",
    "Templates",
    "TrainingInferenceOptions",
    "current_names",
    "flatten",
    "public_options",
    "speak_command_line",
    "spelled",
]
