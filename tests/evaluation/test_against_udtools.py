"""UAS and LAS of CoNLL-U are exactly those of the CoNLL-2018 scorer in udtools."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from udtools.udeval import UDError, load_conllu
from udtools.udeval import evaluate as judge

import arbora
from arbora.errors import AlignmentError, DataError
from arbora.evaluation import compare, evaluate
from tests.evaluation.sentences import perturbed

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


def judged(gold, system):
    """The result of the official scorer."""
    loaded = []
    for path in (gold, system):
        with path.open(encoding="utf-8", newline="") as file:
            loaded.append(load_conllu(file, str(path), {}))
    return judge(*loaded)


def assert_agrees(gold, folder, rng):
    system = folder / "system.conllu"
    arbora.write_conllu(system, perturbed(arbora.read_conllu(gold), rng))
    theirs = judged(gold, system)
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


def figures_of_both(tmp_path, gold, system):
    """UAS and LAS of the official scorer and of Arbora, None if it refuses the files."""
    paths = tmp_path / "gold.conllu", tmp_path / "system.conllu"
    for path, content in zip(paths, (gold, system), strict=True):
        path.write_text(content, encoding="utf-8")
    try:
        found = judged(*paths)
        theirs = tuple(100 * found[name].f1 for name in ("UAS", "LAS"))
    except (UDError, ValueError):  # of "_" as the head of a word in a multiword token
        theirs = None
    try:
        scores = evaluate(*paths)
        ours = scores.uas, scores.las
    except (AlignmentError, DataError):
        scores, ours = None, None
    return theirs, ours, scores


SPACED = OURS.replace("\t10\t10\t", "\t10 000\t10\t")
SAME_WORDS = {
    "a no-break space": (SPACED, SPACED.replace("10 000", "10\u00a0000")),
    "a narrow space": (SPACED.replace("10 000", "10\u202f000"), SPACED),
    "no space": (SPACED, SPACED.replace("10 000", "10000")),
    "case in a multiword token": (OURS, OURS.replace("\tVamos\t", "\tvamos\t")),
    "case of all its words": (OURS.replace("\tnos\t", "\tNOS\t"), OURS),
}
OTHER_WORDS = {
    "case outside": (OURS, OURS.replace("\tahora\tahora", "\tAhora\tahora")),
    "another letter": (OURS, OURS.replace("\tdijo\t", "\tdijó\t")),
    "a hyphen": (SPACED, SPACED.replace("10 000", "10-000")),
}


@pytest.mark.parametrize("name", SAME_WORDS)
def test_words_that_are_the_same(name, tmp_path):
    theirs, ours, _ = figures_of_both(tmp_path, *SAME_WORDS[name])
    assert theirs == (100.0, 100.0) == ours


@pytest.mark.parametrize("name", OTHER_WORDS)
def test_words_that_are_not_the_same(name, tmp_path):
    theirs, ours, _ = figures_of_both(tmp_path, *OTHER_WORDS[name])
    assert theirs is None
    assert ours is None


CYCLE = OURS.replace("\t2\tnummod", "\t4\tnummod").replace("\t4\tcase", "\t1\tcase")
CYCLE = CYCLE.replace("\t2\tnmod", "\t3\tnmod")
NOT_TREES = {
    "a cycle": (CYCLE, (1, 0, 0), "1 with a cycle"),
    "several roots": (OURS.replace("\t4\tpunct", "\t0\troot"), (0, 1, 0), "1 with several roots"),
    "no root": (OURS.replace("\t0\troot\t_\tSp", "\t5\troot\t_\tSp"), (1, 0, 0), "with a cycle"),
    "no head": (OURS.replace("\t4\tcase", "\t_\tcase"), (0, 0, 1), "1 with missing heads"),
    "everything": (
        CYCLE.replace("\t4\tpunct", "\t0\tpunct").replace("\t1\texpl", "\t_\texpl"),
        (1, 1, 1), "1 with a cycle, 1 with several roots, 1 with missing heads",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_TREES)
def test_what_the_official_scorer_refuses_is_scored_and_said(name, tmp_path):
    system, counts, words = NOT_TREES[name]
    theirs, ours, scores = figures_of_both(tmp_path, OURS, system)
    assert theirs is None
    assert ours is not None
    faults = scores.system_faults
    assert (faults.cycles, faults.several_roots, faults.missing_heads) == counts
    (note,) = scores.notes
    assert words in note
    assert "the CoNLL-2018 scorer refuses" in note
    assert f"note: {note}" in str(scores)
    assert scores.to_dict()["notes"] == [note]
    assert tuple(scores.to_dict()["system_faults"].values()) == counts
    paths = tmp_path / "gold.conllu", tmp_path / "system.conllu"
    answer = compare(paths[0], paths[0], paths[1], permutations=10)
    assert answer.notes == (note.replace("the system has", "B has"),)
    assert note.replace("the system has", "B has") in str(answer)


def test_valid_trees_need_no_note(tmp_path):
    _, _, scores = figures_of_both(tmp_path, OURS, OURS)
    assert scores.notes == ()
    assert set(scores.system_faults.to_dict().values()) == {0}


def disturbed(text, rng):
    """A file with one change that a careless tool might make."""
    lines = text.splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if line[:1].isdigit() and "." not in line[:4]]
    fields = lines[place := int(rng.choice(places))].split("\t")
    kind = rng.integers(4)
    if kind == 0:
        fields[1] = fields[1].swapcase()
    elif kind == 1:
        fields[1] = f"{fields[1][:1]}\u00a0{fields[1][1:]}" if len(fields[1]) > 1 else fields[1]
    elif kind == 2 and "-" not in fields[0]:
        fields[6] = str(rng.choice([i for i in range(5) if str(i) != fields[0]]))
    elif kind == 3 and "-" not in fields[0]:
        fields[7] += ":other"
    lines[place] = "\t".join(fields)
    return "".join(lines)


def test_where_both_give_figures_they_are_the_same(tmp_path, rng):
    """Arbora refuses only files in which the official scorer also finds other words, or nearly."""
    both = 0
    for _ in range(400):
        system = disturbed(disturbed(SPACED, rng), rng)
        theirs, ours, scores = figures_of_both(tmp_path, SPACED, system)
        if theirs is None:
            assert ours is None or scores.notes or "1-2\tVámonos" not in system
        elif ours is not None:
            assert ours == pytest.approx(theirs, abs=1e-10)
            both += 1
        else:  # a space inside an analysed word: the official scorer counts the word as missing
            assert "\u00a0" in system
    assert both > 150


UNTAGGED = "1\tdet\t_\t_\t_\t_\t2\tsubj\t_\t_\n2\tsker\t_\t_\t_\t_\t0\tROOT\t_\t_\n\n"


def test_a_format_that_nothing_tells(tmp_path):
    gold = tmp_path / "gold.conll"
    gold.write_text(UNTAGGED, encoding="utf-8")
    (note,) = evaluate(gold, gold).notes
    assert f"{gold} could be CoNLL-U or CoNLL-X" in note
    assert compare(gold, gold, gold, permutations=10).notes == (note,)
    assert evaluate(gold, gold, format="conllx").notes == ()
    assert evaluate(gold, gold, "conllx").notes == ()
    for sign in ("# a comment\n" + UNTAGGED, UNTAGGED.replace("sker\t_\t_", "sker\t_\tVERB")):
        gold.write_text(sign, encoding="utf-8")
        assert evaluate(gold, gold).notes == ()


@pytest.mark.skipif(not FILES, reason="ARBORA_TREEBANKS names no folder of treebanks")
@pytest.mark.parametrize("gold", FILES, ids=lambda path: path.parent.name)
def test_treebank(gold, tmp_path, rng):
    scores = assert_agrees(gold, tmp_path, rng)
    assert 50 < scores.las < scores.uas < 95
