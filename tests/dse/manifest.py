"""A manifest that says all that a run's must."""

WHOLE = {
    "schema_version": 1,
    "kernel": "gemm",
    "program": "0",
    "size": None,
    "device": "xc7z020",
    "clock_ns": 10,
    "timeout": 60,
    "limits": {"dsp": 220},
    "latency_limit": None,
    "objectives": ["latency"],
    "strategy": "auto",
    "source": "gemm.py:gemm",
}
