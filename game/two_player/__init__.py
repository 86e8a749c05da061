"""Two-player mahjong, the game of the CFR-p paper: 64 tiles, three phases a turn, two patterns of 2 points.

The rules and what the paper leaves open are in ``docs/two-player.md``.

Source: S. Wang, "CFR-p: Counterfactual Regret Minimization with Hierarchical Policy Abstraction, and its
Application to Two-player Mahjong", section 2.
"""
