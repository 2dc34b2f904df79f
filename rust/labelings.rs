//! Ways to choose which places of a pooled sample belong to one of the two: all, or random ones.

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
        let mut dealer = Dealer::default();
        let hits = (0..times).filter(|&i| is_hit(dealer.deal(*self, &mut stream(i))));
        hits.count() as u64
    }
}

/// Deals random choices; buffers for one after another.
#[derive(Debug, Clone, Default)]
pub struct Dealer {
    /// All false between calls.
    taken: Vec<bool>,
    chosen: Vec<u32>,
}

impl Dealer {
    /// A random choice, every one equally likely, as a sorted list of places (Floyd's algorithm:
    /// Bentley & Floyd 1987, doi:10.1145/30401.315746).
    #[allow(clippy::cast_possible_truncation)] // places are 32-bit by the rule of labelings
    pub fn deal(&mut self, labelings: Labelings, stream: &mut Stream) -> &[u32] {
        let Labelings { pool, chosen } = labelings;
        self.taken.resize(pool, false);
        self.chosen.clear();
        for last in pool - chosen..pool {
            let candidate = stream.below(last as u32 + 1) as usize;
            let place = if self.taken[candidate] { last } else { candidate };
            self.taken[place] = true;
            self.chosen.push(place as u32);
        }
        for &place in &self.chosen {
            self.taken[place as usize] = false;
        }
        self.chosen.sort_unstable();
        &self.chosen
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
    fn every_random_choice_is_equally_likely() {
        let (labelings, mut dealer) = (Labelings { pool: 5, chosen: 2 }, Dealer::default());
        let mut counts = std::collections::HashMap::new();
        for replicate in 0..20_000 {
            let chosen = dealer.deal(labelings, &mut Stream::new(3, 1, replicate));
            assert!(chosen[0] < chosen[1]);
            *counts.entry(chosen.to_vec()).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 10);
        let chi2: f64 = counts.values().map(|&c| (f64::from(c) - 2e3).powi(2) / 2e3).sum();
        assert!(chi2 < 33.7, "chi-square with 9 degrees of freedom, 1e-4 tail: {chi2}");
    }

    #[test]
    fn random_choices_are_even() {
        let labelings = Labelings { pool: 9, chosen: 4 };
        let stream = |replicate| Stream::new(4, 0, replicate);
        let hits = labelings.count_random(90_000, stream, |places| places.contains(&2));
        assert!((hits as f64 - 4e4).abs() < 4.0 * (9e4f64 * 4.0 / 9.0 * 5.0 / 9.0).sqrt());
    }
}
