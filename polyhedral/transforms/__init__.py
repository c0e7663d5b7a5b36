"""One file a step: ``transform(state, step) -> state``, structure only.

Each registers itself (see `polyhedral.transforms.registry`); a new one is a line here. Whether the
new order is legal is asked once, in `polyhedral.schedule`, of the state that results. `guarding` is
no step: it is what some of them bring with them.
"""

from polyhedral.transforms.arrays import (  # noqa: F401
    auto_partition,
    expand,
    mirror,
    pack,
    partition,
    replicate,
    reshape,
    versions,
)
from polyhedral.transforms.carried import (  # noqa: F401
    carry,
)
from polyhedral.transforms.directives import (  # noqa: F401
    allocation,
    binding,
    cache,
    dataflow,
    latency,
    leave,
    performance,
    pipeline,
    stable,
    unbalanced,
)
from polyhedral.transforms.loops import (  # noqa: F401
    align,
    distribute,
    fuse,
    if_convert,
    join,
    peel,
    reorder,
    reverse,
    separate,
    shift,
    skew,
    split,
    spread,
    tile,
    trim,
    unflatten,
    unite,
    unroll,
)
from polyhedral.transforms.recurrences import (  # noqa: F401
    critical_last,
    locate,
    partial_sums,
    pivot,
    reassociate,
    reciprocal,
    scan,
    strength_reduce,
    tree,
    two_pass,
)
from polyhedral.transforms.tiles import (  # noqa: F401
    buffer,
)
from polyhedral.transforms.windows import (  # noqa: F401
    reuse,
)
