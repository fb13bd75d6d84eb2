"""What the readers of Markdown, Typst and plain text share."""
