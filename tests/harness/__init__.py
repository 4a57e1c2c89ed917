"""What the tests drive a server with: its process, a raw client, a strict reader of responses."""
