"""Measurements of models: `suzaku eval` (except exploitability, in `learning.cfr`) and `suzaku bench`."""
