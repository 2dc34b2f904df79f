//! Sorting by dealing into buckets first, for values whose rough ranks cost little.
//!
//! A truth's index says about where an observation falls among the draws, and for unsorted draws
//! equal cells between the least and the largest do as much. Dealt by that, values are out of
//! order within small buckets only, where neighbours are exchanged. Where too many fall together (a
//! heavy tail, a sample in one corner of its truth) values are compared.

use crate::order::{Levels, ascending};

/// Values in one bucket at the most: as many times all neighbours are looked at.
const MOST_TOGETHER: u32 = 16;
/// Below this many values comparing takes no longer.
const FEWEST_TO_DEAL: usize = 20;

/// Buffers for one sample after another.
#[derive(Debug, Default)]
pub struct Sorter {
    places: Vec<u32>,
    /// Where the next value of each bucket goes.
    ends: Vec<u32>,
}

impl Sorter {
    /// Sort a copy of `values` into `out`, with -0.0 made 0.0, so that equal values have equal bits.
    /// `levels` are those of the truth that the values are to be compared with, if it has an index.
    ///
    /// NaN, which the callers refuse, would end up anywhere.
    pub fn sort_into(&mut self, values: &[f64], levels: Option<&Levels>, out: &mut Vec<f64>) {
        out.clear();
        out.extend(values.iter().map(|v| v + 0.0));
        let most = if values.len() < FEWEST_TO_DEAL { u32::MAX } else { self.deal(out, levels) };
        if most > MOST_TOGETHER {
            out.sort_unstable_by(ascending);
            return;
        }
        for (&place, value) in self.places.iter().zip(values) {
            let end = &mut self.ends[place as usize];
            out[*end as usize] = value + 0.0;
            *end += 1;
        }
        exchange_neighbours(out, most);
    }

    /// Find out where the values of each bucket go, and how many the fullest holds.
    fn deal(&mut self, values: &[f64], levels: Option<&Levels>) -> u32 {
        let n_buckets = values.len().next_power_of_two();
        match levels {
            Some(levels) => levels.places_into(values, n_buckets, &mut self.places),
            None => cells_into(values, n_buckets, &mut self.places),
        }
        self.ends.clear();
        self.ends.resize(n_buckets, 0);
        for &place in &self.places {
            self.ends[place as usize] += 1;
        }
        let (mut start, mut most) = (0, 0);
        for end in &mut self.ends {
            most = most.max(*end);
            start += std::mem::replace(end, start);
        }
        most
    }
}

/// Numbers of equal cells between the least and the largest value.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, as it should
fn cells_into(values: &[f64], n_cells: usize, places: &mut Vec<u32>) {
    let smaller = |a: f64, b: f64| if b < a { b } else { a };
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let low = values.iter().copied().fold(f64::MAX, smaller);
    let high = values.iter().copied().fold(f64::MIN, larger);
    let scale = n_cells as f64 / (high - low);
    let scale = if scale.is_finite() { scale } else { 0.0 };
    let last = n_cells as u32 - 1;
    places.clear();
    places.extend(values.iter().map(|value| (((value - low) * scale) as u32).min(last)));
}

/// Exchange neighbours that are out of order, every second pair at a time: as many turns as the
/// longest bucket has values sort each of them (Habermann 1972, "Parallel neighbor sort"). No
/// branch depends on the values, which nobody could predict.
fn exchange_neighbours(values: &mut [f64], turns: u32) {
    for turn in 0..turns as usize {
        for pair in values[turn % 2..].chunks_exact_mut(2) {
            let (a, b) = (pair[0], pair[1]);
            (pair[0], pair[1]) = (a.min(b), a.max(b));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn dealing_and_comparing_give_the_same_order() {
        let mut stream = Stream::new(8, 0, 0);
        let draws: Vec<f64> = (0..3000).map(|_| stream.unit()).collect();
        let shapes: [fn(f64) -> f64; 7] = [
            |u| u,
            |u| (u * 40.0).floor() - 3.0,
            |u| (u - 0.5).powi(-3),
            |u| if u < 0.3 { f64::NEG_INFINITY } else { u * 1e300 },
            |u| if u < 0.5 { -0.0 } else { 0.0 },
            |u| 0.5 + u * 1e-9,
            |_| f64::INFINITY,
        ];
        let (mut sorter, mut out) = (Sorter::default(), Vec::new());
        for of_truth in shapes {
            let mut truth: Vec<f64> = draws.iter().map(|&u| of_truth(u)).collect();
            truth.sort_unstable_by(ascending);
            let levels = Levels::new(&truth);
            for of_sample in shapes {
                for n in [0, 1, 19, 20, 33, 1000] {
                    let sample: Vec<f64> = (0..n).map(|_| of_sample(stream.unit())).collect();
                    let mut right: Vec<f64> = sample.iter().map(|v| v + 0.0).collect();
                    right.sort_by(f64::total_cmp);
                    for levels in [None, Some(&levels)] {
                        sorter.sort_into(&sample, levels, &mut out);
                        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                        assert_eq!(bits(&out), bits(&right));
                    }
                }
            }
        }
    }
}
