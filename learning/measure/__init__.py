"""Measures of models: `suzaku eval` (exploitability is in `learning.cfr`) and `suzaku bench`."""
