//! Positive numbers of any size: a mantissa and an exponent, and exact tables of factorials.
//!
//! Path counts of a pooled sample of 10,000 observations have 3,000 digits. A logarithm of such a
//! number loses as many digits as its own integer part has (`lgamma` costs 1e-11 here), a mantissa
//! beside an exponent loses none.

use std::sync::{Arc, RwLock};

/// The positive number `mantissa * 2^exponent` with the mantissa in `[1, 2)`, or zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled {
    mantissa: f64,
    exponent: i64,
}

const MANTISSA_BITS: u64 = 0x000f_ffff_ffff_ffff;
const ONE_BITS: u64 = 0x3ff0_0000_0000_0000;

/// `2^exponent`, zero or infinity where f64 cannot hold it as a normal number.
#[must_use]
#[allow(clippy::cast_sign_loss)] // the range is checked
pub fn power_of_two(exponent: i64) -> f64 {
    match exponent {
        ..=-1023 => 0.0,
        1024.. => f64::INFINITY,
        e => f64::from_bits(((e + 1023) as u64) << 52),
    }
}

impl Scaled {
    /// Zero.
    pub const ZERO: Self = Self { mantissa: 0.0, exponent: 0 };
    /// One.
    pub const ONE: Self = Self { mantissa: 1.0, exponent: 0 };

    /// The number `value * 2^exponent`; `value` is zero or a positive normal number.
    #[must_use]
    #[allow(clippy::cast_possible_wrap)] // 11 bits
    pub fn new(value: f64, exponent: i64) -> Self {
        if value == 0.0 {
            return Self::ZERO;
        }
        debug_assert!(value.is_normal() && value > 0.0);
        let bits = value.to_bits();
        Self {
            mantissa: f64::from_bits((bits & MANTISSA_BITS) | ONE_BITS),
            exponent: (bits >> 52) as i64 - 1023 + exponent,
        }
    }

    /// The product of two numbers.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self::new(self.mantissa * other.mantissa, self.exponent + other.exponent)
    }

    /// The quotient of two numbers.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        Self::new(self.mantissa / other.mantissa, self.exponent - other.exponent)
    }

    /// The sum of two numbers.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        if self.mantissa == 0.0 || other.mantissa == 0.0 {
            return if self.mantissa == 0.0 { other } else { self };
        }
        let (big, small) =
            if other.exponent > self.exponent { (other, self) } else { (self, other) };
        let shift = power_of_two(small.exponent - big.exponent);
        Self::new(big.mantissa + small.mantissa * shift, big.exponent)
    }

    /// The number times a power of two.
    #[must_use]
    pub fn shifted(self, exponent: i64) -> Self {
        Self { mantissa: self.mantissa, exponent: self.exponent + exponent }
    }

    /// The exponent: the number lies in `[2^e, 2^(e+1))`.
    #[must_use]
    pub fn exponent(self) -> i64 {
        self.exponent
    }

    /// As f64: zero below the normal numbers, infinity above them.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.mantissa * power_of_two(self.exponent)
    }

    /// Natural logarithm; minus infinity of zero.
    #[must_use]
    pub fn ln(self) -> f64 {
        if self.mantissa == 0.0 {
            return f64::NEG_INFINITY;
        }
        self.mantissa.ln() + self.exponent as f64 * std::f64::consts::LN_2
    }
}

/// A running product in twice the precision of f64, so that a million factors cost no digit.
#[derive(Debug, Clone, Copy)]
pub struct Product {
    high: f64,
    low: f64,
    exponent: i64,
}

impl Product {
    /// The empty product.
    #[must_use]
    pub fn one() -> Self {
        Self { high: 1.0, low: 0.0, exponent: 0 }
    }

    /// Multiply by a positive factor.
    pub fn times(&mut self, factor: f64) {
        let high = self.high * factor;
        let low = self.high.mul_add(factor, -high) + self.low * factor;
        self.set(high, low);
    }

    /// Divide by a positive divisor.
    pub fn over(&mut self, divisor: f64) {
        let high = self.high / divisor;
        let low = (self.low - high.mul_add(divisor, -self.high)) / divisor;
        self.set(high, low);
    }

    fn set(&mut self, high: f64, low: f64) {
        let scale = power_of_two(-Scaled::new(high, 0).exponent());
        self.exponent += Scaled::new(high, 0).exponent();
        let (high, low) = (high * scale, low * scale);
        self.high = high + low;
        self.low = low - (self.high - high);
    }

    /// The product, rounded once.
    #[must_use]
    pub fn value(&self) -> Scaled {
        Scaled::new(self.high, self.exponent)
    }
}

/// Factorials stored at the most; between two of them the rest is a product of a few factors.
const STORED: usize = 1 << 16;

/// Factorials up to some number, exact to a few ulp.
#[derive(Debug, Clone)]
pub struct Factorials {
    stride: usize,
    every: Arc<Vec<Scaled>>,
}

static FACTORIALS: RwLock<Option<Factorials>> = RwLock::new(None);

impl Factorials {
    /// The table of this process, grown to hold `top!`.
    #[must_use]
    pub fn up_to(top: usize) -> Self {
        let fits = |table: &Self| table.every.len() > top / table.stride;
        let read = FACTORIALS.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(table) = read.as_ref().filter(|t| fits(t)) {
            return table.clone();
        }
        drop(read);
        let made = Self::build(top.max(STORED));
        let mut slot = FACTORIALS.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        *slot = Some(made.clone());
        made
    }

    /// Hold the table's lock, so that a fork meanwhile leaves it open in the child.
    pub fn hold() -> impl Sized + 'static {
        FACTORIALS.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn build(top: usize) -> Self {
        let stride = (top / STORED).next_power_of_two();
        let mut every = Vec::with_capacity(top / stride + 1);
        let mut product = Product::one();
        every.push(product.value());
        for i in 1..=(top / stride * stride) {
            product.times(i as f64);
            if i % stride == 0 {
                every.push(product.value());
            }
        }
        Self { stride, every: Arc::new(every) }
    }

    /// `n!`.
    #[must_use]
    pub fn of(&self, n: usize) -> Scaled {
        if self.stride == 1 {
            return self.every[n];
        }
        let start = n / self.stride;
        let rest = (start * self.stride + 1..=n)
            .fold(Scaled::ONE, |product, i| product.times(Scaled::new(i as f64, 0)));
        self.every[start].times(rest)
    }

    /// The binomial coefficient "n choose k"; zero outside of `0..=n`.
    #[must_use]
    pub fn choose(&self, n: usize, k: usize) -> Scaled {
        if k > n {
            return Scaled::ZERO;
        }
        self.of(n).over(self.of(k).times(self.of(n - k)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factorials_are_right() {
        let table = Factorials::up_to(30_000);
        assert_eq!(table.of(0), Scaled::ONE);
        assert_eq!(table.of(10).to_f64(), 3_628_800.0);
        assert!((table.choose(10_100, 100).ln() - 557.797_978_341_970_7).abs() < 1e-9);
        assert_eq!(table.choose(3, 4), Scaled::ZERO);
    }

    #[test]
    fn sums_align_their_exponents() {
        let tiny = Scaled::new(1.0, -3000);
        assert_eq!(tiny.plus(tiny), Scaled::new(1.0, -2999));
        assert_eq!(Scaled::ONE.plus(tiny), Scaled::ONE);
        assert_eq!(Scaled::ZERO.plus(tiny), tiny);
        assert_eq!(tiny.to_f64(), 0.0);
    }

    #[test]
    fn quotients_and_products_undo_each_other() {
        let mut product = Product::one();
        (1..2000).for_each(|i| product.times(f64::from(i)));
        (1..2000).rev().for_each(|i| product.over(f64::from(i)));
        assert_eq!(product.value(), Scaled::ONE);
    }
}
