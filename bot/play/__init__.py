"""A run of `suzaku play` or `suzaku lobby`."""
