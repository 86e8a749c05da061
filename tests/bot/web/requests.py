"""Requests to a served page, as browsers and strangers send them."""

from __future__ import annotations

import http.client
from typing import NamedTuple

PATIENCE_S = 240.0
"""A busy machine may take long over something that is immediate on an idle one."""
TOKEN = "0123456789abcdefTOKEN"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


def asked(port: int, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> Answer:
    """The answer to a request, with the header of our own name unless another is given."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    line.putrequest(method, path, skip_host=True)
    usual = {"host": f"127.0.0.1:{port}", "content-length": str(len(body))}
    for name, value in (usual | headers).items():
        line.putheader(name, value)
    line.endheaders(body)
    answer = line.getresponse()
    told = {name.lower(): value for name, value in answer.getheaders()}
    found = Answer(answer.status, told, answer.read())
    line.close()
    return found
