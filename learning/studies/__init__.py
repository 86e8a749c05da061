"""Experiments on what improves the discard model: many resumable runs and one report, by one command.

`study` defines what a study is; each further module is one: ``parts`` removes parts from the plan of the
included network or adds them, at equal samples; ``data`` trains the same network on a growing share of the
games; ``towers`` compares towers and sizes; ``hosei`` repeats the comparison of Hosei's paper. `command`
lists and runs them. Runs are evaluated on the validation split; the test split is reserved for the included
networks and for figures by which nothing is chosen.
"""
