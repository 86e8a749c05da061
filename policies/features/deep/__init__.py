"""The deep look-ahead, LA1 and LA2: winning hands a few tiles away, with their points and their chances.

`planes` says what the planes hold; `desk` is what the search reads and the room it works in; `suits` lists
what each suit may become, `targets` puts suits together into winning hands, `credit` notes what each is worth
to which discard.
"""

from policies.features.deep.planes import lookahead_deep

__all__ = ["lookahead_deep"]
