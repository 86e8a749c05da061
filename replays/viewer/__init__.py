"""The page that draws a table in the browser, for a finished game or one in progress."""

from replays.viewer.page import PageError, index_page, page

__all__ = ["PageError", "index_page", "page"]
