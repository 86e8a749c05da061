"""The bodies of the networks: how the columns of a position learn from each other.

Each module has the layers of one tower: a first layer over the planes (``stem``), blocks, and the two heads.
`policies.nets.networks` builds a network from them.
"""
