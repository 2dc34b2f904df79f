//! Scaling by powers of two, which loses no digit, so that squares of extreme values stay finite.

/// The power of two by which a largest absolute value becomes about 1; 1 for 0.
///
/// ```
/// use unpredictabench::scale::power_of_two_below_inverse as scale;
/// assert_eq!(scale(8.0), 0.125);
/// assert_eq!(scale(0.0), 1.0);
/// assert!((1e300 * scale(1e300)).abs() <= 2.0);
/// ```
#[must_use]
pub fn power_of_two_below_inverse(largest: f64) -> f64 {
    if largest == 0.0 || !largest.is_finite() {
        return 1.0;
    }
    // Subnormals count as the smallest normal number; 2^-1023, which the largest doubles
    // need, is exact although it is not normal.
    #[allow(clippy::cast_possible_truncation)] // log2 of a double lies within +-1100
    let exponent = largest.max(f64::MIN_POSITIVE).log2().floor() as i32;
    2f64.powi(-exponent.clamp(-1022, 1023))
}

/// Powers of two that a product of a few values may take: half of the exponents of a double.
const SAFE_EXPONENT: f64 = 450.0;

/// The power of two to scale values by before their `order`th powers (and squares) are summed: 1
/// where these are far from the ends of the range of a double, else one that brings differences of
/// values up to `largest` below 1.
///
/// ```
/// use unpredictabench::scale::for_powers;
/// assert_eq!(for_powers(1e100, 1.0), 1.0);
/// assert!(1e308 * for_powers(1e308, 1.0) < 0.5);
/// assert!(1e-300 * for_powers(1e-300, 2.0) >= 0.25);
/// ```
#[must_use]
pub fn for_powers(largest: f64, order: f64) -> f64 {
    let is_safe = (1.0 + largest.log2().abs()) * order.max(2.0) <= 2.0 * SAFE_EXPONENT;
    if largest == 0.0 || is_safe { 1.0 } else { 0.25 * power_of_two_below_inverse(largest) }
}

/// A variance this many roundings of the mean square or less is rounding itself.
const ROUNDINGS: f64 = 16.0;

/// Standard deviation from a mean and a mean square; 0 where the two differ by rounding only.
#[must_use]
pub fn deviation(mean: f64, mean_square: f64) -> f64 {
    let variance = mean_square - mean * mean;
    if variance <= ROUNDINGS * f64::EPSILON * mean_square { 0.0 } else { variance.sqrt() }
}
