"""Projects: a draft, its papers and the verdicts on its citations, kept in the user's data folder."""
