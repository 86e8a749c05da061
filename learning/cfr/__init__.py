"""Counterfactual regret minimisation on two-player mahjong.

Source: M. Zinkevich et al., "Regret minimization in games with incomplete information", 2007; the variants
are named where they are used.
"""
