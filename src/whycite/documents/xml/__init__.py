"""XML files, read with the place of every character and without ever expanding or fetching anything."""
