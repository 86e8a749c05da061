"""Whole hidden deals for one player's view: the opponents' hands, and the wall in order."""

from policies.deals.deal import Deals, DealSampler, RoundView
from policies.deals.named import DealsOfHands
from policies.deals.uniform import UniformDeals

__all__ = ["DealSampler", "Deals", "DealsOfHands", "RoundView", "UniformDeals"]
