"""The page that draws a table in the browser, of a game that is over or of one that goes on."""

from replays.viewer.page import PageError, index_page, page

__all__ = ["PageError", "index_page", "page"]
