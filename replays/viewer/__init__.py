"""The page that draws a table in the browser, for a finished game or one in progress."""
