"""The measurements of Koo, Rush, Collins, Jaakkola & Sontag (2010) on dual decomposition.

    python benchmarks/dual.py --treebanks DIR               # everything
    python benchmarks/dual.py --treebanks DIR table2 ilp    # some parts

table2      linear programs, the integer program and dual decomposition (table 2)
ilp         optimum and speed compared with the integer program
random      random scores; weights trained against automaton paths or decoded trees; random weights
figures     automata run by iteration, and results with a lower iteration limit (figures 3 and 4)
zstar       automaton paths before the first iteration (section 7.6)
projective  decoding with and without crossing arcs (table 3)
solvers     AD3, branching and the subgradient method

Parsers are trained on unlabelled trees, with default settings unless stated otherwise, and kept
(`--memory`). `--train` and `--sentences` reduce the data for a quick trial.
"""

from __future__ import annotations

from dual_iterations import figures, projective, solvers, zstar
from dual_models import run_studies
from dual_programs import ilp, random, table2

if __name__ == "__main__":
    run_studies(__doc__ or "", table2, ilp, random, figures, zstar, projective, solvers)
