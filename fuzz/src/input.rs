//! Fuzzer bytes read as samples that are full of ties, signed zeros, subnormals and extremes.

/// Values that have hurt numerical code before.
const NASTY: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    0.5,
    5e-324,
    -5e-324,
    2.5e-310,
    f64::MIN_POSITIVE,
    f64::EPSILON,
    1.0 + f64::EPSILON,
    1.0 - f64::EPSILON / 2.0,
    1e15,
    1e15 + 0.25,
    1e16,
    1e16 + 2.0,
    9_007_199_254_740_993.0,
    1e300,
    -1e300,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

/// What the fuzzer wrote, read from the front; zeros behind its end.
#[derive(Debug, Clone)]
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// Read from these bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number of `low..=high`.
    pub fn size(&mut self, low: usize, high: usize) -> usize {
        low + usize::from(self.byte()) % (high - low + 1)
    }

    /// Any double but NaN: a nasty one, a small whole one, a quarter, or eight bytes.
    pub fn value(&mut self) -> f64 {
        match self.byte() {
            code @ 0..=95 => NASTY[usize::from(code) % NASTY.len()],
            code @ 96..=159 => f64::from(code % 8) - 3.0,
            code @ 160..=223 => f64::from(code) / 4.0 - 50.0,
            _ => {
                let bits = (0..8).fold(0u64, |bits, _| bits << 8 | u64::from(self.byte()));
                Some(f64::from_bits(bits)).filter(|v| !v.is_nan()).unwrap_or(0.0)
            }
        }
    }

    /// A sample; `is_finite` makes infinities the largest doubles.
    pub fn sample(&mut self, size: usize, is_finite: bool) -> Vec<f64> {
        let clamped = |v: f64| if is_finite { v.clamp(f64::MIN, f64::MAX) } else { v };
        (0..size).map(|_| clamped(self.value())).collect()
    }

    /// A number of [0, 1], often a multiple of 1/8 or next to one.
    pub fn unit(&mut self) -> f64 {
        match self.byte() {
            code @ 0..=127 => f64::from(code % 9) / 8.0,
            code @ 128..=159 => (f64::from(code % 9) / 8.0).next_up().min(1.0),
            code @ 160..=191 => (f64::from(code % 9) / 8.0).next_down().max(0.0),
            code => {
                let low = u16::from(code % 64) << 8 | u16::from(self.byte());
                f64::from(low) / f64::from(1u16 << 14)
            }
        }
    }
}
