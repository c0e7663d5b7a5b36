"""What several tests share: random programs and schedules, and a ground truth without isl."""
