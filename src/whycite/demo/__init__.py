"""A small draft, written for whycite, to try it on."""
