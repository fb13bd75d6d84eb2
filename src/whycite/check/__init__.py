"""Where a draft lacks a citation, and which papers fit there."""
