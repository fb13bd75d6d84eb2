"""Where a draft lacks a citation, and which to put there."""
