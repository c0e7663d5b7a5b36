"""Operators as hardware: expressions that a common pipeliner cuts into as many stages as wanted.

`library` is what the rest of the backend uses. An operator is a function from expressions to an
expression (`integers`, `floats`), `pipeline` cuts it, `delays` is the model by which it does, and
`data` holds what synthesis and routing measured of the outcome (`characterise` made it).
"""
