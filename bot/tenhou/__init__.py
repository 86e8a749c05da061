"""Tenhou's protocol: messages, the sans-I/O session, the client and the local lobby."""
