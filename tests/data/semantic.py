"""Sentences of our own in CoNLL-2008 and CoNLL-2009, and texts at random in every format."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.data.zoo import row, text


def row09(word, form, head="_", label="_", *arguments, pred="_", fill=None, **fields):
    """A line of CoNLL-2009; predicted columns are those of gold unless given."""
    c = {"lemma": "_", "pos": "_", "feat": "_", "phead": "_", "pdeprel": "_"} | fields
    pairs = [x for name in ("lemma", "pos", "feat") for x in (c[name], c.get(f"p{name}", c[name]))]
    filled = fill or ("_" if pred == "_" else "Y")
    return "\t".join(
        [str(word), form, *pairs, str(head), c["phead"], label, c["pdeprel"], filled, pred,
         *arguments]
    )  # fmt: skip


def row08(word, form, head="_", label="_", *arguments, pred="_", token=None, **fields):
    """A line of CoNLL-2008; `token` are FORM, LEMMA, GPOS and PPOS if they are not the word's."""
    c = {"lemma": "_", "pos": "_"} | fields
    tokens = token or [form, c["lemma"], c["pos"], c["pos"]]
    return "\t".join(
        [str(word), *tokens, form, c["lemma"], c["pos"], str(head), label, pred, *arguments]
    )


NOTHING = ["_"] * 4

# The crew mends salt-worn nets: two predicates, one token that is split.
MEND09 = [
    row09(1, "The", 2, "NMOD", "_", "_", lemma="the", pos="DT"),
    row09(2, "crew", 3, "SBJ", "A0", "_", lemma="crew", pos="NN", feat="Num=Sg", phead="3"),
    row09(3, "mends", 0, "ROOT", "_", "_", lemma="mend", pos="VBZ", pred="mend.01", phead="0",
          plemma="mends", pdeprel="ROOT"),
    row09(4, "nets", 3, "OBJ", "A1", "_", lemma="net", pos="NNS", ppos="VBZ", pred="net.01",
          feat="_", pfeat="Num=Pl|Case=Acc"),
]  # fmt: skip
BLIND09 = [
    row09(1, "Kelp", "_", "_", plemma="kelp", ppos="NN", pfeat="Num=Sg"),
    row09(2, "floats", "_", "_", plemma="float", ppos="VBZ", fill="Y"),
]
SALT08 = [
    row08(1, "salt", 3, "HMOD", "A1", lemma="salt", pos="NN",
          token=["salt-worn", "salt-worn", "JJ", "JJ"]),
    row08(2, "-", 3, "P", "_", lemma="-", pos="HYPH", token=NOTHING),
    row08(3, "worn", 4, "NMOD", "_", lemma="wear", pos="VBN", pred="wear.01", token=NOTHING),
    row08(4, "nets", 5, "SBJ", "_", lemma="net", pos="NNS", token=["nets", "net", "NNS", "VBZ"]),
    row08(5, "drift", 0, "ROOT", "_", lemma="drift", pos="VBP"),
]  # fmt: skip
BLIND08 = [row08(1, "Kelp", lemma="kelp", pos="NN", token=["Kelp", "kelp", "_", "NN"])]

FILES_09 = {
    "plain": text(*MEND09) + text(*BLIND09),
    "blind": text(*BLIND09),
    "CRLF": text(*MEND09, end="\r\n") + text(*MEND09, end="\r\n"),
    "no final newline": text(*MEND09) + text(*MEND09).rstrip(b"\n"),
    "byte order mark": b"\xef\xbb\xbf" + text(*MEND09),
    "blank lines": b"\n\n" + text(*MEND09) + b"\n\n" + text(*BLIND09) + b"\n",
    "own comments": text("# arbora.log_prob = -1", *MEND09),
    "trailing spaces": text(*[line + " " for line in MEND09]),
}
FILES_08 = {
    "plain": text(*SALT08) + text(*BLIND08),
    "CRLF": text(*SALT08, end="\r\n"),
    "no final newline": text(*SALT08).rstrip(b"\n"),
    "a split token first": text(*[line.replace("salt-worn", "_") for line in SALT08]),
}

WORDS = st.text(
    st.characters(
        codec="utf-8", exclude_characters="\t\r\n \ufeff", exclude_categories=["Cs", "Cc"]
    ),
    min_size=1, max_size=4,
)  # fmt: skip
FIELDS = st.one_of(st.just("_"), st.sampled_from(["a", "b|c", "x=y", "\\p", "\\", "Y", "1"]), WORDS)


@st.composite
def heads(draw, n):
    numbers = [draw(st.sampled_from(["_", *map(str, range(n + 1))])) for _ in range(n)]
    return ["_" if head == str(i + 1) else head for i, head in enumerate(numbers)]


@st.composite
def sentence(draw, name):
    """The lines of a sentence in a format."""
    n = draw(st.integers(1, 4))
    above = draw(heads(n))
    k = draw(st.integers(0, 3))
    if name == "conll2009":
        columns = [[draw(FIELDS) for _ in range(13 + k)] for _ in range(n)]
        for fields, head in zip(columns, above, strict=True):
            fields[7] = head
    elif name == "conll2008":
        columns = [[draw(FIELDS) for _ in range(10 + k)] for _ in range(n)]
        for fields, head in zip(columns, above, strict=True):
            fields[7] = head
            if draw(st.booleans()):
                fields[0:4] = NOTHING
    else:
        columns = [[draw(FIELDS) for _ in range(9)] for _ in range(n)]
        for fields, head in zip(columns, above, strict=True):
            fields[5] = head
            if name == "conllu":
                items = st.lists(st.sampled_from(ITEMS), max_size=3)
                fields[8] = draw(st.one_of(FIELDS, items.map("|".join))) or "_"
    lines = ["\t".join([str(i), *fields]) for i, fields in enumerate(columns, start=1)]
    return draw(with_other_lines(lines)) if name == "conllu" else lines


ITEMS = [
    "Pred=run.01", "Arg1=A0", "Arg2=A1", "PLemma=x", "GoldLemma=_", "SpaceAfter=No", "ProjHead=1",
    "TokenForm=ab", "GPos=N", "ArgColumns=2", "Arg12=_", "PHead=0", "Pred=", "FillPred=Y",
]  # fmt: skip


@st.composite
def with_other_lines(draw, lines):
    n = len(lines)
    kind = draw(st.integers(0, 3))
    if kind == 1:
        lines = ["# text = x", *lines]
    elif kind == 2 and n > 1:
        first = draw(st.integers(1, n - 1))
        end = draw(st.integers(first + 1, n))
        other = row(f"{first}-{end}", draw(WORDS), misc=draw(st.sampled_from(["_", *ITEMS])))
        lines = [*lines[: first - 1], other, *lines[first - 1 :]]
    elif kind == 3:
        lines = [*lines, row(f"{n}.1", "gone", deps="1:x")]
    return lines


@st.composite
def treebanks(draw, name):
    """A whole file: sentences with line ends and blank lines of all kinds."""
    pieces = [draw(st.sampled_from(["", "\n", "\ufeff"]))]
    for lines in draw(st.lists(sentence(name), min_size=1, max_size=3)):
        end = draw(st.sampled_from(["\n", "\r\n", " \n"]))
        pieces += [line + end for line in lines]
        pieces.append(draw(st.sampled_from(["\n", "\r\n", "\n\n"])))
    if draw(st.booleans()):
        pieces[-1] = ""
        pieces[-2] = pieces[-2].rstrip("\r\n")
    return "".join(pieces).encode()
