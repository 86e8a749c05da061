"""The gain of one policy over another, decision by decision: `suzaku arena --differences`.

By the performance-difference lemma, the gain of A over B is the sum, over A's own decisions, of the advantage
of A's choice over B's if B plays on. So A plays in one seat against three of B. Wherever B would have
chosen otherwise, both choices are played out to the end of the round by B in every seat, with the true hands,
over the same redrawn walls. The game then goes on with A's choice. Luck is common to both sides of a
difference, so few games say as much as a match of many.

Two things bias it: effects on later rounds count only through points or the predictor, and a horizon adds
the critic's errors.

Source: Kakade and Langford, "Approximately optimal approximate reinforcement learning", ICML 2002, lemma 6.1.
"""
