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
    // Subnormals count as the smallest normal number; 2^-1022 is the least power that is normal.
    #[allow(clippy::cast_possible_truncation)] // log2 of a double lies within +-1100
    let exponent = largest.max(f64::MIN_POSITIVE).log2().floor() as i32;
    2f64.powi(-exponent.clamp(-1022, 1022))
}
