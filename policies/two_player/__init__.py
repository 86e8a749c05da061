"""Players of two-player mahjong: three abstract policies, and the choice between them.

Source: the CFR-p paper, sections 3 and 4.
"""
