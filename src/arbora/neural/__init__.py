"""The neural scorer: a recurrent network with biaffine arcs and labels, and low-rank parts.

Training differentiates with PyTorch (`torch_network.py`); parsing needs NumPy alone
(`numpy_network.py`). Tests compare the two.
"""

from arbora.neural.scorer import NeuralScorer
from arbora.neural.sizes import Sizes
from arbora.neural.vocabulary import NeuralVocabulary

__all__ = ["NeuralScorer", "NeuralVocabulary", "Sizes"]
