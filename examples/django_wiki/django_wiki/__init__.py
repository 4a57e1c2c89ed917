"""The project: settings, addresses and the WSGI application."""
