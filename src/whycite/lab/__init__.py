"""The laboratory: training, evaluation and labelling."""
