"""Trained models: their components, decoding, explanations and files.

`models.model.Model` is an encoder, a scorer, a pruner, an engine and a labeller.
`models.decoding.Decoder` parses with it. `models.model_file` reads and writes it, in one file.
"""
