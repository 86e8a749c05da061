"""Whole hidden deals for one player's view: the opponents' hands, and the wall in order."""

from policies.deals.deal import Deals, DealSampler
from policies.deals.learned import DealsOfHands
from policies.deals.uniform import UniformDeals, UniformHands
from policies.deals.view import RoundView

__all__ = ["DealSampler", "Deals", "DealsOfHands", "RoundView", "UniformDeals", "UniformHands"]
