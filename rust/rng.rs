//! Counter-based random streams: a stream is named by (seed, row, replicate), never by a thread.
//!
//! The name is hashed into the state of xoshiro256++ (Blackman & Vigna 2021,
//! doi:10.1145/3460772) by `SplitMix64`, so that results depend neither on the number of threads
//! nor on the order of rows.

/// One random stream.
#[derive(Debug, Clone)]
pub struct Stream {
    state: [u64; 4],
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn splitmix(x: u64) -> u64 {
    let mut z = x.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Stream {
    /// The stream of that name.
    ///
    /// ```
    /// use unpredictabench::rng::Stream;
    /// assert_eq!(Stream::new(1, 2, 3).next_u64(), Stream::new(1, 2, 3).next_u64());
    /// assert_ne!(Stream::new(1, 2, 3).next_u64(), Stream::new(1, 3, 2).next_u64());
    /// ```
    #[must_use]
    pub fn new(seed: u64, row: u64, replicate: u64) -> Self {
        let mut x = splitmix(splitmix(splitmix(seed) ^ row) ^ replicate);
        let state = std::array::from_fn(|_| {
            x = x.wrapping_add(GOLDEN);
            splitmix(x)
        });
        Self { state }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// A uniform integer in `0..bound` without bias (Lemire 2019, doi:10.1145/3230636).
    ///
    /// # Panics
    /// In debug builds when `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        let bits = self.next_u64() >> 32;
        self.reduce(bits, bound)
    }

    /// Two uniform integers in `0..bound` from one step of the stream.
    #[inline]
    pub fn two_below(&mut self, bound: u32) -> [u32; 2] {
        let bits = self.next_u64();
        [self.reduce(bits >> 32, bound), self.reduce(bits & 0xffff_ffff, bound)]
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // halves of 64 bits
    fn reduce(&mut self, bits: u64, bound: u32) -> u32 {
        debug_assert!(bound > 0);
        let product = bits * u64::from(bound);
        if (product as u32) < bound {
            return self.reduce_again(product, bound);
        }
        (product >> 32) as u32
    }

    /// The rare case in which the first draw may be one too many of its value.
    #[cold]
    #[allow(clippy::cast_possible_truncation)] // halves of 64 bits
    fn reduce_again(&mut self, mut product: u64, bound: u32) -> u32 {
        let threshold = (1u64 << 32) % u64::from(bound);
        while (product & 0xffff_ffff) < threshold {
            product = (self.next_u64() >> 32) * u64::from(bound);
        }
        (product >> 32) as u32
    }

    /// A uniform float in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_is_uniform() {
        let mut counts = [0u32; 7];
        let mut stream = Stream::new(5, 0, 0);
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi2 < 27.9, "chi-square with 6 degrees of freedom, 1e-4 tail: {chi2}");
    }

    #[test]
    fn neighbouring_names_are_unrelated() {
        let mean = (0..10_000).map(|i| Stream::new(0, i, 0).unit()).sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 4.0 / 12f64.sqrt() / 100.0, "{mean}");
    }
}
