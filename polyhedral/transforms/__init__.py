"""One file a step: ``transform(state, step) -> state``, structure only.

Each registers itself (see `polyhedral.transforms.registry`); a new one is a line here. Whether the
new order is legal is asked once, in `polyhedral.schedule`, of the state that results. `guarding` is
no step: it is what some of them bring with them.
"""

from polyhedral.transforms import (  # noqa: F401
    align,
    allocation,
    auto_partition,
    binding,
    buffer,
    cache,
    carry,
    critical_last,
    dataflow,
    distribute,
    expand,
    fuse,
    latency,
    locate,
    mirror,
    pack,
    partial_sums,
    partition,
    performance,
    pipeline,
    reassociate,
    reorder,
    replicate,
    reshape,
    reuse,
    reverse,
    scan,
    shift,
    skew,
    split,
    stable,
    tile,
    unbalanced,
    unroll,
)
