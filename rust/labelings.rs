//! Ways to choose which places of a pooled sample belong to the smaller sample: all, or random ones.

use crate::rng::Stream;

/// The choices of `chosen` places out of `pool`.
#[derive(Debug, Clone, Copy)]
pub struct Labelings {
    /// Number of places, below 2^32.
    pub pool: usize,
    /// Number to choose, at most `pool`.
    pub chosen: usize,
}

#[allow(clippy::cast_possible_truncation)] // places are 32-bit by the rule above
impl Labelings {
    /// The number of choices, if it is at most `most`.
    #[must_use]
    pub fn count_up_to(&self, most: u64) -> Option<u64> {
        let mut count = 1u128;
        for i in 0..self.chosen as u128 {
            count = count * (self.pool as u128 - i) / (i + 1);
            if count > u128::from(most) {
                return None;
            }
        }
        u64::try_from(count).ok()
    }

    /// Count the hits among all choices, each a sorted list of places.
    #[must_use]
    pub fn count_all(&self, is_hit: impl Fn(&[u32]) -> bool) -> u64 {
        let (n, k) = (self.pool as u32, self.chosen);
        let mut places: Vec<u32> = (0..k as u32).collect();
        let mut hits = 0;
        loop {
            hits += u64::from(is_hit(&places));
            // The next in lexicographic order: raise the last place that can be raised.
            let Some(i) = (0..k).rev().find(|&i| places[i] < n - (k - i) as u32) else {
                return hits;
            };
            places[i] += 1;
            for j in i + 1..k {
                places[j] = places[j - 1] + 1;
            }
        }
    }

    /// Count the hits among `times` random choices, each from the stream of its number.
    #[must_use]
    pub fn count_random(
        &self,
        times: u64,
        stream: impl Fn(u64) -> Stream,
        is_hit: impl Fn(&[u32]) -> bool,
    ) -> u64 {
        let n = self.pool as u32;
        let mut places: Vec<u32> = (0..n).collect();
        let mut chosen = Vec::with_capacity(self.chosen);
        let mut swaps = Vec::with_capacity(self.chosen);
        let mut hits = 0;
        for replicate in 0..times {
            let mut stream = stream(replicate);
            chosen.clear();
            swaps.clear();
            for (i, left) in (0..self.chosen).zip((1..=n).rev()) {
                let j = i + stream.below(left) as usize;
                places.swap(i, j);
                swaps.push(j);
                chosen.push(places[i]);
            }
            // Undone, so that a replicate depends on its own stream alone.
            for (i, &j) in swaps.iter().enumerate().rev() {
                places.swap(i, j);
            }
            chosen.sort_unstable();
            hits += u64::from(is_hit(&chosen));
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_choices_are_seen_once() {
        let labelings = Labelings { pool: 9, chosen: 4 };
        assert_eq!(labelings.count_all(|_| true), 126);
        assert_eq!(labelings.count_up_to(126), Some(126));
        assert_eq!(labelings.count_up_to(125), None);
        assert_eq!(labelings.count_all(|places| places.contains(&8)), 56);
    }

    #[test]
    fn random_choices_are_even() {
        let labelings = Labelings { pool: 9, chosen: 4 };
        let stream = |replicate| Stream::new(4, 0, replicate);
        let hits = labelings.count_random(90_000, stream, |places| places.contains(&2));
        assert!((hits as f64 - 4e4).abs() < 4.0 * (9e4f64 * 4.0 / 9.0 * 5.0 / 9.0).sqrt());
    }
}
