"""The configuration: built-in defaults, `config.yaml`, the environment, the command line, in that order.

All problems are reported together, each with key path, value found, value expected and nearest known key.
An invalid value is never replaced by a default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import platformdirs
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from bot.config.problems import ExpectedValues, Problem, describe_errors, field_at, report
from bot.config.sources import SourceValues, merge, read_environment, read_yaml
from bot.tenhou.game_types import GameType, parse_game_type
from bot.tenhou.gate import Gate, PlayTerms, TenhouTerms, breaches, own_host_problem, own_problem, parse_url
from bot.tenhou.names import GUEST, LOGIN_ID, NAME_LENGTH, is_guest_name
from game.ranking import UMA_FORM, UMA_PATTERN
from game.scoring.settlement import RewardKind
from kit.errors import ConfigError
from kit.files import expand_home
from kit.workers.ordered import default_workers
from policies.nets.identities import split_identity
from policies.play.included import INCLUDED, included

DEFAULT_FILE: Final = Path("config.yaml")
BUILT_IN_POLICIES: Final = ("network", "heuristic")
LISTED_ENV: Final = frozenset(
    {"SUZAKU_CACHE_DIR", "SUZAKU_CONFIG", "SUZAKU_FOLD_GAMES", "SUZAKU_SHARED"}  # the last two are the tests'
)
"""Variables with our prefix that are not configuration keys."""

_FLAGS: Final = "the command line"
_SAMPLERS: Final = ("uniform", "autoregressive", "diffusion")
_LOBBY: Final = re.compile(r"0|L?[1-9][0-9]{3}|C[0-9]{8}")


def _game_type(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError  # noqa: TRY004 - pydantic collects ValueErrors only
    return parse_game_type(value).number


def _lobby(value: object) -> str:
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if not _LOBBY.fullmatch(text):
        raise ValueError
    return text.removeprefix("L")


def _text(is_valid: Callable[[str], object]) -> BeforeValidator:
    """Reads text that meets a condition."""

    def read(value: object) -> str:
        if not isinstance(value, str) or not is_valid(value):
            raise ValueError
        return value

    return BeforeValidator(read)


def _named_host(value: object) -> str:
    return "" if value == "" else _own_host(value)


def _own_host(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError  # noqa: TRY004 - pydantic collects ValueErrors only
    return value if _is_host_name(value) else str(ip_address(value))


def _is_host_name(text: str) -> bool:
    """Whether the text is a valid host name; on overlong or empty labels the resolver raises no `OSError`."""
    parts = text.removesuffix(".").split(".")
    return len(text) <= 253 and all(re.fullmatch("[A-Za-z0-9-]{1,63}", part) for part in parts)


def _folder(value: object) -> Path:
    if not isinstance(value, str | Path) or not str(value).strip():
        raise ValueError
    return expand_home(str(value))


def _optional_path(value: object) -> str:
    if not isinstance(value, str | Path):
        raise ValueError  # noqa: TRY004 - pydantic collects ValueErrors only
    return str(expand_home(str(value))) if str(value) else ""


def _checkpoints(value: object) -> str:
    if isinstance(value, str) and included(value):
        return value
    path = _optional_path(value)  # which has lost the dot of ./phoenix
    return str(Path(path).absolute()) if included(path) else path


def _names_models(text: object) -> bool:
    """Whether a text names included models or a folder, also as asked to play like a player."""
    if not isinstance(text, str) or not text or text in BUILT_IN_POLICIES:
        return False
    return included(text) is not None or _is(lambda path: split_identity(path)[0].is_dir(), text)


def _is(kind: Callable[[Path], bool], text: str) -> bool:
    """Whether the path that a text names is of a kind; the system may reject some texts."""
    try:
        return kind(expand_home(text))
    except (OSError, ValueError):
        return False


def _hosts(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


TypeNumber = Annotated[
    int, BeforeValidator(_game_type), ExpectedValues("a game type we play, by number or name")
]
Checkpoints = Annotated[
    str, BeforeValidator(_checkpoints), ExpectedValues(f'a folder, one of {", ".join(INCLUDED)}, or ""')
]
Lobby = Annotated[
    str,
    BeforeValidator(_lobby),
    ExpectedValues('0, a private lobby "1000" to "9999", or a tournament "C12345678"'),
]
Url = Annotated[
    str,
    _text(lambda url: not url or parse_url(url)),
    ExpectedValues('a WebSocket address like "ws://127.0.0.1:4000", or ""'),
]
Host = Annotated[
    str, _text(lambda host: _is_host_name(re.sub(r":[0-9]{1,5}$", "", host))), ExpectedValues("a host name")
]
OwnHost = Annotated[
    str,
    BeforeValidator(_own_host),
    ExpectedValues("an address of this machine, without the port, which has its own key"),
]
GuestName = Annotated[
    str,
    _text(lambda name: not name or is_guest_name(name)),
    ExpectedValues(f'a name of at most {NAME_LENGTH} characters that does not begin with ID, or ""'),
]
NamedHost = Annotated[
    str, BeforeValidator(_named_host), ExpectedValues('a host of your own network, without a port, or ""')
]
Hosts = Annotated[
    tuple[Host, ...],
    BeforeValidator(_hosts),
    Field(min_length=1),
    ExpectedValues("a list of one or more host names"),
]
EnvName = Annotated[
    str,
    Field(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$"),
    ExpectedValues('the name of an environment variable, or ""'),
]
Policy = Annotated[
    str,
    _text(lambda policy: policy in BUILT_IN_POLICIES or policy.startswith("python:")),
    ExpectedValues(
        f"one of {', '.join((*BUILT_IN_POLICIES, *list(INCLUDED)[1:]))}, a folder of models, "
        "or python:FILE.py for your own"
    ),
]
UmaText = Annotated[str, Field(pattern=f"^({UMA_PATTERN})?$"), ExpectedValues(f'{UMA_FORM}, or ""')]
Sampler = Annotated[
    str,
    _text(lambda sampler: sampler.partition(":")[0] in _SAMPLERS),
    ExpectedValues(
        f"one of {', '.join(_SAMPLERS)}, with settings as `suzaku eval adaptation --sampler` takes them"
    ),
]
Folder = Annotated[Path, BeforeValidator(_folder), ExpectedValues("a path")]


class Section(BaseModel):
    """A section of the configuration; unknown keys and wrong types are errors."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, validate_default=True, allow_inf_nan=False
    )


class Play(Section):
    """Settings of `suzaku play`.

    Attributes:
        server: server to play on.
        games: number of games to play.
        pace: speed of answers.
        seed: seed; the built-in lobby deals the same walls for the same seed.
    """

    server: Literal["local", "tenhou"] = "local"
    games: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    pace: Literal["auto", "instant", "human"] = "auto"
    seed: Annotated[int | None, Field(ge=0, lt=2**31)] = None


class Local(Section):
    """The built-in lobby, or another running `suzaku lobby`.

    Attributes:
        url: address of a running `suzaku lobby`.
        port: port to listen on, on this machine only; 0 picks a free one.
        lobby: lobby to join: 0, 1000-9999 or "C12345678".
        type: game type: hanchan, tonpuu, fast, practice, a room, several of these in quotes ("houou tonpuu
            fast"), or a number.
        name: name of the bot in a local lobby.
        clients_per_table: clients needed to start a table, 1 to 4; built-in players fill the other seats.
    """

    url: Url = ""
    own_host: NamedHost = ""
    port: Annotated[int, Field(ge=0, le=65535)] = 0
    lobby: Lobby = "0"
    type: TypeNumber = 9
    name: GuestName = ""
    user_id_env: EnvName = ""
    clients_per_table: Annotated[int, Field(ge=1, le=4)] = 1


class Tenhou(Section):
    """Playing on Tenhou itself."""

    enabled: bool = False
    permission: bool = False
    user_id_env: EnvName = "TENHOU_ID"
    sex: Literal["M", "F"] = "M"
    lobby: Lobby = "0"
    type: TypeNumber = 0
    max_games: Annotated[int, Field(ge=1, le=10_000)] = 1
    hosts: Hosts = ("b-ww.mjv.jp", "b-wk.mjv.jp")


class DecisionSection(Section):
    """The policy, its time budget, and the fallback when it fails.

    Attributes:
        policy: policy that plays: network, phoenix, players@NAME, heuristic, a folder of models, or
            python:FILE.py for your own (docs/policy.md).
        permutations: tile permutations to average over; default: the configured number.
        device: device for the models.
        uma: what places are worth to you, in place of a 7-dan's rank points (90,45,0,-135): four numbers, or
            with the score 15,5,-5,-15@25000 (docs/review.md). The models choose as trained.
    """

    policy: Policy = "network"
    checkpoints: Checkpoints = ""
    permutations: Literal[1, 6, 12] = 12
    device: Literal["auto", "cpu", "cuda"] = "cpu"
    budget_ms: Annotated[int, Field(ge=100, le=60_000)] = 3000
    reserve_ms: Annotated[int, Field(ge=0, le=30_000)] = 1500
    failures_before_rules: Annotated[int, Field(ge=1, le=1000)] = 3
    uma: UmaText = ""

    @model_validator(mode="before")
    @classmethod
    def _play_models(cls, values: Any) -> Any:
        """Where the policy names models, the networks play with these."""
        if isinstance(values, dict) and _names_models(values.get("policy")):
            return {**values, "policy": "network", "checkpoints": values["policy"]}
        return values


class AdaptationSection(Section):
    """Use of the time of a round.

    Attributes:
        mode: use of a round's time: adapt (the policy to the hand), search (close options), both, off; auto:
            search at the human pace, if the networks play and there are two cores.
    """

    mode: Literal["auto", "off", "adapt", "search", "both"] = "auto"
    when: Literal["always", "last_rounds", "stake"] = "always"
    reward: Literal["auto", RewardKind] = "auto"
    sampler: Sampler = "diffusion"
    worlds: Annotated[int, Field(ge=16, le=10_000)] = 64
    horizon: Annotated[int, Field(ge=0, le=70)] = 8
    from_go_around: Annotated[int, Field(ge=0, le=17)] = 6
    search_s: Annotated[float, Field(gt=0.0, le=30.0)] = 1.5
    playouts: Annotated[int, Field(ge=16, le=1_000_000)] = 1000
    seconds: Annotated[float, Field(gt=0.0, le=600.0)] = 30.0
    device: Literal["auto", "cpu", "cuda"] = "auto"
    memory_mb: Annotated[int, Field(ge=500, le=1_000_000)] = 3000


class Connection(Section):
    """The connection to the server."""

    keepalive_s: Annotated[float, Field(ge=1.0, le=60.0)] = 10.0
    silence_s: Annotated[float, Field(ge=5.0, le=600.0)] = 60.0
    login_tries: Annotated[int, Field(ge=1, le=100)] = 8
    resume_tries: Annotated[int, Field(ge=1, le=100)] = 20


class Records(Section):
    """Where finished games are saved.

    Attributes:
        folder: folder for the records of finished games.
        capture: write all frames sent and received to this file, redacted; with a number if it exists.
    """

    folder: Folder = Path("replays/games")
    capture: Annotated[str, BeforeValidator(_optional_path), ExpectedValues('a file name, or ""')] = ""


class Logs(Section):
    """Log level and format.

    Attributes:
        level: log level.
        format: log format: console, json, or auto: console on a terminal, else json.
    """

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "console", "json"] = "auto"


class Dashboard(Section):
    """The web page that shows the running game.

    Attributes:
        enabled: show the game on a web page.
        host: address the dashboard listens on; all but loopback addresses require a token.
        port: port of the dashboard; 0 picks a free one.
        token_env: environment variable that holds your own dashboard token.
    """

    enabled: bool = False
    host: OwnHost = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8765
    token_env: EnvName = ""
    candidates: Annotated[int, Field(ge=0, le=64)] = 0


class TablePage(Section):
    """The web page of `suzaku table`.

    Attributes:
        host: address the page listens on; all but loopback addresses require a token.
        port: port of the page; 0 picks a free one.
        token_env: environment variable that holds your own token for the page.
    """

    host: OwnHost = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8766
    token_env: EnvName = ""


class AskPage(TablePage):
    """The web page of `suzaku ask --page`."""

    port: Annotated[int, Field(ge=0, le=65535)] = 8767


class Config(Section):
    """All settings."""

    play: Play = Play()
    local: Local = Local()
    tenhou: Tenhou = Tenhou()
    decision: DecisionSection = DecisionSection()
    adaptation: AdaptationSection = AdaptationSection()
    connection: Connection = Connection()
    records: Records = Records()
    dashboard: Dashboard = Dashboard()
    table: TablePage = TablePage()
    ask: AskPage = AskPage()
    logs: Logs = Logs()

    @property
    def server(self) -> Local | Tenhou:
        """The section of the server to play on."""
        return self.tenhou if self.play.server == "tenhou" else self.local

    @property
    def game_type(self) -> GameType:
        """The game type to play."""
        return GameType(self.server.type)

    @property
    def gate(self) -> Gate:
        """Where a run may connect, and under which terms."""
        if self.play.server == "local":
            return Gate(own_host=self.local.own_host)
        tenhou = self.tenhou
        return Gate(terms=TenhouTerms(tenhou.enabled, tenhou.permission, tenhou.max_games))

    @property
    def pace(self) -> Literal["instant", "human"]:
        """The pace of answers; ``auto`` is human on Tenhou and for a dashboard, and otherwise instant."""
        if self.play.pace == "auto":
            return "human" if self.play.server == "tenhou" or self.dashboard.enabled else "instant"
        return self.play.pace

    @property
    def thinking_mode(self) -> Literal["off", "adapt", "search", "both"]:
        """Use of a round's time; ``auto`` searches where a search gains and does not disturb the game."""
        mode = self.adaptation.mode
        if mode != "auto":
            return mode
        knows_worth = self.adaptation.reward != "global" or not self.decision.uma
        can = self.decision.policy == "network" and knows_worth and default_workers() > 1
        return "search" if can and self.pace == "human" else "off"

    @property
    def thinking_reward(self) -> RewardKind:
        """What play-outs count; ``auto`` is points in a search, whose gain was measured so."""
        if self.adaptation.reward == "auto":
            return "points" if self.thinking_mode == "search" else "global"
        return self.adaptation.reward


def load_config(
    path: Path | None, environment: Mapping[str, str], flags: Mapping[str, object] | None = None
) -> Config:
    """Read the configuration.

    Args:
        path: the file; None uses `config.yaml` if it exists, else the built-in defaults, with records in the
            user's data folder rather than here.
        environment: usually `os.environ`; ``SUZAKU_PLAY__GAMES=3`` sets ``play.games``.
        flags: command-line settings by key path; ``server.`` stands for the section of the server to play on.
            None values are not set.

    Raises:
        ConfigError: the configuration is invalid; lists every problem.
    """
    file = path or (DEFAULT_FILE if DEFAULT_FILE.exists() else None)
    layers = [read_yaml(file) if file else _without_file()]
    from_environment, problems = read_environment(environment, LISTED_ENV, _is_text)
    layers.append(from_environment)
    layers.append(SourceValues(_FLAGS, {k: v for k, v in (flags or {}).items() if v is not None}))
    values, origins = merge(layers)
    config, more = _validate(values, origins)
    problems += more
    problems += _meant_for_local(config, origins)
    problems += [
        Problem(p.paths, p.message, origins.get(p.path, ""))
        for p in impossible(config, environment)
        if not any(set(p.paths) & set(bad.paths) for bad in problems)
    ]
    if problems:
        raise ConfigError(report(problems))
    return config


def _is_text(path: str) -> bool:
    field = field_at(path.split("."), Config)
    return field is not None and field.annotation in (str, Path)


def _without_file() -> SourceValues:
    """Where the current folder has no `config.yaml`, it is no folder for records either."""
    folder = platformdirs.user_data_path("suzaku") / "games"
    return SourceValues("the user's data folder", {"records.folder": str(folder)})


def _meant_for_local(config: Config, origins: Mapping[str, str]) -> Iterator[Problem]:
    """Flags for a local lobby, while the configuration says Tenhou: where to connect must not be guessed."""
    why = "for a local lobby, but play.server is tenhou; add --server local"
    for key in ("local.url", "local.name"):
        if config.play.server == "tenhou" and origins.get(key) == _FLAGS:
            yield Problem((key, "play.server"), why, _FLAGS)


def impossible(config: Config, environment: Mapping[str, str]) -> list[Problem]:
    """Settings that are valid on their own but not together."""
    play, server = config.play, f"{config.play.server}."
    clock_ms = sum(config.game_type.clock_s) * 1000
    problems = []
    if config.decision.budget_ms + config.decision.reserve_ms > clock_ms:
        problems.append(
            Problem(
                ("decision.budget_ms", "decision.reserve_ms", f"{server}type"),
                f"{config.decision.budget_ms} ms plus decision.reserve_ms ({config.decision.reserve_ms} ms) "
                f"exceeds the {clock_ms} ms of the clock of {config.game_type}; lower one of them",
            )
        )
    file = re.fullmatch(r"python:(.+\.py)(:[^:]*)?", config.decision.policy, re.DOTALL)
    if file and not _is(Path.is_file, file[1]):
        missing = f"{file[1]}: there is no such file; `python:` names a policy of your own"
        problems.append(Problem(("decision.policy",), missing))
    problems += _impossible_thoughts(config)
    if play.seed is not None and (play.server == "tenhou" or config.local.url):
        problems.append(
            Problem(
                ("play.seed", "local.url", "play.server"),
                "a seed works in the built-in lobby only; other servers deal their own walls: remove the "
                "seed",
            )
        )
    problems += _bad_login(config, environment)
    terms = config.gate.terms
    problems += _impossible_at_home(config.local) if terms is None else _impossible_on_tenhou(config, terms)
    return problems


def _impossible_thoughts(config: Config) -> Iterator[Problem]:
    adaptation, decision, mode = config.adaptation, config.decision, config.adaptation.mode
    if mode in ("auto", "off"):
        return
    if decision.policy != "network":
        yield Problem(
            ("adaptation.mode", "decision.policy"),
            f"{mode} needs models; set decision.policy to network, or adaptation.mode to off",
        )
    if mode != "adapt" and config.thinking_reward == "global" and decision.uma:
        why = "a search counts in a 7-dan's rank points; set it to adapt, or adaptation.reward to points"
        yield Problem(("adaptation.mode", "decision.uma", "adaptation.reward"), why)
    if mode != "adapt" and adaptation.search_s * 1000 > decision.budget_ms:
        yield Problem(
            ("adaptation.search_s", "decision.budget_ms"),
            f"{adaptation.search_s:g} s exceeds decision.budget_ms ({decision.budget_ms} ms); lower it",
        )


def login_name(config: Config, environment: Mapping[str, str]) -> str:
    """The id from its environment variable, or the guest name. Never print or log an id."""
    name = config.server.user_id_env
    if name:
        return environment[name]
    return (config.local.name if config.play.server == "local" else "") or GUEST


def _impossible_at_home(local: Local) -> Iterator[Problem]:
    problem = own_host_problem(local.own_host) if local.own_host else None
    if problem is not None:
        yield Problem(("local.own_host",), problem)
    if local.name and local.user_id_env:
        yield Problem(
            ("local.name", "local.user_id_env", "play.server"),
            "an id has its own name; remove local.name or local.user_id_env",
        )
    server = parse_url(local.url)
    problem = own_problem(server, local.own_host) if server is not None else None
    if problem is not None:
        yield Problem(("local.url", "local.own_host", "play.server"), problem)


def _impossible_on_tenhou(config: Config, terms: TenhouTerms) -> Iterator[Problem]:
    conduct = PlayTerms(config.tenhou.type, config.play.games, config.pace)
    for breach in breaches(terms, conduct):
        yield Problem((*breach.keys, "play.server"), breach.message)


def _bad_login(config: Config, environment: Mapping[str, str]) -> list[Problem]:
    name = config.server.user_id_env
    if not name or LOGIN_ID.fullmatch(environment.get(name, "")):
        return []
    if environment.get(name):
        why = (
            f"the value of {name} is not a Tenhou id; expected ID, 8 hexadecimal digits, a hyphen, "
            "8 letters or digits (the value is not shown here)"
        )
    else:
        why = (
            f"the environment variable {name} is not set; set it to your id, "
            'or set the key to "" to log in as a guest'
        )
    return [Problem((f"{config.play.server}.user_id_env", "play.server"), why)]


def _validate(values: dict[str, Any], origins: Mapping[str, str]) -> tuple[Config, list[Problem]]:
    """The valid part of the configuration, and the problems of the rest."""
    try:
        return Config.model_validate(values), []
    except ValidationError as exc:
        errors = exc.errors(include_url=False)
    problems = describe_errors(errors, Config, origins)
    for error in errors:
        _remove(values, [str(part) for part in error["loc"]])
    return Config.model_validate(values), problems


def _remove(values: dict[str, Any], loc: list[str]) -> None:
    """Remove the value at ``loc``, or the section or list that contains it."""
    parent: Any = values
    for part in loc[:-1]:
        if not isinstance(parent, dict) or not isinstance(parent.get(part), dict):
            break
        parent = parent[part]
    else:
        parent.pop(loc[-1], None)
        return
    parent.pop(part, None)
