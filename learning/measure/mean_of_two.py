"""The mean of the log-odds of players@LuckyJ and network."""
import numpy as np
from policies.flow.slots import Slot
from policies.nets.compute import choose_compute
from policies.play.named import load_named


class Mean:
    source = "model"

    def __init__(self):
        compute = choose_compute("cpu", "auto")
        self.both = [load_named(each, compute=compute).policy for each in ("players@LuckyJ", "network")]

    def answer(self, slot, questions):
        one, other = (policy.answer(slot, questions) for policy in self.both)
        found = []
        for a, b in zip(one, other):
            a, b = (np.clip(np.array(x, float), 1e-7, 1 - 1e-7) for x in (a, b))
            if slot is Slot.DISCARD:
                p = np.sqrt(a * b)
                found.append((p / p.sum()).tolist())
            else:
                s = (np.log(a / (1 - a)) + np.log(b / (1 - b))) / 2
                found.append((1 / (1 + np.exp(-s))).tolist())
        return found
