"""Which clients may connect to the lobby: programs and pages of this machine, and Tenhou's own page.

A browser truthfully reports the origin of a page (``Origin``) and the name it requested (``Host``), so no
other page can start games here, nor can a page whose name was made to resolve to this machine.
"""

from __future__ import annotations

from typing import Final

from websockets.datastructures import Headers

from bot.tenhou.gate import host_name, parse_url

TENHOU_PAGE: Final = "https://tenhou.net"

_SHOWN: Final = 100


def refusal_of(headers: Headers, own_host: str = "") -> str | None:
    """Why a handshake is refused, None if it is accepted.

    Args:
        headers: headers of its request.
        own_host: another name of this machine under which clients may request the lobby, empty for none.
    """
    for origin in headers.get_all("Origin"):
        scheme, _, page = origin.partition("://")
        if origin != TENHOU_PAGE and not (scheme in ("http", "https") and _is_here(page)):
            return f"pages of {origin[:_SHOWN]!r} may not play here (Origin)"
    hosts = headers.get_all("Host")
    if len(hosts) != 1 or not _is_here(hosts[0], own_host):
        return f"connect to this lobby as 127.0.0.1 or localhost, not as {', '.join(hosts)[:_SHOWN]!r} (Host)"
    return None


def _is_here(text: str, own_host: str = "") -> bool:
    """Whether ``host`` or ``host:port`` is this machine, or the configured ``own_host``."""
    server = None if "/" in text else parse_url(f"ws://{text}")
    if server is None:
        return False
    return server.is_here or bool(own_host and server.host == host_name(own_host))
