"""What placement and routing are expected to make of the totals that HLS reports."""
