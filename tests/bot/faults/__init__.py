"""Faults injected into play; the numbers in the names of the tests are those of docs/faults.md."""
