"""The public functions that explore, as `weft` shows them."""
