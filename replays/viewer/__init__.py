"""The page that draws a table in the browser, for a finished game or one in progress."""

from replays.viewer.page import PageError, duel_page, index_page, page

__all__ = ["PageError", "duel_page", "index_page", "page"]
