"""Learners and the loop that runs them."""
