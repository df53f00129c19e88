/// The cosine of the "Freely Distributable Math Library" (fdlibm 5.3, Sun Microsystems), which ECMA-262
/// recommends for `Math.cos` (section 21.3) and Node uses to run the reference implementation of ThumbHash.
///
/// The system's cosine is as exact, but differs in the last bit once in thirty times. That is enough to
/// change the hash of a picture of one colour, whose frequencies all consist of such bits.
enum Cosine {
  /// Returns the cosine of a number in 0…40, in radians.
  static func of(_ x: Double) -> Double {
    // At most π / 4.
    if highWord(x) <= 0x3fe9_21fb { return cosine(x, 0) }
    let (quadrant, rest, tail) = remainder(x)
    return switch quadrant & 3 {
    case 0: cosine(rest, tail)
    case 1: -sine(rest, tail)
    case 2: -cosine(rest, tail)
    default: sine(rest, tail)
    }
  }

  /// The sign, the exponent and the first twenty bits of the fraction.
  private static func highWord(_ x: Double) -> UInt32 { UInt32(x.bitPattern >> 32) }

  /// Returns how often π / 2 goes into `x`, and the rest as a sum of two numbers. π / 2 is subtracted in
  /// pieces of 33 bits, whose products are exact, as many as the cancellation requires.
  private static func remainder(_ x: Double) -> (quadrant: Int, rest: Double, tail: Double) {
    let first = (1.57079632673412561417e+00, 6.07710050650619224932e-11)
    let second = (6.07710050630396597660e-11, 2.02226624879595063154e-21)
    let high = highWord(x)
    // Below 3π / 4, once.
    if high < 0x4002_d97c {
      var z = x - first.0
      var next = first.1
      if high == 0x3ff9_21fb {
        z -= second.0
        next = second.1
      }
      let rest = z - next
      return (1, rest, (z - rest) - next)
    }
    let count = Int(x * 6.36619772367581382433e-01 + 0.5)
    let times = Double(count)
    var r = x - times * first.0
    var w = times * first.1
    var rest = r - w
    // Only a number so close to a multiple that the first twenty bits are equal loses many bits.
    if high == highWord(times * (Double.pi / 2)) {
      let exponent = Int(high >> 20)
      func lost() -> Int { exponent - Int(highWord(rest) >> 20 & 0x7ff) }
      if lost() > 16 {
        (r, w) = subtracting(second, times, r)
        rest = r - w
        if lost() > 49 {
          (r, w) = subtracting((2.02226624871116645580e-21, 8.47842766036889956997e-32), times, r)
          rest = r - w
        }
      }
    }
    return (count, rest, (r - rest) - w)
  }

  private static func subtracting(
    _ piece: (Double, Double), _ times: Double, _ from: Double
  ) -> (Double, Double) {
    let product = times * piece.0
    let r = from - product
    return (r, times * piece.1 - ((from - r) - product))
  }

  /// Returns the cosine of `x` + `tail` in ±π / 4.
  private static func cosine(_ x: Double, _ tail: Double) -> Double {
    let high = highWord(x) & 0x7fff_ffff
    if high < 0x3e40_0000 { return 1 }
    let z = x * x
    let polynomial =
      2.48015872894767294178e-05 + z
      * (-2.75573143513906633035e-07 + z
        * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))
    let r =
      z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * polynomial))
    if high < 0x3fd3_3333 { return 1 - (0.5 * z - (z * r - x * tail)) }
    // About a quarter of x; subtracting it from 1 is exact.
    let part =
      high > 0x3fe9_0000 ? 0.28125 : Double(bitPattern: UInt64(high - 0x0020_0000) << 32)
    return (1 - part) - ((0.5 * z - part) - (z * r - x * tail))
  }

  /// Returns the sine of `x` + `tail` in ±π / 4.
  private static func sine(_ x: Double, _ tail: Double) -> Double {
    if highWord(x) & 0x7fff_ffff < 0x3e40_0000 { return x }
    let z = x * x
    let v = z * x
    let polynomial =
      -1.98412698298579493134e-04 + z
      * (2.75573137070700676789e-06 + z
        * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))
    let r = 8.33333333332248946124e-03 + z * polynomial
    return x - ((z * (0.5 * tail - v * r) - tail) - v * -1.66666666666666324348e-01)
  }
}
