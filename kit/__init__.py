"""Files, processes, compiled kernels and printing: nothing here knows mahjong."""
