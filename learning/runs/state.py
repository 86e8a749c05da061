"""The folder of a training run: its curves, and its state, a file that is replaced atomically."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec
import structlog
import torch

from kit.errors import CheckpointError, ConfigError, TrainingError
from kit.files import check_hash, hash_beside, hold_folder, remove_leftovers, replace_hashed
from kit.options import flag_of

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

STATE_FILE: Final = "state.pt"
CURVES_FOLDER: Final = "curves"

_log = structlog.get_logger(__name__)


class RunFolder:
    """Folder of one run.

    Args:
        folder: created when something is saved.
        plan: the settings; the state of another run is refused, unless it only lacks fields that have their
            defaults here, or is larger here in fields that its type says it ``grows``.
        others: what else determines the run's numbers, as plain values.
    """

    file = STATE_FILE

    def __init__(self, folder: Path, plan: msgspec.Struct, others: Mapping[str, Any]) -> None:
        self.folder = folder
        self._plan = plan
        self.identity = msgspec.json.encode({"plan": plan, **others}).decode()

    def load(self) -> dict[str, Any] | None:
        """The saved state, None if there is none.

        Raises:
            ConfigError: it belongs to another run.
            TrainingError: it cannot be read.
        """
        path = self.folder / self.file
        remove_leftovers(self.folder)
        if not path.exists():
            return None
        if not hash_beside(path).exists():
            _log.warning("training.state_unchecked", file=str(path), reason="there is no hash beside it")
        try:
            check_hash(path)
            state = self.read(path)
            different = self._differences(state.pop("identity"))
        except CheckpointError as exc:
            raise TrainingError(f"{exc}; remove it to start again") from exc
        except Exception as exc:  # torch, zipfile and the unpickler each raise their own
            what = f"it has no {exc}" if isinstance(exc, KeyError) else str(exc).partition("\n")[0]
            raise TrainingError(f"{path}: cannot be read ({what}); remove it to start again") from exc
        if different:
            raise ConfigError(
                f"{self.folder} holds another run, which differs in {different}; "
                "choose another --out, or remove that folder to start again"
            )
        return state

    def _differences(self, identity: str) -> str:
        """What differs in another identity, if it is that of another run."""
        theirs, ours = (
            msgspec.json.decode(each, type=dict[str, msgspec.Raw]) for each in (identity, self.identity)
        )
        names = _differing(self._plan, msgspec.json.decode(theirs.pop("plan"), type=type(self._plan)))
        del ours["plan"]
        return ", ".join([*names, *(name for name, value in ours.items() if theirs.get(name) != value)])

    def save(self, state: Mapping[str, Any]) -> None:
        """Replace the saved state.

        Raises:
            TrainingError: it cannot be written; the old state is still there.
        """
        path = self.folder / self.file
        data = self.encoded({**state, "identity": self.identity})
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_hashed(path, data)
        except OSError as exc:
            raise TrainingError(
                f"{path}: cannot be written ({exc}); free some space and start again"
            ) from exc

    def read(self, path: Path) -> dict[str, Any]:
        """The state in a file, with its ``identity``."""
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        return state

    def encoded(self, state: Mapping[str, Any]) -> bytes:
        """The file of a state."""
        data = io.BytesIO()
        torch.save(dict(state), data)
        return data.getvalue()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from the folder.

        Raises:
            ConfigError: another one has it.
            TrainingError: it cannot be made.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise TrainingError(f"{self.folder}: cannot be made ({exc}); choose another --out") from exc
        with hold_folder(self.folder):
            yield

    def curves(self, step: int) -> Curves:
        """The run's curves, from a step on; points beyond it are discarded."""
        return Curves(self.folder / CURVES_FOLDER, step)


class Curves:
    """Curves for TensorBoard: `tensorboard --logdir OUT/runs`."""

    def __init__(self, folder: Path, step: int) -> None:
        self._folder = folder
        self._step = step
        self._writer: SummaryWriter | None = None

    def __enter__(self) -> Self:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - takes a second

        self._writer = SummaryWriter(str(self._folder), purge_step=self._step + 1 if self._step else None)
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """Add the values of a step."""
        assert self._writer is not None, "added outside of `with`"
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()


def _differing(ours: Any, theirs: Any) -> list[str]:
    """The flags of the settings in which two plans differ, by which one does not continue the other."""
    names = []
    for field in msgspec.structs.fields(ours):
        one, other = getattr(ours, field.name), getattr(theirs, field.name)
        if isinstance(one, msgspec.Struct) and type(one) is type(other):
            names += _differing(one, other)
        elif one != other and not (field.name in getattr(ours, "grows", ()) and (not one or 0 < other < one)):
            names.append(flag_of(field.name, field.type) or field.name)
    return names
