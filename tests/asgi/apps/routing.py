"""One application out of functions, each of which answers the paths that begin with its name."""


def routed(*functions, kind="http"):
    """An application that calls `function(scope, receive, send, argument)`; `argument` is what follows the second slash of the path.

    It is for scopes of that kind, and knows no lifespan.
    """
    routes = {function.__name__: function for function in functions}

    async def app(scope, receive, send):
        assert scope["type"] == kind, f"{scope['type']} is not for this application"
        name, _, argument = scope["path"].lstrip("/").partition("/")
        await routes[name](scope, receive, send, argument)

    return app
