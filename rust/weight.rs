//! The numbers in which probabilities are summed: plain f64, or with an exponent of their own where
//! f64 underflows.

use crate::extended::Scaled;

/// A number in which the walk is carried: plain, or with an exponent of its own.
pub trait Weight: Copy {
    /// Terms of a kernel this much below its largest cannot matter.
    const NEGLIGIBLE: f64;
    /// The same number, as far as the type can hold it.
    fn from_scaled(value: Scaled) -> Self;
    /// Zero.
    fn zero() -> Self;
    /// The product.
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// The sum.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// The product with a positive f64.
    #[must_use]
    fn scaled(self, factor: f64) -> Self;
    /// The quotient.
    #[must_use]
    fn over(self, other: Self) -> Self;
    /// As f64, as far as that can hold it.
    fn to_f64(self) -> f64;
}

impl Weight for f64 {
    const NEGLIGIBLE: f64 = 1e-290;
    fn from_scaled(value: Scaled) -> Self {
        value.to_f64()
    }
    fn zero() -> Self {
        0.0
    }
    #[inline]
    fn times(self, other: Self) -> Self {
        self * other
    }
    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline]
    fn scaled(self, factor: f64) -> Self {
        self * factor
    }
    #[inline]
    fn over(self, other: Self) -> Self {
        self / other
    }
    #[inline]
    fn to_f64(self) -> f64 {
        self
    }
}

impl Weight for Scaled {
    const NEGLIGIBLE: f64 = -1.0;
    fn from_scaled(value: Scaled) -> Self {
        value
    }
    fn zero() -> Self {
        Self::ZERO
    }
    fn times(self, other: Self) -> Self {
        Self::times(self, other)
    }
    fn plus(self, other: Self) -> Self {
        Self::plus(self, other)
    }
    fn scaled(self, factor: f64) -> Self {
        Self::times(self, Self::new(factor, 0))
    }
    fn over(self, other: Self) -> Self {
        Self::over(self, other)
    }
    fn to_f64(self) -> f64 {
        Self::to_f64(self)
    }
}
