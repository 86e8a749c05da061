"""The networks' input: planes of 34 tile kinds, encoded from states by compiled kernels.

`table` defines the content of every plane; `encode` fills them; `permute` permutes tiles.
"""
