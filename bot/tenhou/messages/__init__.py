"""Tenhou's frames as structs: everything the rest of the program needs from the wire, under one name.

`parse_server` and `parse_client` read one frame, `render_json` and `render_xml` write one; see
`bot.tenhou.messages.server_messages` and `bot.tenhou.messages.client_messages` for the structs.
"""

from bot.tenhou.messages.client_messages import *  # noqa: F403 - every kind of frame, here and below
from bot.tenhou.messages.element import MAX_FRAME_BYTES as MAX_FRAME_BYTES
from bot.tenhou.messages.parse_client import parse_client as parse_client
from bot.tenhou.messages.parse_server import parse_server as parse_server
from bot.tenhou.messages.render import percent as percent
from bot.tenhou.messages.render import render_json as render_json
from bot.tenhou.messages.render import render_xml as render_xml
from bot.tenhou.messages.server_messages import *  # noqa: F403
