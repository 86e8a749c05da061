from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from game.observation import HiddenTiles
from kit.errors import ConfigError, ModelError
from policies.flow.known_hand import known_questions
from policies.play.named import files_of_named, load_named, name_of
from policies.play.python_file import python_file_of

EVEN = """
class Even:
    source = "rule"

    def answer(self, slot, questions):
        return [[1 / len(each.options)] * len(each.options) for each in questions]
"""


NEEDS_X = EVEN.replace("def answer", "def __init__(self, x): pass\n    def answer")
TRIED = ": tried on a known hand: kan slot: "


def edited(old: str, new: str) -> str:
    assert old in EVEN
    return EVEN.replace(old, new)


def write(folder: Path, code: str, name: str = "mine.py") -> str:
    (folder / name).write_text(code)
    return f"python:{folder / name}"


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_named(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("python:mine.py", "mine.py"),
        ("python:../there/mine.py:Even", "mine.py:Even"),
        (r"python:C:/there/mine.py:Even", "mine.py:Even"),
    ],
)
def test_a_name_is_a_file_and_perhaps_what_is_in_it(text: str, name: str) -> None:
    assert name_of(text) == name


@pytest.mark.parametrize("text", ["heuristic", "models:6", "mine.py", "Python:mine.py"])
def test_only_the_prefix_leads_to_a_file(text: str) -> None:
    assert python_file_of(text) is None


@pytest.mark.parametrize(
    "text", ["python:", "python:mine", "python:.py", "python:mine.py:", "python:mine.py:a b"]
)
def test_a_name_of_another_form_is_refused(text: str) -> None:
    assert "write python:FILE.py, or python:FILE.py:NAME" in refusal(text)


def test_the_only_class_that_answers_is_found_and_others_are_named(tmp_path: Path) -> None:
    code = f"from policies.play.named import RandomPolicy\n{EVEN}\nclass Odd(Even):\n    pass\n"
    text = write(tmp_path, EVEN)
    assert load_named(text).policy.source == "rule"
    assert load_named(f"{text}:Even").name == "mine.py:Even"
    text = write(tmp_path, code)
    assert refusal(text) == (
        f"mine.py: expected one class with a method `answer`, found Even, Odd; name one, as in {text}:Even"
    )
    assert load_named(f"{text}:Odd").policy.source == "rule"
    # what it only imports counts when it is named, and a function may make it
    assert load_named(f"{text}:RandomPolicy").policy.source == "rule"
    text = write(tmp_path, f"{EVEN}\ndef make():\n    return Even()\n")
    assert load_named(f"{text}:make").policy.source == "rule"


@pytest.mark.parametrize(
    ("code", "name", "told"),
    [
        ("x = 1", "", ": expected one class with a method `answer`, found no class with a method `answer`"),
        (EVEN, ":Odd", ": there is no 'Odd' in it; found Even"),
        (EVEN + "x = 1", ":x", ": x is neither a class nor a function that makes one"),
        ("import nothing_like_it", "", ": cannot be imported: line 1: ModuleNotFoundError: No module named "),
        ("x = 1\nraise KeyError('x')", "", ": cannot be imported: line 2: KeyError: 'x'"),
        ("import sys\nsys.exit(3)", "", ": cannot be imported: line 2: SystemExit: 3"),
        ("x = 1\ndef f(:", "", ": cannot be imported: line 2: SyntaxError: invalid syntax"),
        ("x = '\0'", "", ": cannot be imported: "),
        (EVEN.replace("source", "sauce"), "", ': Even needs `source = "rule"`, or "model" for a network'),
        (EVEN.replace('"rule"', '"fallback"'), "", ': Even needs `source = "rule"`'),
        (
            NEEDS_X,
            "",
            ": Even() failed: TypeError: Even.__init__() missing 1 required positional argument: 'x'",
        ),
        (EVEN + "def make(): raise SystemExit(3)", ":make", ":make: make() failed: line 7: SystemExit: 3"),
        (edited("return", "raise SystemExit(3); return"), "", f"{TRIED}line 6: SystemExit: 3"),
        (EVEN + "def make(): pass", ":make", ":make: make() made no policy: it has no method `answer`"),
        (
            edited("return", "each = questions[7]; return"),
            "",
            f"{TRIED}line 6: IndexError: list index out of",
        ),
        (edited("1 /", "float('nan') *"), "", f"{TRIED}a probability is not finite"),
    ],
)
def test_what_is_no_policy_is_refused_in_one_sentence(
    tmp_path: Path, code: str, name: str, told: str
) -> None:
    before = {name for name in sys.modules if name.startswith("_suzaku_policy")}
    assert refusal(write(tmp_path, code) + name).startswith(f"mine.py{told}")
    if "cannot be imported" in told:
        assert {name for name in sys.modules if name.startswith("_suzaku_policy")} == before


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("~nobody-here/mine.py", "no home folder is known for `~nobody-here`"),
        ("a\0.py", "a path cannot contain a NUL character"),
        (f"{'a' * 5000}.py", "cannot be read: File name too long"),
    ],
)
def test_what_can_be_no_file_is_refused(file: str, told: str) -> None:
    assert told in refusal(f"python:{file}")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert refusal(f"python:{tmp_path / 'mine.py'}").endswith(
        "mine.py: there is no such file; `python:` names a policy of your own"
    )
    (tmp_path / "mine.py").mkdir()
    assert "there is no such file" in refusal(f"python:{tmp_path / 'mine.py'}")


def test_what_lies_beside_the_file_can_be_imported_and_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "suzaku_test_beside.py").write_text(EVEN)
    (tmp_path / "policies.py").write_text("raise AssertionError")
    code = "import policies.flow.slots\nfrom suzaku_test_beside import Even\n"
    assert load_named(f"{write(tmp_path, code)}:Even").policy.source == "rule"
    sys.modules.pop("suzaku_test_beside")


def test_a_policy_is_known_by_its_text_and_travels_as_it(tmp_path: Path) -> None:
    text = write(tmp_path, EVEN)
    first, files = load_named(text), files_of_named(text)
    assert files == {"mine.py": EVEN.encode()}
    assert load_named(text).identity == first.identity
    assert load_named(f"{text}:Even").identity != first.identity
    write(tmp_path, f"{EVEN}# changed")
    assert load_named(text).identity != first.identity
    (tmp_path / "mine.py").unlink()
    assert load_named(text, files=files).identity == first.identity


def test_a_policy_is_shown_only_what_its_player_sees(tmp_path: Path) -> None:
    shown = "each.record['hand_known'].sum() == 1 and each.hidden() is None"
    code = edited("return", f"for each in questions: assert {shown}\n        return")
    policy = load_named(write(tmp_path, code)).policy  # the known hand's record holds two hands
    question = msgspec.structs.replace(known_questions()[0], hidden=lambda: HiddenTiles((), 0))
    assert len(policy.answer(question.slot, [question])) == 1


def test_an_error_at_the_table_names_the_line(tmp_path: Path) -> None:
    code = EVEN.replace("return", "if len(questions) > 2: questions[0].nothing\n        return")
    policy = load_named(write(tmp_path, code)).policy
    question = known_questions()[0]
    assert len(policy.answer(question.slot, [question])) == 1
    with pytest.raises(ModelError, match=r"kan slot: line 6: AttributeError: .* 'nothing'"):
        policy.answer(question.slot, [question] * 3)
