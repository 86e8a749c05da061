"""Reviews: one game from one seat, with each decision compared with a policy's choice.

`schema` defines the output.
"""
