"""Expressions in their kernels: values that loops carry, choices, functions, conversions."""

import numpy as np

from tests.emit.running import body, emitted, run, shown


def test_values_carried_by_loops_and_branches():
    text = """
    func.func @f(%x: memref<16xf32> {hls.name = "x"}, %out: memref<2xf32> {hls.name = "out"}) {
      %z = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %r:2 = affine.for %i = 0 to 16 iter_args(%a = %z, %b = %one) -> (f32, f32) {
        %p = affine.load %x[%i] : memref<16xf32>
        %s = arith.addf %a, %p : f32
        %w = affine.if affine_set<(d0) : (d0 - 8 >= 0)>(%i) -> f32 {
          affine.yield %p : f32
        } else {
          affine.yield %one : f32
        }
        %v = arith.mulf %b, %w : f32
        affine.yield %v, %s : f32, f32
      }
      affine.store %r#0, %out[0] : memref<2xf32>
      affine.store %r#1, %out[1] : memref<2xf32>
      return
    }"""
    x = np.linspace(0.5, 1.5, 16, dtype=np.float32)
    a, b = np.float32(0), np.float32(1)
    for i in range(16):
        a, b = b * (x[i] if i >= 8 else np.float32(1)), a + x[i]
    got = run(text, x=x, out=np.zeros(2, np.float32))
    assert got["out"].tolist() == [a, b]


def test_integers_are_carried_modulo_their_width():
    text = """
    func.func @f(%x: memref<9xi8> {hls.name = "x"}, %out: memref<1xi8> {hls.name = "out"}) {
      %z = arith.constant 3 : i8
      %r = affine.for %i = 0 to 9 iter_args(%a = %z) -> (i8) {
        %p = affine.load %x[%i] : memref<9xi8>
        %m = arith.muli %a, %p : i8
        %s = arith.addi %m, %a : i8
        affine.yield %s : i8
      }
      affine.store %r, %out[0] : memref<1xi8>
      return
    }"""
    x = np.array([5, -7, 100, 3, 17, -128, 127, 9, 1], np.int8)
    a = 3
    for v in x.tolist():
        a = a * v + a
    got = run(text, x=x, out=np.zeros(1, np.int8))["out"][0]
    assert got == np.array(a % 256).astype(np.int8)


def test_min_and_max_are_those_of_the_library():
    text = """
    func.func @f(%x: memref<4xf32> {hls.name = "x"}, %y: memref<4xf32> {hls.name = "y"}) {
      affine.for %i = 0 to 4 {
        %a = affine.load %x[%i] : memref<4xf32>
        %b = affine.load %y[%i] : memref<4xf32>
        %c = arith.cmpf olt, %b, %a : f32
        %m = arith.select %c, %b, %a : f32
        %z = arith.constant 0.0 : f32
        %d = arith.cmpf ogt, %z, %m : f32
        %n = arith.select %d, %z, %m : f32
        affine.store %n, %y[%i] : memref<4xf32>
      }
      return
    }"""
    assert "y[i] = std::max(std::min(x[i], y[i]), 0.0f);" in body(text)
    assert "#include <algorithm>" in emitted(text).text


def test_a_select_that_is_neither_is_a_choice():
    text = """
    func.func @f(%x: memref<4xf32> {hls.name = "x"}) {
      affine.for %i = 0 to 4 {
        %a = affine.load %x[%i] : memref<4xf32>
        %z = arith.constant 0.5 : f32
        %c = arith.cmpf ult, %a, %z : f32
        %n = arith.negf %a : f32
        %s = arith.select %c, %n, %a : f32
        affine.store %s, %x[%i] : memref<4xf32>
      }
      return
    }"""
    assert "x[i] = !(x_v >= 0.5f) ? -x_v : x_v;" in body(text)


def test_functions_and_conversions_of_floats():
    text = """
    func.func @f(%x: memref<4xf32> {hls.name = "x"}, %d: memref<4xf64> {hls.name = "d"}) {
      affine.for %i = 0 to 4 {
        %a = affine.load %x[%i] : memref<4xf32>
        %e = math.exp %a : f32
        %w = arith.extf %e : f32 to f64
        %s = math.sqrt %w : f64
        affine.store %s, %d[%i] : memref<4xf64>
        %b = affine.load %d[%i] : memref<4xf64>
        %t = arith.truncf %b : f64 to f32
        affine.store %t, %x[%i] : memref<4xf32>
        %j = arith.index_cast %i : index to i32
        %k = arith.sitofp %j : i32 to f32
        affine.store %k, %x[0] : memref<4xf32>
      }
      return
    }"""
    assert body(text) == shown("""
        i:
          for (int i = 0; i < 4; ++i) {
            d[i] = hls::sqrt(double(hls::exp(x[i])));
            x[i] = d[i];
            x[0] = float(i);
          }
        """)
