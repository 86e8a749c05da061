from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.config.settings import AdaptationSection, Config, DecisionSection, load_config
from bot.startup.models import PolicyLoader, folder_of, load, policy_text, thinking_of, try_out
from kit.errors import ConfigError
from policies.checkpoint import store
from policies.features.table import LITE
from policies.flow.known_hand import known_questions
from policies.flow.slots import Slot
from policies.heuristic.player import HeuristicPolicy
from policies.play.included import PHOENIX
from policies.play.inference import Model, NetworkPolicy
from tests.cli import run_cli
from tests.policies.models import a_model, a_network, save_models, weights_of

pytestmark = pytest.mark.usefixtures("restore_logs")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SUZAKU_DECISION__CHECKPOINTS", "models")
    return save_models(tmp_path / "models")


def weights(folder: Path, model: str) -> Path:
    (path,) = folder.glob(f"{model}-*.safetensors")
    return path


def cut(folder: Path) -> str:
    path = weights(folder, "riichi")
    path.write_bytes(path.read_bytes()[:5000])
    return f"{path.name}: size"


def pickled(folder: Path) -> str:
    path = weights(folder, "chi")
    size = path.stat().st_size
    path.write_bytes(pickle.dumps({"stem.weight": 0}).ljust(size, b"\0"))
    return f"{path.name}: content"


def another_model(folder: Path) -> str:
    (folder / "pon.json").write_bytes((folder / "chi.json").read_bytes())
    return "pon.json: model"


def gone(folder: Path) -> str:
    (folder / "kan.json").unlink()
    return "kan.json: file"


@pytest.mark.parametrize("command", ["play", "check"])
@pytest.mark.parametrize("spoil", [cut, pickled, another_model, gone])
def test_fault_16_and_fault_17_a_bad_checkpoint_exits_2_with_file_and_field_before_anything_connects(
    command: str, spoil: Callable[[Path], str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*_: object) -> None:
        pytest.fail("something was opened")

    monkeypatch.setattr("asyncio.run", connect)
    named = spoil(folder)
    result = run_cli(command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"decision.checkpoints: models/{named}" in result.stderr
    assert "decision.policy: heuristic" in result.stderr


def test_fault_16_the_rules_play_without_looking_at_a_bad_checkpoint(folder: Path) -> None:
    gone(folder)
    assert isinstance(load(DecisionSection(policy="heuristic", checkpoints="models")), HeuristicPolicy)


def test_check_names_each_model(folder: Path) -> None:
    result = run_cli("check")
    assert result.exit_code == 0
    for slot in Slot:
        (line,) = [line for line in result.stdout.splitlines() if line.startswith(f"model {slot} ")]
        assert "8×2 on lite-" in line
        assert "accuracy 50.00%" in line
        assert f"sha256 {weights(folder, slot).stem.rpartition('-')[2]}" in line
    assert "the models in models, averaged over 12 permutations: one decision (discard" in result.stdout
    assert ", model) in" in result.stdout


def test_play_uses_the_networks(folder: Path) -> None:
    args = ["play", "--type", "tonpuu", "--seed", "7", "--out", "r", "--log-format", "json"]
    result = run_cli(*args)
    assert result.exit_code == 0
    assert '"source": "model"' in result.stderr
    assert '"source": "fallback"' not in result.stderr


def test_included_models_are_chosen_by_name() -> None:
    config = load_config(None, {}, {"decision.checkpoints": "phoenix"})
    assert folder_of(config.decision) == PHOENIX
    policy = load(config.decision)
    assert isinstance(policy, NetworkPolicy)
    assert policy.cards[Slot.DISCARD] == store.load(PHOENIX, Slot.DISCARD).card
    asked = load_config(None, {}, {"decision.checkpoints": "players@7-dan"})
    policy = load(asked.decision)
    assert isinstance(policy, NetworkPolicy)
    assert policy.cards[Slot.DISCARD].data.players.endswith("asked as 7-dan")
    assert folder_of(DecisionSection()) is None
    assert folder_of(DecisionSection(checkpoints="./phoenix")) == Path("phoenix").absolute()


def test_the_policy_tried_at_the_start_decides_first_and_later_ones_are_new(folder: Path) -> None:
    loader = PolicyLoader(DecisionSection(checkpoints=str(folder)))
    tried = loader.policy
    assert loader() is tried
    assert loader() is not tried
    gone(folder)
    with pytest.raises(ConfigError, match=r"kan\.json"):
        loader()


def test_a_model_without_numbers_is_refused_before_it_plays() -> None:
    models = {slot: a_model(slot) for slot in (Slot.DISCARD, Slot.RIICHI)}
    broken = a_network()
    broken.stem_norm.bias.data.fill_(float("inf"))
    models[Slot.DISCARD] = Model(weights_of(broken), LITE)
    asked = [question for question in known_questions() if question.slot in models]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("policies.flow.known_hand.known_questions", lambda: asked)
        with pytest.raises(ConfigError, match=r"decision\.checkpoints: the discard model"):
            try_out(NetworkPolicy(models))


@pytest.mark.parametrize(
    ("section", "words"),
    [
        (DecisionSection(policy="heuristic"), "the heuristic"),
        (DecisionSection(permutations=1), "the included models"),
        (DecisionSection(checkpoints="x"), "the models in x, averaged over 12 permutations"),
        (DecisionSection(checkpoints="phoenix", permutations=1), "the included models `phoenix`"),
    ],
)
def test_the_policy_is_described_in_words(section: DecisionSection, words: str) -> None:
    assert policy_text(section) == words


def test_a_search_is_set_up_as_configured() -> None:
    usual = thinking_of(Config(adaptation=AdaptationSection(mode="search"))).thinking
    assert (usual.worlds, usual.horizon, usual.from_go_around, usual.playouts) == (64, 8, 6, 0)
    whole = thinking_of(Config(adaptation=AdaptationSection(mode="search", horizon=0))).thinking
    assert whole.horizon == 0
