"""Checkpoints: of a pruner, and when they are removed."""

from __future__ import annotations

import pytest

from arbora import load
from arbora.fitting import pruner
from arbora.models.model_file import to_bytes
from tests.parsers.test_fitting import Stop, Watcher, fit


class StopInside(Watcher):
    """Interrupts training after a given number of sentences."""

    def __init__(self, sentences):
        super().__init__()
        self.left = sentences

    def tick(self, count):
        self.left -= count
        if self.left < 0:
            raise Stop


@pytest.mark.parametrize("order", ["sibling", "grandsibling"])
@pytest.mark.parametrize("dev", [None, ()], ids=["dev", "refitted"])
def test_resuming_while_the_pruner_is_learnt(order, dev, tmp_path):
    options = {"order": order, "passes": 3, "patience": 9, "dev": dev}
    whole = fit(**options)
    model, checkpoint = tmp_path / "model", tmp_path / "model.checkpoint"
    count = 40 if dev is None else 36
    with pytest.raises(Stop):
        fit(**options, checkpoint=model, observer=StopInside(count - 1))
    assert not checkpoint.exists()  # not one pass was complete
    resume = {}
    for complete in (1, 3, 4):  # the last in the first pass of the model itself
        stop = StopInside(count * complete + count // 2)  # passes made before are told as well
        with pytest.raises(Stop):
            fit(**options, **resume, checkpoint=model, observer=stop)
        resume = {"resume": True}
        assert checkpoint.exists()
    watcher = Watcher()
    resumed = fit(**options, **resume, checkpoint=model, observer=watcher)
    assert to_bytes(resumed.model) == to_bytes(whole.model)
    assert [record.number for record, _ in watcher.records[:3]] == [1, 2, 3]


def test_a_pruner_is_not_learnt_twice(tmp_path, monkeypatch):
    """After the first pass of the model itself, its checkpoint contains the complete pruner."""
    options = {"order": "sibling", "passes": 3, "patience": 9}
    whole = fit(**options)
    with pytest.raises(Stop):
        fit(**options, checkpoint=tmp_path / "m", observer=Watcher(stop_after=1))
    monkeypatch.setattr(pruner, "make_trainer", None)
    resumed = fit(**options, checkpoint=tmp_path / "m", resume=True)
    assert to_bytes(resumed.model) == to_bytes(whole.model)


def test_saving_removes_its_own_checkpoint_only(tmp_path):
    model, checkpoint = tmp_path / "model", tmp_path / "model.checkpoint"
    with pytest.raises(Stop):
        fit(checkpoint=model, observer=Watcher(stop_after=1))
    fit().save(model)  # another parser, to the same file
    load(model).save(model)
    assert checkpoint.exists()
    resumed = fit(checkpoint=model, resume=True)
    resumed.save(tmp_path / "other")
    assert checkpoint.exists()
    resumed.save(model)
    assert not checkpoint.exists()
