"""Tool personalities: what one version of an HLS tool does at one clock on one device, as data."""
