"""Converters from labelled data sets to designs; the data themselves stay outside the package."""
