"""Operator tables out of facts that reports show: what ``qor_gnn/tools/operators/data`` is distilled by."""
