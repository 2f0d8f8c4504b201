"""Vectors of pretrained encoders against `transformers` itself; windows; gradients; threads."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.errors import ModelError
from arbora.features import Encoder, FeatureSettings
from arbora.fitting.dense_rules import DenseAdam, Schedule
from arbora.neural import NeuralScorer, NeuralVocabulary, Sizes
from arbora.neural.context import TUNED, Context
from arbora.neural.windows import windows_of
from arbora.scoring import Batch
from tests.neural.encoders import KINDS, save_encoder, transformers
from tests.neural.small import NAMES, small_batch, small_block

WORDS = [["The", "dogs", "see", "the", "unseenword", "."], ["Go"], ["cats", "é", "\u200b", "big!"]]


@pytest.fixture(scope="module", params=KINDS)
def folder(request, tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture(scope="module")
def given(folder):
    from arbora.neural.encoder_folder import read_encoder

    return read_encoder(folder)


def context_of(given, layers=2, tuned=False):
    sizes = Sizes(4, 1, 3, 2, 3, 2, False, (), 0, given.dimensions, layers, tuned)
    return Context.of(given, sizes)


def vectors(given, sentences, layers=2):
    """The vectors of all words, computed together."""
    context, tasks, place = context_of(given, layers), [], 0
    for windows in context.encoder.windows_of_forms(sentences):
        tasks += [(one, place + np.arange(one.first, one.last)) for one in windows]
        place = int(tasks[-1][1][-1]) + 1
    return context.encoder.vectors(context._tensors, tasks, place).numpy()


def direct_vectors(folder, forms, layers):
    """The slow twin: one sentence, by the tokenizer and the model of `transformers`."""
    import torch

    cut = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"), add_prefix_space=True
    )
    if "roberta" in str(folder):
        cut.backend_tokenizer.pre_tokenizer.add_prefix_space = True
    read = cut(forms, is_split_into_words=True, return_tensors="pt")
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        states = model(
            read["input_ids"], attention_mask=read["attention_mask"], output_hidden_states=True
        ).hidden_states
    mean = torch.stack(states[-layers:]).mean(dim=0)[0].numpy()
    words = read.word_ids()
    rows = [[i for i, word in enumerate(words) if word == number] for number in range(len(forms))]
    return np.stack([mean[own].mean(axis=0) if own else np.zeros(8) for own in rows])


@pytest.mark.parametrize("layers", [1, 2, 3, 9])
def test_vectors_are_those_of_transformers(folder, given, layers):
    found = vectors(given, WORDS, layers)
    expected = [direct_vectors(folder, forms, min(layers, 3)) for forms in WORDS]
    np.testing.assert_allclose(found, np.concatenate(expected), atol=2e-6)
    empty = np.abs(found).max(axis=1) == 0
    if "roberta" not in str(folder):  # bytes are always pieces
        assert np.flatnonzero(empty).tolist() == [9]  # a blank of no width


def test_long_sentences_are_read_in_windows(folder, given):
    """Each word has its vector in the window that answers for it, read as a sentence."""
    forms = (WORDS[0] + WORDS[2]) * 4
    context = context_of(given)
    (windows,) = context.encoder.windows_of_forms([forms])
    assert len(windows) > 2
    found = vectors(given, [forms])
    for one in windows:
        inside = forms[one.begin : one.begin + len(one.pieces)]
        own = direct_vectors(folder, inside, 2)[one.first - one.begin : one.last - one.begin]
        np.testing.assert_allclose(found[one.first : one.last], own, atol=2e-6)


def test_a_sentence_that_fits_is_one_window():
    for limit in range(1, 12):
        pieces = [(1,) * n for n in (2, 0, 1, 3)]
        pieces = [one[:limit] for one in pieces]
        windows = windows_of(pieces, limit)
        fits = sum(map(len, pieces)) <= limit
        assert (len(windows) == 1) == fits


def test_windows_cover_every_word_once_and_keep_neighbours():
    rng = np.random.default_rng(0)
    for _ in range(500):
        limit = int(rng.integers(1, 15))
        pieces = [(7,) * int(n) for n in rng.integers(0, limit + 1, size=rng.integers(1, 40))]
        windows = windows_of(pieces, limit)
        owned = [word for one in windows for word in range(one.first, one.last)]
        assert owned == list(range(len(pieces)))
        for one in windows:
            assert one.length <= limit
            assert one.pieces == tuple(pieces[one.begin : one.begin + len(one.pieces)])
            assert one.begin <= one.first < one.last <= one.begin + len(one.pieces)
            spans = list(one.own())
            assert [end - start for start, end in spans] == [
                len(pieces[word]) for word in range(one.first, one.last)
            ]
    # Words of one piece: a fourth of a window on either side, except at the ends.
    windows = windows_of([(1,)] * 100, 16)
    for one in windows:
        assert one.first - one.begin >= 4 or one.begin == 0
        assert one.begin + 16 - one.last >= 4 or one.last == 100


def scorer_of(block, given, *, tuned, dtype=np.float32, dropout=0.0):
    vocabulary = NeuralVocabulary.of_block(block, FeatureSettings.for_training("rich", block))
    sizes = Sizes(4, 1, 3, 2, 3, len(NAMES), False, (), 0, given.dimensions, 2, tuned)
    scorer = NeuralScorer.untrained(
        sizes, vocabulary, dropout=dropout, seed=1, threads=1, encoder=given
    )
    rng = np.random.default_rng(5)
    changed = {
        name: values + (0.0 if name.startswith(TUNED) else rng.normal(0.0, 0.3, values.shape))
        for name, values in scorer.parameters().items()
    }
    return scorer.with_parameters({name: v.astype(dtype) for name, v in changed.items()})


@pytest.mark.parametrize("tuned", [False, True])
def test_numpy_and_torch_give_the_same_scores(given, tuned):
    block = small_block()
    scorer = scorer_of(block, given, tuned=tuned)
    plain, _ = scorer.scores(small_batch(block, annotated=False))
    graph, _ = scorer.scores(small_batch(block))
    np.testing.assert_allclose(plain.arcs, graph.arcs, rtol=1e-4, atol=1e-5)
    without = scorer.with_parameters(
        scorer.parameters() | {"context.map": 0 * scorer.parameters()["context.map"]}
    )
    other, _ = without.scores(small_batch(block, annotated=False))
    assert np.abs(other.arcs - plain.arcs).max() > 0.01


def test_the_gradient_reaches_every_array_of_the_encoder(given):
    """By central differences in double precision, in a random direction of each array."""
    block = small_block()
    scorer = scorer_of(block, given, tuned=True, dtype=np.float64)
    batch, plain = small_batch(block), small_batch(block, annotated=False)
    scores, pullback = scorer.scores(batch)
    rng = np.random.default_rng(3)
    d_arcs = rng.normal(size=len(scores.arcs))
    gradient = pullback(scores.with_values(d_arcs, {}))
    parameters = scorer.parameters()

    def total(changed):
        from arbora.scoring import softmax

        own = scorer.with_parameters(parameters | changed)
        value = float(own.scores(plain)[0].arcs @ d_arcs)
        shares = softmax(own.label_scores(batch.encoded, batch.sentences, batch.heads))
        return value - float(np.log(shares[np.arange(len(batch.labels)), batch.labels]).sum())

    names = [name for name in parameters if name.startswith((TUNED, "context"))]
    assert len(names) == len(given.arrays) + 1
    for name in names:
        direction, step = rng.normal(size=parameters[name].shape), 1e-6
        ends = [total({name: parameters[name] + sign * step * direction}) for sign in (1.0, -1.0)]
        slope = (ends[0] - ends[1]) / (2 * step)
        own = float((gradient[name] * direction).sum())
        assert own == pytest.approx(slope, rel=1e-5, abs=1e-6)
    moved = [name for name in names if np.abs(gradient[name]).max() > 1e-6]
    assert len(moved) > 0.8 * len(names)  # keys' biases have no effect in a softmax


@pytest.mark.parametrize("tuned", [False, True])
def test_gradients_are_the_same_on_any_number_of_threads(given, tuned):
    block = small_block()
    scorer = scorer_of(block, given, tuned=tuned, dropout=0.3)
    runs = []
    for threads in (1, 3):
        batch = small_batch(block, noise=7)
        scores, pullback = scorer.on_threads(threads).scores(batch)
        runs.append((scores.arcs, pullback(scores.with_values(np.ones(len(scores.arcs))))))
    assert np.array_equal(runs[0][0], runs[1][0])
    assert all(np.array_equal(values, runs[1][1][name]) for name, values in runs[0][1].items())


def test_a_frozen_encoder_reads_a_treebank_once(given, monkeypatch):
    block = small_block()
    scorer = scorer_of(block, given, tuned=False)
    assert not any(name.startswith(TUNED) for name in scorer.parameters())
    calls = []
    encoder = type(scorer.reader.encoder)
    monkeypatch.setattr(
        encoder, "_batch", lambda *given, _own=encoder._batch: calls.append(1) or _own(*given)
    )
    batch = small_batch(block)
    first, _ = scorer.scores(batch)
    again, _ = scorer.scores(batch)
    assert len(calls) == 1
    assert np.array_equal(first.arcs, again.arcs)
    scorer.remembers = False
    alone, _ = scorer.scores(small_batch(block))
    np.testing.assert_allclose(alone.arcs, first.arcs, rtol=1e-4, atol=1e-5)


def test_changed_parameters_of_the_encoder_are_used(given):
    """Also where the update rule changes them in place, while dev is scored in between."""
    block = small_block()
    scorer = scorer_of(block, given, tuned=True)
    rule = DenseAdam(scorer, Schedule(0.1, 10, 0.0), 3, 5.0, {f"{TUNED}{next(iter(given.arrays))}":
                                                            1e-3})  # fmt: skip
    plain = small_batch(block, annotated=False)
    before = scorer.scores(plain)[0].arcs
    was = rule.current()
    scores, pullback = scorer.scores(small_batch(block))
    rule.apply(pullback(scores.with_values(np.ones(len(scores.arcs)))), 3)
    assert np.abs(scorer.scores(plain)[0].arcs - before).max() > 1e-3
    steps = {name: np.abs(rule.current()[name] - was[name]).max() for name in was}
    slow, *others = (TUNED + name for name in given.arrays)
    assert steps[slow] == pytest.approx(1e-4, rel=0.1)  # the first step of Adam is the rate
    assert max(steps[name] for name in others) == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize("tuned", [False, True])
def test_a_scorer_reads_what_it_wrote(given, tuned):
    block = small_block()
    settings = FeatureSettings.for_training("rich", block)
    scorer = scorer_of(block, given, tuned=tuned)
    description, arrays = scorer.state()
    arrays = {name: np.frombuffer(v.tobytes(), v.dtype).reshape(v.shape)
              for name, v in arrays.items()}  # fmt: skip  # read-only, as from a file
    again = NeuralScorer.from_state(description, arrays, settings)
    batch = small_batch(block, annotated=False)
    np.testing.assert_allclose(
        again.scores(batch)[0].arcs, scorer.scores(small_batch(block, annotated=False))[0].arcs,
        rtol=1e-4, atol=1e-5,
    )  # fmt: skip
    name = TUNED + next(iter(given.arrays))
    cut = NeuralScorer.from_state(description, arrays | {name: arrays[name][:-1]}, settings)
    with pytest.raises(ModelError, match=r"'[\w.]+' does not fit its configuration"):
        cut.scores(batch)
    with pytest.raises(ModelError, match="the encoder's arrays are damaged"):
        NeuralScorer.from_state(
            description, arrays | {name: arrays[name].astype(np.float64)}, settings
        )
    sizes = description["sizes"] | {"context_layers": 0}
    with pytest.raises(ModelError, match="sizes are not those of a network"):
        NeuralScorer.from_state(description | {"sizes": sizes}, arrays, settings)
    damaged = arrays | {"encoder_config": np.frombuffer(b"{", np.uint8)}
    with pytest.raises(ModelError, match="configuration is damaged"):
        NeuralScorer.from_state(description, damaged, settings)
    own_code = arrays["encoder_config"].tobytes().replace(b"{", b'{"auto_map": {},', 1)
    damaged = arrays | {"encoder_config": np.frombuffer(own_code, np.uint8)}
    with pytest.raises(ModelError, match="needs code of its own"):
        NeuralScorer.from_state(description, damaged, settings)


def test_words_are_read_as_in_the_block(given):
    block = small_block()
    context = context_of(given)
    encoded = Encoder(FeatureSettings.for_training("rich", block)).encode(block)
    windows = context.encoder.windows(encoded)
    assert context.encoder.windows(encoded) is windows
    assert windows == context.encoder.windows_of_forms(
        [["Dogs", "see", "cats"], ["Go"], ["Cats", "see", "the", "big-dogs", "!"]]
    )
    assert len(Batch(encoded, np.array([0]))) == 1
