"""The look of every page, light or dark as the reader has it."""

import base64
import hashlib

STYLE = """
:root { color-scheme: light dark; --ink: #1d2327; --paper: #fdfcfa; --line: #ddd8cf; --link: #8a3b12;
  --soft: #f3efe8; --new: #d9f2dc; --old: #fbdedb }
@media (prefers-color-scheme: dark) { :root { --ink: #dcd7cf; --paper: #1b1a18; --line: #3b3833;
  --link: #e9a06f; --soft: #262421; --new: #1f3d25; --old: #4a2422 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 46rem; padding: 0 1rem 4rem; color: var(--ink); background: var(--paper);
  font: 17px/1.6 system-ui, sans-serif }
header { display: flex; gap: 1.2rem; align-items: center; padding: 1rem 0;
  border-bottom: 1px solid var(--line) }
header nav { display: flex; gap: 1rem; flex: 1 }
.home { font-weight: 700; font-size: 1.2rem; color: inherit }
a { color: var(--link); text-decoration: none }
a:hover { text-decoration: underline }
a.missing { color: #b3261e; border-bottom: 1px dashed }
a.outside::after { content: "\\2197"; font-size: .75em; vertical-align: super }
.tabs { display: flex; gap: 1.2rem; margin: 1rem 0; font-size: .9rem }
.tabs a[aria-current] { color: inherit; border-bottom: 2px solid var(--link) }
h1, h2, h3, h4 { line-height: 1.25; margin: 1.6em 0 .5em }
h1 { font-size: 1.9rem; margin-top: .6em }
img { max-width: 100%; border-radius: 4px }
pre, .diff { background: var(--soft); padding: .8rem 1rem; border-radius: 4px; overflow-x: auto;
  font: 14px/1.5 ui-monospace, monospace }
code { font: .88em ui-monospace, monospace; background: var(--soft); padding: .1em .3em; border-radius: 3px }
pre code { padding: 0; font-size: 1em }
blockquote { margin: 1em 0; padding-left: 1rem; border-left: 3px solid var(--line) }
input, textarea, button { font: inherit; color: inherit; background: var(--paper); padding: .4rem .6rem;
  border: 1px solid var(--line); border-radius: 4px }
header input { width: 10rem }
textarea { width: 100%; font: 15px/1.5 ui-monospace, monospace }
button { background: var(--link); border-color: var(--link); color: var(--paper); cursor: pointer }
.row { display: flex; gap: .6rem; align-items: center; margin-top: .6rem }
.row input:not([type=file]) { flex: 1 }
.list { list-style: none; padding: 0 }
.list li { padding: .4rem 0; border-bottom: 1px solid var(--line) }
.list form { display: inline; float: right }
.list button { padding: .1rem .5rem; font-size: .85rem }
.note { color: color-mix(in srgb, var(--ink) 65%, var(--paper)); font-size: .9rem }
.warning { background: var(--old); padding: .6rem 1rem; border-radius: 4px }
.diff div { white-space: pre-wrap; min-height: 1.5em }
.diff ins, .diff del { text-decoration: none; display: block }
.diff ins { background: var(--new) }
.diff del { background: var(--old) }
mark { background: #ffe58a; color: #1d2327 }
"""

# Names the style in a Content-Security-Policy: with it, no other style inside a page is applied.
STYLE_HASH = f"'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"
