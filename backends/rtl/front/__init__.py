"""From a level 3 module to the graph that the RTL backend schedules."""
