from __future__ import annotations

import contextlib
import itertools
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.config.settings import Config, load_config, login_name
from bot.startup.models import thinking_of
from kit.errors import ConfigError

MANUAL = Path(__file__).parents[3] / "config.yaml"
LOGIN = "ID0A1B2C3D-Marker01"
ON_TENHOU = {"play.server": "tenhou", "tenhou.enabled": True}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def peak_of(load_it: Callable[[], object]) -> int:
    """Peak memory in bytes used to refuse something."""
    tracemalloc.start()
    try:
        with contextlib.suppress(ConfigError):
            load_it()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def load(text: str | None = None, environment: dict[str, str] | None = None, **flags: object) -> Config:
    path = None
    if text is not None:
        path = Path("given.yaml")
        path.write_text(text, encoding="utf-8")
    return load_config(path, environment or {}, {k.replace("__", "."): v for k, v in flags.items()})


def problems(
    text: str | None = None, environment: dict[str, str] | None = None, **flags: object
) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(text, environment, **flags)
    return str(caught.value).splitlines()[1:]


def on_tenhou(environment: dict[str, str] | None = None, **flags: object) -> Config:
    env = {"TENHOU_ID": LOGIN} if environment is None else environment
    return load_config(None, env, ON_TENHOU | {k.replace("__", "."): v for k, v in flags.items()})


def test_no_file_and_no_flags_play_one_local_hanchan() -> None:
    config = load()
    assert (config.play.server, config.play.games, str(config.game_type)) == ("local", 1, "ippan hanchan")
    assert config.pace == "instant"


def test_the_manual_has_every_key_and_exactly_the_defaults() -> None:
    content = yaml.safe_load(MANUAL.read_text(encoding="utf-8"))
    assert {f"{s}.{k}" for s, body in content.items() for k in body} == {
        f"{s}.{k}" for s, field in Config.model_fields.items() for k in field.annotation.model_fields
    }
    assert load_config(MANUAL, {}, {}) == Config()


def test_every_key_of_the_manual_has_a_comment() -> None:
    lines = MANUAL.read_text(encoding="utf-8").splitlines()
    keys = [line for line in lines if line.startswith("  ") and line.strip()[0].isalpha()]
    assert [line for line in keys if "#" not in line] == []


def test_config_yaml_of_the_current_folder_is_read() -> None:
    Path("config.yaml").write_text("play: {games: 7}\n")
    assert load().play.games == 7


def test_without_a_file_records_go_to_the_users_data_folder(tmp_path: Path) -> None:
    assert load_config(None, {}, {}).records.folder == tmp_path / "data" / "suzaku" / "games"
    assert load_config(None, {}, {"records.folder": "here"}).records.folder == Path("here")
    Path("config.yaml").write_text("play: {games: 7}\n")
    assert load_config(None, {}, {}).records.folder == Path("replays/games")


def test_each_source_beats_the_one_before() -> None:
    text = "play: {games: 2, seed: 5}\nlogs: {level: debug}\n"
    environment = {
        "SUZAKU_PLAY__GAMES": "3",
        "SUZAKU_PLAY__SEED": "6",
        "SUZAKU_CACHE_DIR": "/x",
        "OTHER": "1",
    }
    config = load(text, environment, play__games=4)
    assert (config.play.games, config.play.seed, config.logs.level) == (4, 6, "debug")


@pytest.mark.parametrize(
    ("policy", "checkpoints"),
    [
        ("phoenix", "phoenix"),
        ("players@7-dan", "players@7-dan"),
        ("models", "models"),
        ("models@me", "models@me"),
    ],
)
def test_models_can_be_given_as_the_policy(policy: str, checkpoints: str) -> None:
    Path("models").mkdir()
    decision = load("decision: {policy: heuristic, checkpoints: phoenix}\n", decision__policy=policy).decision
    assert (decision.policy, decision.checkpoints) == ("network", checkpoints)


def test_a_flag_that_was_not_given_changes_nothing() -> None:
    assert load("play: {games: 2}\n", play__games=None).play.games == 2


def test_server_flags_go_to_the_server_that_is_played_on() -> None:
    assert load(server__type="tonpuu").local.type == 1
    assert on_tenhou(server__type="practice fast").tenhou.type == 64
    text = "play: {server: tenhou}\ntenhou: {enabled: true}\n"
    assert load(text, {"TENHOU_ID": LOGIN}, server__lobby="7994").tenhou.lobby == "7994"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("play: {gmaes: 3}", ["play.gmaes", "given.yaml", "unknown key", "did you mean play.games?"]),
        ("pley: {games: 3}", ["pley", "did you mean play?"]),
        ("games: 3", ["games", "did you mean play.games?"]),
        ("zzz: {a: 1}", ["zzz", "known keys: play, local, tenhou"]),
        (
            "play: {games: two}",
            ["play.games", 'found "two"', "a whole number, at least 1, at most 1,000,000"],
        ),
        ('play: {games: "2"}', ["play.games", 'found "2"', "a whole number"]),
        ("play: {games: true}", ["play.games", "found true"]),
        ("play: {games: null}", ["play.games", "found nothing (null)"]),
        ("play: {server: true}", ["play.server", "found true", "one of local, tenhou"]),
        ("decision: {policy: neural}", ["decision.policy", "one of network, heuristic"]),
        ("decision: {checkpoints: null}", ["decision.checkpoints", "a folder, one of network"]),
        ("play: {seed: -1}", ["play.seed", "a whole number or null, at least 0"]),
        ("play:", ["play", "found nothing (null)", "a section of keys"]),
        ("local: {type: sanma}", ["local.type", "three-player tables are not supported"]),
        ("local: {type: 19}", ["local.type", "three-player tables and tables without red fives"]),
        ("local: {port: 65536}", ["local.port", "at most 65,535"]),
        ("local: {url: 'http://x/'}", ["local.url", "a WebSocket address"]),
        ("local: {name: ID0123ABCD-aBcD567}", ["local.name", "does not begin with ID"]),
        ("local: {name: 12345678901234567}", ["local.name", "at most 16 characters"]),
        ("local: {own_host: 'a:80'}", ["local.own_host", "a host of your own network, without a port"]),
        ("local: {own_host: B-WW.mjv.jp}", ["local.own_host", "this is Tenhou"]),
        ("local: {own_host: 8.8.8.8}", ["local.own_host", "on the internet"]),
        ("tenhou: {enabled: 'yes'}", ["tenhou.enabled", 'found "yes"', "true or false"]),
        ("tenhou: {lobby: 12}", ["tenhou.lobby", 'a private lobby "1000" to "9999"']),
        ("tenhou: {lobby: C1234567812345678}", ["tenhou.lobby", "hidden"]),
        ("tenhou: {hosts: []}", ["tenhou.hosts", "a list of one or more host names"]),
        ("tenhou: {hosts: ['a b']}", ["tenhou.hosts", 'found "a b"']),
        ("connection: {silence_s: .nan}", ["connection.silence_s", "a number, at least 5"]),
        ("records: {folder: ''}", ["records.folder", "a path"]),
        ('play: {"\\e[31mgames": 1}', ["play.[31mgames", "unknown key"]),
        # values that others read as numbers, dates, true or false
        *(
            (f"play: {{games: {value}}}", ["play.games", f'found "{value[:60]}', "a whole number"])
            for value in ("0x10", "1:30", "010", "1_000", "off", "2001-09-09", "9" * 5000)
        ),
        ("connection: {keepalive_s: 1.e5000}", ["connection.keepalive_s", "a number, at least 1"]),
        ("records: {folder: ~nosuchuser/x}", ["records.folder", "no home folder is known for `~nosuchuser`"]),
    ],
)
def test_bad_value_is_named_with_path_found_and_expected(text: str, wanted: list[str]) -> None:
    found = problems(text)
    assert len(found) == 1
    assert [part for part in wanted if part not in found[0]] == []


def test_all_problems_come_at_once_from_all_sources() -> None:
    found = problems(
        "play: {gmaes: 3, seed: 1}\nlogs: {level: loud}\nlocal: {url: 'ws://127.0.0.1:1'}\n",
        {"SUZAKU_PLAY__PACE": "slow", "SUZAKU_PLAY_GAMES": "1", "SUZAKU_DECISION__BUDGET_MS": "60000"},
        play__games=0,
    )
    text = "\n".join(found)
    assert len(found) == 7
    assert "play.pace (SUZAKU_PLAY__PACE)" in text
    assert "SUZAKU_PLAY_GAMES" in text
    assert "play.games (the command line)" in text
    assert "remove the seed" in text
    assert "exceeds the 15000 ms of the clock" in text


@pytest.mark.parametrize(
    "data",
    [
        b"play:\n  games: 1\n  games: 2\n",
        b"\xff\xfe",
        b"play: !!python/object/apply:os.system ['true']",
        b"? {a: 1}\n: 2",
        b"a: &a [*a]",
        b"x: 2001-99-99",
        b"#" * (1 << 16) + b"#",
        b"\xef\xbb\xbfplay: [",
        "play: {games: 1}".encode("utf-16"),
    ],
)
def test_unreadable_file_is_a_config_error(data: bytes) -> None:
    Path("bad.yaml").write_bytes(data)
    with pytest.raises(ConfigError):
        load_config(Path("bad.yaml"), {}, {})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("play:\n\tgames: 1\n", "line 2, column 1: this is not YAML; check indentation (spaces, no tabs)"),
        ("play: {games: 1\nlogs:\n", "line 2, column 5: this is not YAML"),
        ("tenhou: {hosts: [*x]}\n", "line 1, column 18: `*x` is a reference"),
        ("play: {games: !!int '5'}\n", "line 1, column 15: this is a tag"),
        ("play: 1\n---\nlogs: 2\n", "line 2, column 1: this is not YAML"),
        ("play: 1\nlogs: \0\n", "unacceptable character"),
        ("? [a]\n: 1\n", "line 1, column 3: this is not YAML"),
        ("play: {games: 1, games: 2}\n", "line 1, column 18: the key `games` is given twice"),
        ("- play", "found a list, expected sections such as `play:`"),
        ("just text", "found text, expected sections such as `play:`"),
        ("x: " + "[" * 3000, "nested too deep"),
    ],
)
def test_invalid_yaml_is_reported_by_place(text: str, wanted: str) -> None:
    Path("given.yaml").write_text(text, encoding="utf-8", newline="")
    with pytest.raises(ConfigError) as caught:
        load_config(Path("given.yaml"), {}, {})
    said = str(caught.value)
    assert said.startswith("given.yaml: ")
    assert wanted in said
    assert "\n" not in said
    jargon = r"token|scalar|block|node|mapping|stream|document start|alias|anchor|flow"
    assert not re.search(jargon, said)


def test_a_few_lines_cannot_stand_for_gigabytes() -> None:
    """Each line of references refers to the previous one nine times: 388 bytes expand to 9**9 texts."""
    names = "abcdefghi"
    lines = ["a: &a [" + ",".join(["lol"] * 9) + "]"]
    lines += [f"{two}: &{two} [{','.join([f'*{one}'] * 9)}]" for one, two in itertools.pairwise(names)]
    bomb = "\n".join(lines)
    for load_it in (lambda: problems(bomb), lambda: load(environment={"SUZAKU_PLAY__GAMES": f"{{{bomb}}}"})):
        peak = peak_of(load_it)
        assert peak < 10 << 20


def test_no_more_problems_are_listed_than_can_be_read() -> None:
    with pytest.raises(ConfigError, match="has 5,000 problems; showing the first 20:") as caught:
        load("play:\n" + "".join(f"  k{number}: 1\n" for number in range(5000)))
    assert len(str(caught.value).splitlines()) == 21


def test_an_endless_file_is_not_read_to_its_end() -> None:
    with pytest.raises(ConfigError, match="larger than 65,536 bytes"):
        load_config(Path("/dev/zero"), {}, {})


def test_missing_file_and_folder_are_config_errors(tmp_path: Path) -> None:
    for path in (Path("none.yaml"), tmp_path):
        with pytest.raises(ConfigError, match="name a readable configuration file"):
            load_config(path, {}, {})


@pytest.mark.parametrize("text", ["", "# nothing\n", "play: {}\n", "---\n"])
def test_empty_file_is_the_defaults(text: str) -> None:
    assert load(text) == Config()


@pytest.mark.parametrize("value", ["2468", "true", "null"])
def test_text_of_the_environment_is_text_whatever_it_looks_like(value: str) -> None:
    config = load(environment={"SUZAKU_LOCAL__NAME": value, "SUZAKU_RECORDS__FOLDER": value})
    assert (config.local.name, config.records.folder) == (value, Path(value))
    assert load(environment={"SUZAKU_LOCAL__NAME": f"'{value}'"}).local.name == value


@pytest.mark.parametrize("value", ["[", "{a: b", "\t", "&x"])
def test_odd_environment_value_is_a_problem_not_a_crash(value: str) -> None:
    assert "play.games" in problems(environment={"SUZAKU_PLAY__GAMES": value})[0]


def test_tenhou_is_off_until_turned_on() -> None:
    found = problems(environment={"TENHOU_ID": LOGIN}, play__server="tenhou")
    assert len(found) == 1
    assert "tenhou.enabled" in found[0]


def test_tenhou_defaults_to_practice_at_human_pace() -> None:
    config = on_tenhou()
    assert config.game_type.is_practice
    assert config.pace == "human"


def test_a_dashboard_is_followed_at_human_pace_unless_another_is_given() -> None:
    assert load_config(None, {}, {"dashboard.enabled": True}).pace == "human"
    assert load_config(None, {}, {"dashboard.enabled": True, "play.pace": "instant"}).pace == "instant"


@pytest.mark.parametrize(
    ("flags", "key"),
    [
        ({"server__type": "hanchan"}, "tenhou.type"),
        ({"server__type": "houou"}, "tenhou.type"),
        ({"server__type": 8}, "tenhou.type"),
        ({"play__pace": "instant"}, "play.pace"),
        ({"play__games": 2}, "play.games"),
        ({"play__seed": 1}, "play.seed"),
        ({"server__type": 64, "decision__budget_ms": 7000}, "decision.budget_ms"),
    ],
)
def test_impossible_pair_on_tenhou_is_refused(flags: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        on_tenhou(**flags)
    assert [line.split()[0].rstrip(":") for line in str(caught.value).splitlines()[1:]] == [key]


@pytest.mark.parametrize("flag", [{"local__url": "ws://127.0.0.1:4000"}, {"local__name": "Alice"}])
def test_a_flag_for_a_local_lobby_never_leads_to_tenhou(flag: dict[str, str]) -> None:
    text = "play: {server: tenhou}\ntenhou: {enabled: true}\n"
    (found,) = problems(text, {}, **flag)
    assert found.endswith("for a local lobby, but play.server is tenhou; add --server local")
    assert load(text, play__server="local", **flag).play.server == "local"


def test_ranked_type_needs_explicit_permission() -> None:
    assert on_tenhou(server__type="hanchan", tenhou__permission=True).tenhou.type == 9


@pytest.mark.parametrize("held", ["", "hello", "ID12345678", f"{LOGIN}x", f" {LOGIN}"])
def test_bad_id_is_refused_without_showing_it(held: str) -> None:
    with pytest.raises(ConfigError) as caught:
        on_tenhou({"TENHOU_ID": held})
    assert "tenhou.user_id_env" in str(caught.value)
    assert not held.strip() or held.strip() not in str(caught.value)


def test_id_pasted_into_the_file_is_refused_without_showing_it() -> None:
    found = problems(f"tenhou: {{user_id_env: {LOGIN}}}")
    assert "the name of an environment variable" in found[0]
    assert LOGIN not in found[0]


def test_id_comes_from_the_named_variable_and_guests_need_none() -> None:
    assert login_name(on_tenhou({"MY_ID": LOGIN}, tenhou__user_id_env="MY_ID"), {"MY_ID": LOGIN}) == LOGIN
    assert login_name(on_tenhou({}, tenhou__user_id_env=""), {}) == "NoName"


def test_a_local_login_may_have_an_id_too() -> None:
    config = load(environment={"MY_ID": LOGIN}, server__user_id_env="MY_ID")
    assert login_name(config, {"MY_ID": LOGIN}) == LOGIN
    assert "local.user_id_env" in problems(environment={"MY_ID": "x"}, server__user_id_env="MY_ID")[0]


def test_a_guest_may_have_a_name_at_home_and_an_id_brings_its_own() -> None:
    assert login_name(load(local__name="Alice"), {}) == "Alice"
    assert login_name(on_tenhou({"SUZAKU_LOCAL__NAME": "Alice"}, tenhou__user_id_env=""), {}) == "NoName"
    found = problems(environment={"MY_ID": LOGIN}, local__name="Alice", server__user_id_env="MY_ID")
    assert "an id has its own name" in found[0]


def test_adaptation_is_off_by_the_bare_word_and_needs_models(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("adaptation: {mode: off}\n")
    assert load_config(path, {}).adaptation.mode == "off"
    path.write_text("adaptation: {mode: both}\ndecision: {policy: heuristic}\n")
    with pytest.raises(ConfigError, match=r"both needs models; set decision\.policy to network"):
        load_config(path, {})
    path.write_text("adaptation: {mode: search, search_s: 4}\n")
    with pytest.raises(ConfigError, match=r"4 s exceeds decision\.budget_ms \(3000 ms\)"):
        load_config(path, {})


@pytest.mark.parametrize(
    ("flags", "cores", "mode", "reward"),
    [
        ({"play__pace": "human"}, 2, "search", "points"),
        ({"dashboard__enabled": True}, 4, "search", "points"),
        ({"play__pace": "human"}, 1, "off", None),
        ({}, 8, "off", None),
        ({"play__pace": "human", "decision__policy": "heuristic"}, 8, "off", None),
        ({"play__pace": "human", "adaptation__mode": "off"}, 8, "off", None),
        ({"play__pace": "human", "decision__budget_ms": 1000}, 2, "search", "points"),
        ({"play__pace": "human", "adaptation__reward": "global", "decision__uma": "3,2,1,0"}, 2, "off", None),
        ({"adaptation__mode": "search"}, 1, "search", "points"),
        ({"play__pace": "human", "adaptation__reward": "global"}, 2, "search", "global"),
        ({"adaptation__mode": "adapt"}, 1, "adapt", "global"),
    ],
)
def test_auto_searches_for_points_at_the_human_pace_on_two_cores(
    monkeypatch: pytest.MonkeyPatch, flags: dict[str, object], cores: int, mode: str, reward: str | None
) -> None:
    monkeypatch.setattr("bot.config.settings.default_workers", lambda: cores)
    config = load(**flags)
    assert config.thinking_mode == mode
    assert reward is None or thinking_of(config).thinking.reward == reward


def test_an_own_uma_is_followed_by_adaptation_but_not_by_a_search() -> None:
    own = {"decision__uma": "15,5,-5,-15@25000"}
    assert thinking_of(load(adaptation__mode="adapt", **own)).thinking.unit == "uma"
    assert thinking_of(load(adaptation__mode="both")).thinking.unit == "global"
    assert "a search counts in a 7-dan's rank points" in problems(adaptation__mode="both", **own)[0]
    assert load(adaptation__mode="both", adaptation__reward="points", **own).adaptation.mode == "both"
    assert "expected four numbers, such as 90,45,0,-135" in problems(decision__uma="90,45,0")[0]
