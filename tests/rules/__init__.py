"""The rules of HTTP and WSGI the server keeps: one module of checks per group, one test module that runs them."""
