"""Training: learners, update rules and the training loop."""
