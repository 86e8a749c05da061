"""A trained model on disk: its card, ``<model>.json``, and its weights, ``<model>-<hash>.safetensors``.

The card describes the network, its features, training data and accuracy, and names the file of weights by
its hash. Weights are written first and the card is replaced atomically, so that an interrupted save leaves
either the old checkpoint or the new one. Loading trusts nothing: sizes, names and shapes are checked before
memory is allocated, and nothing in the files is executed.

`card` defines the card; `tensors` reads weights; `files` accesses the disk;
`store` combines them.
"""
