"""Bracketed trees of our own, and a slow reader of such trees that shares no code with Arbora's."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

# Heads by hand, from the table of Yamada & Matsumoto (2003).
BY_HAND = {
    "coordinated nouns: the right one": (
        "( (S (NP-SBJ (NP (NNS gulls)) (CC and) (NP (NNS terns))) (VP (VBP circle)) (. .)))",
        [3, 3, 4, 0, 4],
    ),
    "coordinated verbs: the left one": (
        "(S (NP-SBJ (PRP We)) (VP (VP (VBD rowed)) (CC and) (VP (VBD sang))))",
        [2, 0, 2, 2],
    ),
    "possessive": (
        "(NP (NP (DT the) (NN captain) (POS 's)) (JJ old) (NN boat))",
        [3, 3, 5, 5, 0],
    ),
    "prepositional phrase": (
        "( (S (NP-SBJ (PRP They)) (VP (VBD sailed) (PP-DIR (TO to) (NP (NNP Skagen)))) (. .)))",
        [2, 0, 2, 3, 2],
    ),
    "subordinate clause": (
        "(S (NP-SBJ (PRP She)) (VP (VBD said) (SBAR (IN that) (S (NP-SBJ (NN fog)) "
        "(VP (MD would) (VP (VB lift)))))))",
        [2, 0, 2, 5, 3, 5],
    ),
    "no complementizer": (
        "(S (NP-SBJ (PRP I)) (VP (VBP hope) (SBAR (-NONE- 0) (S (NP-SBJ (PRP it)) "
        "(VP (VBZ floats))))))",
        [2, 0, 4, 2],
    ),
    "relative clause with a trace": (
        "(NP (NP (DT the) (NN net)) (SBAR (WHNP-1 (WDT that)) (S (NP-SBJ (-NONE- *T*-1)) "
        "(VP (VBD tore)))))",
        [2, 0, 2, 3],
    ),
    "question": (
        "(SBARQ (WHNP-1 (WP What)) (SQ (VBZ does) (NP-SBJ (PRP he)) (VP (VB want) "
        "(NP (-NONE- *T*-1)))) (. ?))",
        [2, 0, 2, 2, 2],
    ),
    "number with a preposition": (
        "(NP (QP (RBR more) (IN than) (CD two) (CD hundred)) (NNS eels))",
        [2, 5, 2, 2, 0],
    ),
    "amount of money": (
        "(NP (QP ($ $) (CD 3) (CD million)) (-NONE- *U*))",
        [0, 1, 1],
    ),
    "auxiliaries and an infinitive": (
        "( (S (NP-SBJ-1 (PRP He)) (VP (MD may) (VP (VB have) (VP (VBN tried) "
        "(S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB swim))))))) (. .)))",
        [2, 0, 2, 3, 6, 4, 2],
    ),
    "inversion": (
        "(SINV (PP-DIR (IN Into) (NP (DT the) (NN bay))) (VP (VBD came)) "
        "(NP-SBJ (DT a) (NN seal)) (. .))",
        [4, 3, 1, 0, 6, 4, 4],
    ),
    "punctuation and brackets": (
        "(FRAG (: --) (NP (NN Storm)) (PRN (-LRB- -LRB-) (NP (NN force) (CD 10)) "
        "(-RRB- -RRB-)) (. .))",
        [2, 0, 4, 2, 4, 4, 2],
    ),
    "alternatives and indices": (
        "(VP (VB pull) (PRT|ADVP (RP up)) (NP=2 (DT the) (NN anchor)))",
        [0, 1, 4, 1],
    ),
    "adjectives": (
        "(ADJP (ADJP (RB very) (JJ cold)) (CC and) (ADJP (JJ wet)))",
        [2, 4, 4, 0],
    ),
    "only punctuation": ("(FRAG (: --) (. .))", [0, 1]),
    "unary chain": ("( (S (NP (NP (NX (NN Eel))))))", [0]),
    "label that the table lacks": ("(KNOT (, ,) (NN rope) (NN bight))", [2, 0, 2]),
}

# The table once more, typed apart: from the right or the left, classes by falling priority.
TABLE = {
    "NP": "right POS/NN/NNP/NNPS/NNS NX JJR CD JJ JJS RB QP NP",
    "ADJP": "right NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB",
    "ADVP": "left RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN",
    "CONJP": "left CC RB IN",
    "FRAG": "left",
    "INTJ": "right",
    "LST": "left LS :",
    "NAC": "right NN/NNS/NNP/NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW",
    "PP": "left IN TO VBG VBN RP FW",
    "PRN": "right",
    "PRT": "left RP",
    "QP": "right $ IN NNS NN JJ RB DT CD NCD QP JJR JJS",
    "RRC": "left VP NP ADVP ADJP PP",
    "S": "right TO IN VP S SBAR ADJP UCP NP",
    "SBAR": "right WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG",
    "SBARQ": "right SQ S SINV SBARQ FRAG",
    "SINV": "right VBZ VBD VBP VB MD VP S SINV ADJP NP",
    "SQ": "right VBZ VBD VBP VB MD VP SQ",
    "UCP": "left",
    "VP": "left VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP",
    "WHADJP": "right CC WRB JJ ADJP",
    "WHADVP": "left CC WRB",
    "WHNP": "right WDT WP WP$ WHADJP WHPP WHNP",
    "WHPP": "left IN TO FW",
    "NX": "right POS/NN/NNP/NNPS/NNS NX JJR CD JJ JJS RB QP NP",
    "X": "right",
}
PUNCTUATION = ["``", "''", ",", ".", ":", "-LRB-", "-RRB-", "(", ")"]


def nested(text):
    """A bracketed tree as nested pairs: (tag, word), or (label, list of pairs)."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()

    def read(at):
        label, at = ("", at) if tokens[at] == "(" else (tokens[at], at + 1)
        if tokens[at] != "(":
            return (label, tokens[at]), at + 2
        parts = []
        while tokens[at] == "(":
            part, at = read(at + 1)
            parts.append(part)
        return (label, parts), at + 1

    return read(1)[0]


def without_empty(tree):
    """The tree without empty elements; None if nothing is left of it."""
    label, inside = tree
    if isinstance(inside, str):
        return None if label == "-NONE-" else tree
    parts = [part for part in map(without_empty, inside) if part]
    return (label, parts) if parts else None


def plain(label):
    for mark in "-=|":
        if mark in label[1:] and not label.startswith("-"):
            label = label[: label.index(mark, 1)]
    return label


def head_part(label, parts):
    """The part with the lowest pair of rank in the table and distance from the side."""
    side, *classes = TABLE.get(plain(label), "left").split()
    ranks = {name: i for i, names in enumerate(classes) for name in names.split("/")}

    def cost(place):
        name = plain(parts[place][0])
        worst = len(classes) + (name in PUNCTUATION)
        return ranks.get(name, worst), place if side == "left" else -place

    return parts[min(range(len(parts)), key=cost)]


def slow_tree(text):
    """The forms, tags and heads of a bracketed tree; all empty if it has no words."""
    tree = without_empty(nested(text))
    forms, tags, ancestors = [], [], []

    def walk(tree, above):
        label, inside = tree
        if isinstance(inside, str):
            forms.append(inside)
            tags.append(label)
            ancestors.append([id(tree), *above])
            numbers[id(tree)] = len(forms)
            return
        for part in inside:
            walk(part, [tree, *above])

    def lexical(tree):
        while not isinstance(tree[1], str):
            tree = head_part(*tree)
        return numbers[id(tree)]

    numbers = {}
    if tree:
        walk(tree, [])
    heads = []
    for word, (_, *above) in enumerate(ancestors, start=1):
        others = (lexical(phrase) for phrase in above)
        heads.append(next((head for head in others if head != word), 0))
    return forms, tags, heads


CLASSES = {names for row in TABLE.values() for names in row.split()[1:]}
TAGS = sorted({name for names in CLASSES for name in names.split("/")} - set(TABLE))
TAGS += [",", ".", "``", "-LRB-"]
LABELS = [*TABLE, "KNOT", "NP-SBJ", "NP-SBJ-12", "S=3", "WHNP-1", "PRT|ADVP", "VP-TPC-2"]


WORDS = ["eel", "kelp", "'s", "3\\/4", "-RRB-", "#", "_", "Ærø", "*"]


def random_tree(random, size):
    """The text of a phrase at random, in some layout of white space."""
    gap = random.choice([" ", "\n  ", "\t", " \r\n "])
    parts = []
    for _ in range(random.randint(1, 5)):
        kind = random.random()
        if kind < 0.4 and size > 1:
            parts.append(random_tree(random, size // 2))
        elif kind < 0.9:
            parts.append(f"({random.choice(TAGS)}{gap}{random.choice(WORDS)})")
        else:
            parts.append(random.choice(["(-NONE- *T*-1)", "(-NONE- 0)"]))
    return f"({random.choice(LABELS)}{gap}{gap.join(parts)}{gap})"


def _trees(seed, size, count):
    random = Random(seed)  # drawing every label with hypothesis is slow
    trees = [random_tree(random, size) for _ in range(count)]
    return [f"( {tree})" if random.random() < 0.5 else tree for tree in trees]


def bracketed_trees():
    """Lists of trees at random."""
    return st.builds(_trees, st.integers(0, 2**40), st.integers(1, 16), st.integers(1, 4))
