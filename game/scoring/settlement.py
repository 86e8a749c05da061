"""Payments, the next dealer, the end of a game and its final results.

Source: Tenhou's rules as observed in recorded games (every transition and every end of four-player games).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from game.events import Four, four

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from game.scoring.value import WinValue

GameLength: TypeAlias = Literal["hanchan", "tonpuu"]
RewardKind: TypeAlias = Literal["points", "global"]
"""The unit in which a round is valued: its points, or the change of the expected final reward."""

START_SCORE: Final = 25_000
RETURN_SCORE: Final = 30_000
RIICHI_STICK: Final = 1_000
HONBA_POINTS: Final = 300
NOTEN_PENALTY: Final = 3_000
MANGAN_BASE: Final = 2_000

LAST_ROUND: Final[dict[GameLength, int]] = {"tonpuu": 3, "hanchan": 7}
"""Index of the last regular round; the next wind is played only while no player has 30,000."""
YAKU_DAISANGEN: Final = 39
YAKU_DAISUUSHII: Final = 49
UMA_TENTHS: Final = (200, 100, -100, -200)
OKA_TENTHS: Final = 200


def ron_points(base: int, is_dealer: bool) -> int:
    """The discarder's payment for a hand of these basic points.

    >>> ron_points(30 << 6, is_dealer=False), ron_points(2000, is_dealer=True)
    (7700, 12000)
    """
    return _ceil100(base * (6 if is_dealer else 4))


def tsumo_payments(base: int, is_dealer: bool) -> tuple[int, int]:
    """The payments of a dealer and a non-dealer for a tsumo; equal if the winner deals.

    >>> tsumo_payments(30 << 6, is_dealer=False), tsumo_payments(2000, is_dealer=True)
    ((3900, 2000), (4000, 4000))
    """
    double = _ceil100(2 * base)
    return double, double if is_dealer else _ceil100(base)


def tsumo_points(base: int, is_dealer: bool) -> int:
    """What the winner receives for a tsumo, from all players.

    >>> tsumo_points(30 << 6, is_dealer=False)
    7900
    """
    from_dealer, from_other = tsumo_payments(base, is_dealer)
    return from_dealer + 2 * from_other


def liable_player(record: np.void, player: int, value: WinValue) -> int:
    """The player who must pay for the yakuman of this win (pao), -1 for none."""
    if YAKU_DAISANGEN in value.yakuman:
        return int(record["liable_dragons"][player])
    if YAKU_DAISUUSHII in value.yakuman:
        return int(record["liable_winds"][player])
    return -1


def deltas(
    value: WinValue,
    player: int,
    from_player: int,
    dealer: int,
    *,
    honba: int = 0,
    riichi_sticks: int = 0,
    liable: int = -1,
) -> Four:
    """Change of every score by one win.

    Args:
        value: value of the hand.
        player: the winner.
        from_player: the discarder; ``player`` for a tsumo.
        dealer: the dealer.
        honba: repeat counters paid with this win; 0 for the second of a double ron.
        riichi_sticks: sticks collected with this win; 0 for the second of a double ron.
        liable: the player liable for a completed yakuman (`liable_player`), who pays all of a tsumo and half
            of a ron, for the whole hand including its other yakuman, and all of the honba.
    """
    changes = [0, 0, 0, 0]
    bonus = HONBA_POINTS * honba
    if player == from_player and liable < 0:
        from_dealer, from_other = tsumo_payments(value.base, player == dealer)
        for payer in range(4):
            if payer != player:
                changes[payer] -= (from_dealer if payer == dealer else from_other) + bonus // 3
    else:
        points = ron_points(value.base, player == dealer)
        if liable < 0 or liable == from_player:
            changes[from_player] -= points + bonus
        elif player == from_player:
            changes[liable] -= points + bonus
        else:
            changes[from_player] -= points // 2
            changes[liable] -= points // 2 + bonus
    changes[player] = -sum(changes) + RIICHI_STICK * riichi_sticks
    return four(changes)


def draw_deltas(tenpai: Sequence[bool]) -> Four:
    """Change of every score when the wall runs out: the players who are not tenpai pay 3,000 in total.

    >>> draw_deltas([True, False, False, False])
    (3000, -1000, -1000, -1000)
    """
    ready = sum(map(bool, tenpai))
    if ready in (0, 4):
        return (0, 0, 0, 0)
    gain, loss = NOTEN_PENALTY // ready, NOTEN_PENALTY // (4 - ready)
    return four(gain if is_ready else -loss for is_ready in tenpai)


def nagashi_deltas(players: Sequence[int], dealer: int) -> Four:
    """Change of every score by nagashi mangan: a mangan tsumo for each of ``players``, without honba.

    >>> nagashi_deltas([1], dealer=0)
    (-4000, 8000, -2000, -2000)
    """
    changes = [0, 0, 0, 0]
    for winner in players:
        from_dealer, from_other = tsumo_payments(MANGAN_BASE, winner == dealer)
        for payer in range(4):
            if payer != winner:
                paid = from_dealer if payer == dealer else from_other
                changes[payer] -= paid
                changes[winner] += paid
    return four(changes)


def placements(scores: Sequence[int]) -> Four:
    """Place 1–4 of each player; ties go by seat order in the first round.

    >>> placements([25_000, 30_000, 25_000, 20_000])
    (2, 1, 3, 4)
    """
    order = sorted(range(4), key=lambda player: (-int(scores[player]), player))
    return four(order.index(player) + 1 for player in range(4))


def final_scores(scores: Sequence[int], riichi_sticks: int) -> Four:
    """Scores at the end of a game: the sticks left on the table go to first place."""
    first = placements(scores).index(1)
    left = RIICHI_STICK * riichi_sticks
    return four(int(score) + left * (player == first) for player, score in enumerate(scores))


def final_results(scores: Sequence[int]) -> Four:
    """Results of a game in tenths of a point, uma and oka included, not rounded.

    Args:
        scores: final scores (`final_scores`).

    >>> final_results([41_200, 27_800, 26_000, 5_000])
    (512, 78, -140, -450)
    """
    places = placements(scores)
    return four(
        (int(score) - RETURN_SCORE) // 100 + UMA_TENTHS[place - 1] + OKA_TENTHS * (place == 1)
        for score, place in zip(scores, places, strict=True)
    )


def next_round(round_index: int, honba: int, *, dealer_repeats: bool, won: bool) -> tuple[int, int]:
    """Index and honba of the round that follows if the game continues.

    Args:
        round_index: the round just played.
        honba: its repeat counters.
        dealer_repeats: the dealer won, was tenpai at the end of the wall, or the round was aborted.
        won: the round ended with a win.

    >>> next_round(3, 1, dealer_repeats=False, won=True), next_round(3, 1, dealer_repeats=True, won=False)
    ((4, 0), (3, 2))
    """
    if dealer_repeats:
        return round_index, honba + 1
    return round_index + 1, 0 if won else honba + 1


def game_over(
    round_index: int, dealer_repeats: bool, scores: Sequence[int], length: GameLength, *, aborted: bool
) -> bool:
    """Whether the game ends with this round.

    A score below 0 ends it at once. From the last regular round on, 30,000 end it when the deal would pass,
    and when the dealer repeats and is first with 30,000 (agari-yame, tenpai-yame), but not after an abort.
    The last round of the next wind always ends it when the deal would pass.

    Args:
        round_index: the round just played.
        dealer_repeats: as for `next_round`.
        scores: after the round, without the sticks left on the table.
        length: length of the game.
        aborted: the round was aborted (nine terminals, four winds, riichi or kans, triple ron).

    Source: observed, 19,000 games; those before June 2010 had no tenpai-yame.
    """
    last = LAST_ROUND[length]
    if min(scores) < 0:
        return True
    if round_index < last or aborted:
        return False
    enough = max(scores) >= RETURN_SCORE
    if dealer_repeats:
        return enough and placements(scores)[round_index % 4] == 1
    return enough or round_index >= last + 4


def _ceil100(points: int) -> int:
    return -(-points // 100) * 100
