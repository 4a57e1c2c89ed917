"""The page a new wiki starts with."""

HOME = "Home"

WELCOME = """\
This wiki is a WSGI application of a few hundred lines: Python's standard library and SQLite. \
Change this page, or follow a link to a page that is not there yet, such as [[Ideas]], and write \
it.

# Markup

- `[[Ideas]]` links to a page, `[[Ideas|some ideas]]` does so in other words
- `[PEP](https://peps.python.org)` links elsewhere: [PEP](https://peps.python.org)
- `![a cat](cat.png)` shows an uploaded image
- `**bold**`, `*italic*` and code between backquotes give **bold**, *italic* and `code`

A line that starts with `#`, `##` or `###` is a heading, `-` and `1.` start items of lists, \
`>` quotes, `---` draws a rule, and three backquotes on a line of their own begin and end text kept as it is:

```
def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"Hello"]
```
"""
