"""What web pages share: the port, access, the server, the sockets, and the files that pages load."""
