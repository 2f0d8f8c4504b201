"""Dual decomposition measured as Koo, Rush, Collins, Jaakkola & Sontag (2010) did, on what is here.

    python benchmarks/dual.py --treebanks DIR               # everything
    python benchmarks/dual.py --treebanks DIR table2 ilp    # some parts

table2      linear programs, the integer program and dual decomposition side by side (table 2)
ilp         the same optimum as the integer program's, and how much sooner
random      random instances; weights learnt with the automata, with decoded trees, not at all
figures     automata run again by iteration, and what a lower limit gives (figures 3 and 4)
zstar       the automata's walks before anything makes them agree (section 7.6)
projective  decoding with and without crossing arcs (table 3)
solvers     AD3 and branching beside the subgradient

Parsers are trained with default settings where nothing else is said, on trees without labels, and
kept (`--memory`). `--train` and `--sentences` make everything small, to try it out.
"""

from __future__ import annotations

from dual_course import figures, projective, solvers, zstar
from dual_models import run_studies
from dual_programs import ilp, random, table2

if __name__ == "__main__":
    run_studies(__doc__ or "", table2, ilp, random, figures, zstar, projective, solvers)
