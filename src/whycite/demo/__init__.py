"""What `whycite demo` works on: articles of the Public Library of Science, and a small draft written for whycite."""
