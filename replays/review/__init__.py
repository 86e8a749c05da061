"""Reviews: one game from one seat, each decision held against what a policy would have done.

`schema` is what comes out.
"""
