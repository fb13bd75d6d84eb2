"""Every table of the three papers behind whycite, made anew and set beside the published figures."""
