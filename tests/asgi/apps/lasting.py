"""Going on, whatever became of the client."""

import asyncio


async def stay(name, seconds):
    """Goes on for so many seconds, and says how that ended."""
    print(name, "stays")
    try:
        await asyncio.sleep(float(seconds))
        print(name, "stayed to the end")
    except asyncio.CancelledError:
        print(name, "was cancelled")
        raise
