"""Parsing on clusters: `arbora.distributed.ray` and `arbora.distributed.spark`.

Each requires the extra of its name, and is imported only when asked for.
"""
