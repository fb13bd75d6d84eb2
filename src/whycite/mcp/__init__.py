"""Tools for assistants: a server of the Model Context Protocol, with the same answers as the command line."""
