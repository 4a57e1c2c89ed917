"""The native part of `pronghorn`."""

__all__ = ["RequestTimeout", "__version__", "main", "run"]

__version__: str

class RequestTimeout(BaseException):
    """Raised in the code of a request that has run for longer than `request-timeout`."""

def main(argv: list[str]) -> int:
    """Do what the arguments, without the program's name, ask for, and return the exit status."""

def run(app: object, settings: dict[str, object]) -> None:
    """Serve `app` with `settings`, by the names of the settings in Python, and return after the drain."""
