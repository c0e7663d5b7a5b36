"""From statement copies to blocks of operations, and what makes a block smaller."""
