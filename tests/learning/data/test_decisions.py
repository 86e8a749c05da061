"""Calls with one row a decision, as Hosei's networks see them."""

from __future__ import annotations

import numpy as np
import pytest

from learning.data.choice import choose
from learning.data.corpus import Corpus
from learning.data.loader import Loader
from learning.data.positions import by_decision, positions_of
from policies.features.table import HOSEI
from policies.flow.slots import Slot


@pytest.mark.parametrize("slot", [Slot.CHI, Slot.PON, Slot.KAN])
def test_each_decision_has_one_row_that_says_what_was_taken(corpus: Corpus, slot: Slot) -> None:
    found = positions_of(corpus, choose(corpus, corpus.select()[:4]), slot)
    joined = by_decision(found, slot)
    assert len(joined.labels) == len(joined.calls) == len(found.players)
    for decision, label in enumerate(joined.labels.tolist()):
        rows = np.flatnonzero(found.owners == decision)
        taken = [found.calls[row] for row in rows if found.labels[row]]
        assert joined.calls[decision].tolist() == found.calls[rows[0]].tolist()
        if not taken or slot is not Slot.CHI:
            assert label == len(taken)
            continue
        called, *own = (int(tile) >> 2 for tile in taken[0][1:4])
        assert sorted([called, *own])[label - 1] == called
    assert set(joined.labels.tolist()) == ({0, 1, 2, 3} if slot is Slot.CHI else {0, 1})


def test_the_loader_delivers_them(corpus: Corpus) -> None:
    choice = choose(corpus, corpus.select()[:4])
    found = positions_of(corpus, choice, Slot.CHI)
    batches = list(Loader(corpus, choice, Slot.CHI, features=HOSEI, batch_size=64, workers=1).epoch())
    labels = np.concatenate([batch.labels.numpy() for batch in batches])
    decisions = np.concatenate([batch.decision.numpy() for batch in batches])
    assert sorted(decisions.tolist()) == list(range(len(found.players)))
    assert (labels > 0).sum() == found.labels.sum()
    assert all(batch.planes.shape[1] == 220 and batch.legal is None for batch in batches)
