"""What the networks see: planes of 34 tile kinds, encoded from states by compiled kernels.

`table` says what every plane holds; `encode` fills them; `permute` renames tiles.
"""
