"""What people say about claims and passages: tasks, answers, and the truth out of several labellers (the thesis, 4)."""
