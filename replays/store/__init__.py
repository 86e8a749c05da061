"""Games as files: a library of our own, its index, and shards of many games."""
