"""The applications the tests serve. Each module stands alone: the server imports it from this folder."""
