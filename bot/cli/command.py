"""Commands whose options are declared once: by a parameter, a field of a plan, or a key of the configuration.

A parameter of a command that is annotated with a plan, a frozen `msgspec.Struct`, stands for all its fields.
Each field is an option with the type, bounds, default and docstring that it has in the plan, and so a plan's
new field is a new option of every command that takes the plan. A parameter ``config`` stands for the
configuration, changed by the flags that the command names. Plans are imported when a command runs or prints
its help, not when the program starts.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import docstring_parser
import msgspec
from cyclopts import CoercionError, Parameter, Token

from kit.options import SWITCH, extra_of, flag, flag_of

if TYPE_CHECKING:
    from bot.config.settings import Config

LARGEST: Final = 2**63 - 1
_OPTION: Final = inspect.Parameter.KEYWORD_ONLY
_NO_DEFAULT: Final = inspect.Parameter.empty
_PLANS: Final = re.compile(r"\b((?:policies|replays|learning|bot)(?:\.[a-z_0-9]+)+)\.[A-Z]")

T = TypeVar("T")


class Given(dict[str, Any], Generic[T]):
    """The options of plan ``T`` that were given; its other fields have no option's value yet."""


class Setting(NamedTuple):
    """A key of the configuration as an option.

    Attributes:
        key: its path; ``server.`` stands for the section of the server to play on.
        hint: type of the option, if it checks more than the configuration does.
        help: what it is in this command, if that is not what the configuration says.
    """

    key: str
    hint: Any = None
    help: str = ""


class Command:
    """A function as a command.

    Args:
        run: returns the exit code. Positional-only parameters are arguments, the others are options.
        settings: options that are keys of the configuration, by name; ``run`` takes it as ``config``.
        fixed: values of keys in this command, by path, where no option says otherwise.
    """

    def __init__(
        self, run: Callable[..., int], settings: Mapping[str, str | Setting], fixed: Mapping[str, object]
    ) -> None:
        self.run, self.fixed = run, fixed
        self.settings = {
            name: setting if isinstance(setting, Setting) else Setting(setting)
            for name, setting in settings.items()
        }
        self.name = run.__name__.replace("_", "-")
        self.__name__, self.__doc__ = run.__name__, _reflowed(run.__doc__ or "")
        self.__annotations__: dict[str, Any] = {}

    @property
    def __signature__(self) -> inspect.Signature:
        """Every argument and option, as cyclopts reads them."""
        options = [option for expanded in self._expanded.values() for option in expanded]
        return inspect.Signature(sorted(options, key=lambda option: option.kind))

    def __call__(self, *arguments: Any, **options: Any) -> int:
        """Run the command with the options that were given."""
        from bot.logs.setup import set_up_logs

        set_up_logs()
        given: dict[str, Any] = {}
        for name, expanded in self._expanded.items():
            found = {option.name: options[option.name] for option in expanded if option.name in options}
            if name == "config":
                given[name] = self._configured(found)
            elif (plan := _plan_of(self._hints[name])) is not None:
                whole = get_origin(self._hints[name]) is not Given
                found = _fields_set(plan, found)
                given[name] = plan(**found) if whole else Given(found)
            else:
                given |= found
        return self.run(*arguments, **given)

    def _configured(self, given: dict[str, Any]) -> Config:
        path = given.pop("config", None)
        return load_settings(path, {**self.fixed, **{self.settings[name].key: given[name] for name in given}})

    @property
    def _hints(self) -> dict[str, Any]:
        """Types of the parameters; modules of plans that they name are imported."""
        annotations = {name: str(text) for name, text in self.run.__annotations__.items() if name != "config"}
        for module in _PLANS.findall(" ".join(annotations.values())):
            importlib.import_module(module)
        packages = {name: sys.modules.get(name) for name in ("policies", "replays", "learning", "bot")}
        names = packages | self.run.__globals__
        return {name: eval(text, names) for name, text in annotations.items()}  # noqa: S307 - our own annotations

    @functools.cached_property
    def _expanded(self) -> dict[str, list[inspect.Parameter]]:
        """The options that each parameter stands for; cyclopts asks several times."""
        described, hints, own = _described(self.run), self._hints, inspect.signature(self.run).parameters
        expanded = {}
        for name, parameter in own.items():
            if name == "config":
                expanded[name] = list(self._of_config())
            elif (plan := _plan_of(hints[name])) is not None:
                optional = get_origin(hints[name]) is Given
                expanded[name] = [each for each in _of_plan(plan, optional=optional) if each.name not in own]
            else:
                help_text = described.get(name, "")
                expanded[name] = [_option(name, hints[name], parameter.default, help_text, parameter.kind)]
        return expanded

    def _of_config(self) -> Iterator[inspect.Parameter]:
        from bot.config.settings import Config, Section

        for name, setting in self.settings.items():
            section, _, key = setting.key.replace("server.", "local.").partition(".")
            model = Config.model_fields[section].annotation
            assert isinstance(model, type) and issubclass(model, Section)
            hint = setting.hint or model.model_fields[key].annotation
            yield _option(name, Union[hint, None], None, setting.help or _described(model)[key])  # noqa: UP007
        yield _option(
            "config", Path | None, None, "Configuration file; default: ./config.yaml, if it exists."
        )


def load_settings(path: Path | None, flags: Mapping[str, object]) -> Config:
    """Load the configuration of a command, and set up the logs as it specifies.

    Args:
        path: the configuration file; if None, the environment may name one.
        flags: command-line settings by key path, None where not given.

    Raises:
        ConfigError: the configuration is invalid.
    """
    from bot.config.settings import load_config
    from bot.logs.setup import set_up_logs

    chosen = path or (Path(os.environ["SUZAKU_CONFIG"]) if os.environ.get("SUZAKU_CONFIG") else None)
    config = load_config(chosen, os.environ, flags)
    set_up_logs(config.logs.level, config.logs.format)
    return config


def command(
    settings: Mapping[str, str | Setting] | None = None, fixed: Mapping[str, object] | None = None
) -> Callable[[Callable[..., int]], Command]:
    """Make a function a command; the arguments are those of `Command`."""
    return lambda run: Command(run, settings or {}, fixed or {})


def _plan_of(hint: Any) -> type[msgspec.Struct] | None:
    """The plan that a parameter stands for, None for a parameter that is an option itself."""
    plan = get_args(hint)[0] if get_origin(hint) is Given else hint
    return plan if isinstance(plan, type) and issubclass(plan, msgspec.Struct) else None


def _of_plan(plan: type[msgspec.Struct], *, optional: bool) -> Iterator[inspect.Parameter]:
    described = _described(plan)
    for field in msgspec.structs.fields(plan):
        hint, default = field.type, _NO_DEFAULT if field.required else field.default
        if field.required and optional:
            hint, default = Union[hint, None], None  # noqa: UP007 - the option may be left out
        name = flag_of(field.name, hint)
        if switch := extra_of(hint).get(SWITCH):
            yield _option(field.name, Annotated[bool, flag(name)], False, switch.help)
        elif name and _plan_of(field.type) is None:
            yield _option(field.name, hint, default, described.get(field.name, ""))


def _fields_set(plan: type[msgspec.Struct], given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that options set: a switch sets another value, or nothing."""
    switches = {field.name: extra_of(field.type).get(SWITCH) for field in msgspec.structs.fields(plan)}
    return {
        name: value if (switch := switches[name]) is None else switch.value
        for name, value in given.items()
        if switches[name] is None or value
    }


def _option(
    name: str, hint: Any, default: Any, help_text: str = "", kind: Any = _OPTION
) -> inspect.Parameter:
    """One argument or option, as cyclopts reads it.

    Args:
        name: of the parameter or field.
        hint: its type; in its metadata are `msgspec.Meta` for bounds, a function that reads a value from
            text, and cyclopts' own `Parameter`.
        default: shown where the help does not say what the default is.
        help_text: one sentence.
        kind: of the parameter.
    """
    plain, marks = _unwrapped(hint)
    repeated = get_origin(_without_none(plain)) in (list, tuple)
    shown = Parameter(
        name=flag_of(name, hint) if kind is _OPTION else name.upper(),
        help=help_text or None,
        negative=() if repeated or default is False else None,
        show_default=_shown if _is_shown(default) and "default:" not in help_text else False,
        converter=_converter(plain, marks),
        allow_repeating=True,
        json_list=False,  # a file may be called [E1].xml
    )
    own = [mark for mark in marks if isinstance(mark, Parameter)]
    annotation = Annotated[plain, shown, *own]  # type: ignore[valid-type]
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _unwrapped(hint: Any) -> tuple[Any, list[Any]]:
    """A type without metadata at any depth, and the metadata."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        plain, marks = _unwrapped(arguments[0])
        return plain, [*marks, *hint.__metadata__]
    if origin is None or origin is Literal:
        return hint, []
    parts = [_unwrapped(argument) for argument in arguments]
    plains = tuple(plain for plain, _ in parts)
    plain = origin[plains] if origin in (list, tuple) else Union[plains]  # noqa: UP007
    return plain, [mark for _, marks in parts for mark in marks]


def _without_none(hint: Any) -> Any:
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return kinds[0] if get_origin(hint) in (Union, UnionType) else hint


def _converter(plain: Any, marks: Sequence[Any]) -> Callable[[Any, Sequence[Token]], Any] | None:
    """The converter of an option's words; None where cyclopts does it."""
    hint = _without_none(plain)
    item = get_args(hint)[0] if get_origin(hint) in (list, tuple) else hint
    bounds = [mark for mark in marks if isinstance(mark, msgspec.Meta)]
    readers: list[Callable[[str], Any]] = [mark for mark in marks if inspect.isfunction(mark)]
    if item in (int, float):
        readers = [lambda text: _number(item, bounds, text)]
    if not readers:
        return None

    def convert(_: Any, tokens: Sequence[Token]) -> Any:
        values = [_read(readers[0], token) for token in tokens]
        return get_origin(hint)(values) if item is not hint else values[0]

    return convert


def _read(reader: Callable[[str], Any], token: Token) -> Any:
    try:
        return reader(token.value)
    except ValueError as error:
        # else the message names the option only where it has a single word
        raise CoercionError(msg=str(error), token=token) from error


def _number(kind: type[int] | type[float], bounds: Sequence[msgspec.Meta], text: str) -> float:
    """The number that a text is.

    Raises:
        ValueError: it is none, or is out of bounds.
    """
    expected = "a whole number" if kind is int else "a number"
    least = [bound.ge for bound in bounds if bound.ge is not None]
    most = [bound.le for bound in bounds if bound.le is not None]
    expected += "".join(f" of at least {bound:,}" for bound in least)
    expected += "".join(f"{' and' if least else ' of'} at most {bound:,}" for bound in most)
    try:
        number = kind(text)
        possible = "_" not in text and math.isfinite(number) and abs(number) <= LARGEST
    except (ValueError, OverflowError):
        possible = False
    if not possible or any(number < bound for bound in least) or any(number > bound for bound in most):
        raise ValueError(f"found {text!r}, expected {expected}")
    return number


def _is_shown(default: Any) -> bool:
    return default is not None and default is not False and default not in ((), "")


def _shown(default: Any) -> str:
    """A default in help.

    >>> _shown((90.0, 45.0)), _shown(1e-4), _shown("auto")
    ('90 45', '0.0001', 'auto')
    """
    if isinstance(default, tuple):
        return " ".join(map(_shown, default))
    return f"{default:g}" if isinstance(default, float) else str(default)


@functools.cache
def _described(documented: object) -> dict[str, str]:
    """Descriptions of the parameters of a function, or of the fields of a class and its bases."""
    described: dict[str, str] = {}
    for each in reversed(getattr(documented, "__mro__", [documented])):
        parsed = docstring_parser.parse(each.__doc__ or "", docstring_parser.DocstringStyle.GOOGLE)
        described |= {found.arg_name: _sentence(found.description or "") for found in parsed.params}
    return described


def _sentence(text: str) -> str:
    words = " ".join(text.split()).replace("``", "`")
    return words[:1].upper() + words[1:]


def _reflowed(docstring: str) -> str:
    """The summary and description of a docstring, a line for each paragraph."""
    parsed = docstring_parser.parse(docstring, docstring_parser.DocstringStyle.GOOGLE)
    paragraphs = [parsed.short_description or "", *(parsed.long_description or "").split("\n\n")]
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs).strip()
