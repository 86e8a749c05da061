"""The Tenhou client: connecting, keepalive, reconnecting, and the journal of a run."""
