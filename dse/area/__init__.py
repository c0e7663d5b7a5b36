"""LUTs and block RAM of design points, cheaply: by the figures that `qor_gnn.area` counts with, without a schedule."""
