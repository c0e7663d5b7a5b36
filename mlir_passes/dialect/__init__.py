"""The `hls` dialect: its ops and attributes, and what a module must fulfil."""
