"""The client's address, as far as it is known."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import Scope

Address = IPv4Address | IPv6Address


def client(scope: Scope, header: str | None) -> str | None:
    """The client's key for rate limits, or None if only a proxy is known.

    A header is trusted only if the operator names it, and only its last entry: the proxy in front of us wrote that one,
    the client may have written the others. Without a header, a private or loopback peer is taken for a proxy with
    unknown clients behind it. Programs on this machine are never limited.
    """
    if header:
        named = _parsed(Headers(scope=scope).get(header, "").rpartition(",")[2])
        return _network(named) if named is not None and not named.is_loopback else None
    peer = _parsed((scope.get("client") or ("",))[0])
    return _network(peer) if peer is not None and peer.is_global else None


def _parsed(text: str) -> Address | None:
    try:
        return ip_address(text.strip().strip("[]"))
    except ValueError:
        return None


def _network(address: Address) -> str:
    """One household has one IPv4 address, or a whole /64 of IPv6."""
    return str(ip_network((address, 64), strict=False)) if address.version == 6 else str(address)
