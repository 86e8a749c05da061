"""Pages and the files they load: those of a page's own folder, and those of the viewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from starlette.responses import HTMLResponse, PlainTextResponse, Response

from replays.viewer.page import WEB, embed, styles

_PAGE: Final = files("bot.dashboard") / "web" / "page.html"


def page_of(name: str, module: str, data: bytes | dict[str, object]) -> HTMLResponse:
    """A page.

    Args:
        name: id of the element with its data.
        module: the module that starts it.
        data: a JSON object for it.
    """
    text = _PAGE.read_text(encoding="utf-8")
    return HTMLResponse(text.format(name=name, data=embed(data), module=module))


def served_file(name: str, modules: Mapping[str, Traversable], sheets: Sequence[Traversable]) -> Response:
    """A file that a page loads: ``style.css`` or a module.

    Args:
        name: as requested.
        modules: the folders of modules beside the viewer's, by their names.
        sheets: style sheets in addition to the viewer's.
    """
    if name == "style.css":
        own = "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
        return Response(styles() + own, media_type="text/css")
    # none but these names, so none that leads elsewhere
    folder = modules.get(name) or (WEB if name in _viewer_modules() else None)
    if folder is None:
        return PlainTextResponse("No such file.\n", 404)
    return Response((folder / name).read_text(encoding="utf-8"), media_type="text/javascript")


def _viewer_modules() -> set[str]:
    return {entry.name for entry in WEB.iterdir() if entry.name.endswith(".js")}
