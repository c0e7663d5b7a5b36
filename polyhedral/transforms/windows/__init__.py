"""Line buffers and windows: the step `reuse`, and what it is made of."""
