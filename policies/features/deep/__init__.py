"""The deep look-ahead, LA1 and LA2: winning hands a few tiles away, with their points and chances.

`planes` defines the planes; `memory` is the search's input and working memory; `suits` lists the possible
completions of each suit, `targets` combines suits into winning hands, `credit` records the value of each for
each discard.
"""
