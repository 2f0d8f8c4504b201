"""UAS and LAS of CoNLL-U are exactly those of the CoNLL-2018 scorer, as udtools has it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from udtools.udeval import evaluate as judge
from udtools.udeval import load_conllu_file

import arbora
from arbora.evaluation import evaluate
from tests.evaluation.sentences import perturbed

# udtools leaves its files to the garbage collector, which warns of it.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

TREEBANKS = Path(os.environ.get("ARBORA_TREEBANKS", "no treebanks"))
FILES = sorted(TREEBANKS.glob("ud_*/test.conllu"))

OURS = """\
# text = Vámonos ahora, dijo.
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\t_\t_\t4\tccomp:reported\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\texpl:pv\t_\t_
3\tahora\tahora\tADV\t_\t_\t1\tadvmod\t_\tSpaceAfter=No
3.1\tél\tél\tPRON\t_\t_\t_\t_\t4:nsubj\t_
4\tdijo\tdecir\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\t_

1\tNo\tno\tINTJ\t_\t_\t0\troot\t_\t_

1\t10\t10\tNUM\t_\t_\t2\tnummod\t_\t_
2\t%\t%\tSYM\t_\t_\t0\troot\t_\t_
3\tde\tde\tADP\t_\t_\t4\tcase\t_\t_
4\ttodo\ttodo\tPRON\t_\t_\t2\tnmod\t_\t_

"""


def assert_agrees(gold, folder, rng):
    system = folder / "system.conllu"
    arbora.write_conllu(system, perturbed(arbora.read_conllu(gold), rng))
    theirs = judge(load_conllu_file(str(gold)), load_conllu_file(str(system)))
    ours = evaluate(gold, system)
    assert ours.rule == "conll2018"
    assert ours.tokens == theirs["Words"].gold_total
    assert ours.uas == pytest.approx(100 * theirs["UAS"].f1, abs=1e-10)
    assert ours.las == pytest.approx(100 * theirs["LAS"].f1, abs=1e-10)
    return ours


def test_our_own_sentences(tmp_path, rng):
    gold = tmp_path / "gold.conllu"
    gold.write_text(OURS, encoding="utf-8")
    for _ in range(20):
        assert_agrees(gold, tmp_path, rng)


@pytest.mark.skipif(not FILES, reason="ARBORA_TREEBANKS names no folder of treebanks")
@pytest.mark.parametrize("gold", FILES, ids=lambda path: path.parent.name)
def test_treebank(gold, tmp_path, rng):
    scores = assert_agrees(gold, tmp_path, rng)
    assert 50 < scores.las < scores.uas < 95
