"""Networks keep to one thread, in whatever thread they are asked."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kit.workers.pool import ONE_THREAD

PROGRAM = """
import os
import time
from threading import Event, Thread

import numpy as np

from game.events import StartRound
from policies.checkpoint.store import load, load_predictor
from policies.nets.compute import Compute
from policies.nets.device import DeviceNetwork
from policies.hands.direct import DirectModel
from policies.play.included import SHIPPED
from policies.play.inference import load_policy
from policies.flow.known_hand import known_questions
from policies.reward.encoding import round_starts, together
from policies.reward.predictor import predict

def threads():
    return len(os.listdir("/proc/self/task"))

question = known_questions()[-1]
policy, direct, predictor = load_policy(SHIPPED), DirectModel.load(), load_predictor(SHIPPED)
discards = load(SHIPPED, "discard").weights
layers = DeviceNetwork(discards, (), Compute())
planes = np.zeros((4, discards.architecture.planes, 34), np.uint8)
game = together([(round_starts([StartRound(0, 0, 0, 0, (25000,) * 4, 0, ((),) * 4)]), "hanchan")])
found, over = {}, Event()

def ask(name, question):
    before = threads()
    question()
    found[name] = threads() - before
    over.wait()  # a thread that ends would be counted too

for name, asked in {
    "policy": lambda: policy.answer(question.slot, [question]),
    "layers": lambda: layers(planes),
    "hands": lambda: direct.read(question.record.reshape(1), [question.player]),
    "reward": lambda: predict(predictor, game),
}.items():
    Thread(target=ask, args=(name, asked)).start()
    while name not in found:
        time.sleep(0.01)
over.set()
print(found)
"""


@pytest.mark.skipif((os.cpu_count() or 1) == 1, reason="one core: there is nothing to share work with")
@pytest.mark.slow
def test_a_thread_that_asks_a_network_starts_no_other() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip() == str(dict.fromkeys(("policy", "layers", "hands", "reward"), 0))
