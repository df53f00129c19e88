/// The natural logarithm of a number above 0, to 15 digits. It uses basic arithmetic alone, so that every
/// machine computes the same.
package func naturalLogarithm(_ number: Double) -> Double {
  precondition(number > 0 && number.isFinite)
  let exponent = Double(number.exponent)
  // For m between 1 and 2, log m = 2 artanh((m − 1) / (m + 1)), a series of an argument of at most 1/3.
  let ratio = (number.significand - 1) / (number.significand + 1)
  let square = ratio * ratio
  var (sum, power) = (0.0, ratio)
  for odd in stride(from: 1.0, through: 33, by: 2) {
    sum += power / odd
    power *= square
  }
  return 2 * sum + exponent * 0.693_147_180_559_945_3
}

/// e to this power, also by basic arithmetic alone.
package func exponential(_ power: Double) -> Double {
  precondition(abs(power) < 700)
  // Halves the power ten times, so that its series is short, then squares the sum ten times.
  let small = power / 1_024
  var (sum, term) = (1.0, 1.0)
  for index in 1...12 {
    term *= small / Double(index)
    sum += term
  }
  for _ in 0..<10 { sum *= sum }
  return sum
}
