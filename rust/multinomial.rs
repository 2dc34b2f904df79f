//! Counts over cells: the exact law of a sum of per-cell costs, by adding cells one at a time.
//!
//! The state is (answers placed so far, integer cost so far); what reaches the cap stays in one
//! last bin, so that small upper tails are sums of positive terms. With Poisson weights the result
//! is the multinomial null; with binomial weights it is the average over all subsets of a pool.

use crate::error::{Error, Result};
use crate::pmf::{binomial, poisson};
use crate::rng::Stream;

/// States of the programme at most (answers times costs): 32 MB.
pub const MAX_STATES: usize = 4_000_000;

/// A cell: the weight and the cost of each count 0, 1, 2, ...; the cost of 0 is 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    weights: Vec<f64>,
    costs: Vec<usize>,
}

/// Total weight of each cost below `cap`, and in the last bin of all from `cap` on, when the cells
/// hold `n` answers in all.
///
/// # Errors
/// When the states would not fit [`MAX_STATES`].
pub fn cost_weights(cells: &[Cell], n: usize, cap: usize) -> Result<Vec<f64>> {
    let width = cap + 1;
    if (n + 1).saturating_mul(width) > MAX_STATES {
        let value = format!("{} states", (n + 1).saturating_mul(width));
        return Err(Error::argument("p", "give at most 4000000 states", value));
    }
    let mut table = vec![0.0; (n + 1) * width];
    // Number of bins in use of each row; the last bin is looked after apart.
    let mut used = vec![0usize; n + 1];
    table[0] = 1.0;
    used[0] = 1;
    if cap == 0 {
        used[0] = 0;
    }
    for cell in cells {
        for placed in (0..=n).rev() {
            let (lower, rest) = table.split_at_mut(placed * width);
            let row = &mut rest[..width];
            let stay = cell.weights.first().copied().unwrap_or(0.0);
            for mass in row.iter_mut() {
                *mass *= stay;
            }
            for count in 1..cell.weights.len().min(placed + 1) {
                let (weight, cost) = (cell.weights[count], cell.costs[count]);
                let from = &lower[(placed - count) * width..][..width];
                let n_used = used[placed - count];
                let n_kept = n_used.min(cap.saturating_sub(cost));
                if n_kept > 0 {
                    let target = &mut row[cost..cost + n_kept];
                    target.iter_mut().zip(&from[..n_kept]).for_each(|(t, f)| *t += weight * f);
                    used[placed] = used[placed].max(cost + n_kept);
                }
                let over: f64 = from[n_kept..n_used].iter().sum();
                row[cap] += weight * (over + from[cap]);
            }
        }
    }
    Ok(table[n * width..].to_vec())
}

/// Cells whose costs add up to the total-variation distance: over all cells, the excess of the
/// count over its expectation, in units of [`TotalVariation::unit`].
#[derive(Debug, Clone, Copy)]
pub struct TotalVariation<'a> {
    /// Numerators of the probabilities.
    pub numerators: &'a [u64],
    /// Their common denominator.
    pub denominator: u64,
}

impl TotalVariation<'_> {
    /// The greatest number that divides every cost n * denominator * (count / n - p), times n.
    #[must_use]
    pub fn unit(&self, n: usize) -> u64 {
        self.numerators.iter().fold(self.denominator, |g, &a| gcd(g, a * n as u64))
    }

    /// The largest statistic that counts of `n` answers can have, in units.
    #[must_use]
    pub fn largest(&self, n: usize) -> usize {
        usize::try_from(n as u64 * self.denominator / self.unit(n)).unwrap_or(usize::MAX)
    }

    #[allow(clippy::cast_possible_truncation)] // bounded by n times the denominator
    fn costs(&self, numerator: u64, last: usize, n: usize) -> Vec<usize> {
        let (unit, expected) = (self.unit(n), numerator * n as u64);
        (0..=last as u64)
            .map(|c| ((c * self.denominator).saturating_sub(expected) / unit) as usize)
            .collect()
    }

    /// The statistic of counts, in units; invalid answers are a cell of probability 0.
    #[must_use]
    pub fn statistic(&self, counts: &[u64], n_invalid: usize) -> usize {
        let n = usize::try_from(counts.iter().sum::<u64>()).unwrap_or(usize::MAX) + n_invalid;
        let excess: u64 = counts
            .iter()
            .zip(self.numerators)
            .map(|(&c, &a)| (c * self.denominator).saturating_sub(a * n as u64))
            .sum();
        let total = excess + n_invalid as u64 * self.denominator;
        usize::try_from(total / self.unit(n)).unwrap_or(usize::MAX)
    }

    /// Cells under the null, and their total weight over all counts that sum to `n`.
    #[must_use]
    pub fn null_cells(&self, n: usize) -> (Vec<Cell>, f64) {
        let cell = |&a: &u64| {
            let mean = n as f64 * (a as f64 / self.denominator as f64);
            let weights = (0..=n).map(|c| poisson(c, mean)).collect();
            Cell { weights, costs: self.costs(a, n, n) }
        };
        (self.numerators.iter().map(cell).collect(), poisson(n, n as f64))
    }

    /// Cells of subsets of `n` from a pool of counts, the last one for invalid answers.
    #[must_use]
    pub fn pool_cells(&self, counts: &[u64], n_invalid: usize, n: usize) -> (Vec<Cell>, f64) {
        let in_cells: usize = counts.iter().filter_map(|&c| usize::try_from(c).ok()).sum();
        let size = in_cells + n_invalid;
        let (p, q) = (n as f64 / size as f64, size.saturating_sub(n) as f64 / size as f64);
        let cell = |held: usize, numerator: u64| {
            let last = held.min(n);
            let weights = (0..=last).map(|c| binomial(c, held, p, q)).collect();
            Cell { weights, costs: self.costs(numerator, last, n) }
        };
        let valid = counts.iter().zip(self.numerators);
        let mut cells: Vec<Cell> =
            valid.map(|(&c, &a)| cell(usize::try_from(c).unwrap_or(usize::MAX), a)).collect();
        cells.push(cell(n_invalid, 0));
        (cells, binomial(n, size, p, q))
    }
}

/// Cells under the null of `n_cells` equally likely outcomes whose cost is the number of pairs of
/// equal answers, and their total weight: the sum of squared counts is 2 pairs + n.
#[must_use]
pub fn pair_cells(n_cells: usize, n: usize) -> (Vec<Cell>, f64) {
    let mean = n as f64 / n_cells as f64;
    let weights = (0..=n).map(|c| poisson(c, mean)).collect();
    let costs = (0..=n).map(|c| c * c.saturating_sub(1) / 2).collect();
    (vec![Cell { weights, costs }; n_cells], poisson(n, n as f64))
}

/// P(cost >= `cost`) for weighted cells.
///
/// # Errors
/// As [`cost_weights`].
pub fn upper_tail(cells: &[Cell], total: f64, n: usize, cost: usize) -> Result<f64> {
    if cost == 0 {
        return Ok(1.0);
    }
    Ok((cost_weights(cells, n, cost)?[cost] / total).min(1.0))
}

/// The largest attainable cost whose upper tail exceeds `alpha`, or `None` when all are rejected;
/// no cost is above `most`.
///
/// # Errors
/// As [`cost_weights`].
pub fn largest_passing(
    cells: &[Cell],
    total: f64,
    n: usize,
    most: usize,
    alpha: f64,
) -> Result<Option<usize>> {
    let mut cap = FIRST_CAP.min(most + 1);
    loop {
        let weights = cost_weights(cells, n, cap)?;
        let mut tail = weights[cap] / total;
        if tail <= alpha || cap > most {
            for cost in (0..cap).rev() {
                tail += weights[cost] / total;
                if tail > alpha && weights[cost] > 0.0 {
                    return Ok(Some(cost));
                }
            }
            return Ok(None);
        }
        cap = (cap * 2).min(most + 1);
    }
}

/// Costs looked at first by [`largest_passing`]; doubled until they suffice.
const FIRST_CAP: usize = 32;

/// The share of subsets of `n` whose cost is at most `largest`, and its delete-one jackknife error.
///
/// # Errors
/// As [`cost_weights`].
pub fn pool_share(
    law: &TotalVariation<'_>,
    counts: &[u64],
    n_invalid: usize,
    n: usize,
    largest: usize,
) -> Result<(f64, f64)> {
    let (mut cells, total) = law.pool_cells(counts, n_invalid, n);
    let passing = |cells: &[Cell]| -> Result<f64> {
        Ok(cost_weights(cells, n, largest + 1)?[..=largest].iter().sum::<f64>() / total)
    };
    let rate = passing(&cells)?;
    let held: Vec<f64> =
        counts.iter().map(|&c| c as f64).chain(std::iter::once(n_invalid as f64)).collect();
    let size: f64 = held.iter().sum();
    let chosen = n as f64;
    if chosen >= size {
        return Ok((rate.min(1.0), f64::NAN));
    }
    let mut spread = 0.0;
    for (cell, &held) in held.iter().enumerate().filter(|(_, held)| **held > 0.0) {
        let plain = cells[cell].weights.clone();
        cells[cell].weights.iter_mut().enumerate().for_each(|(c, w)| *w *= c as f64);
        let with_each = passing(&cells)? / held;
        cells[cell].weights = plain;
        spread += held * (chosen * rate - size * with_each).powi(2);
    }
    Ok((rate.min(1.0), ((size - 1.0) / size * spread).sqrt() / (size - chosen)))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Draws of the total-variation distance under the null, for any probabilities.
#[derive(Debug, Clone)]
pub struct Sampler {
    probabilities: Vec<f64>,
    /// For each cell but the last and each number of answers left: cumulated binomial.
    tables: Vec<Vec<Vec<f64>>>,
    n: usize,
}

impl Sampler {
    /// Prepare draws of `n` answers.
    #[must_use]
    pub fn new(probabilities: &[f64], n: usize) -> Self {
        let rest = |j: usize| probabilities[j..].iter().sum::<f64>();
        let table = |p: f64, left: usize| -> Vec<f64> {
            let cumulate = |sum: &mut f64, c| {
                *sum += binomial(c, left, p, 1.0 - p);
                Some(*sum)
            };
            (0..=left).scan(0.0, cumulate).collect()
        };
        let tables = (0..probabilities.len().saturating_sub(1))
            .map(|j| {
                let p = (probabilities[j] / rest(j).max(f64::MIN_POSITIVE)).min(1.0);
                (0..=n).map(|left| table(p, left)).collect()
            })
            .collect();
        Self { probabilities: probabilities.to_vec(), tables, n }
    }

    /// One draw of the distance.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        let (mut left, mut distance) = (self.n, 0.0);
        for (j, &p) in self.probabilities.iter().enumerate() {
            let count = match self.tables.get(j) {
                Some(tables) => {
                    let unit = stream.unit();
                    tables[left].partition_point(|&cumulated| cumulated <= unit).min(left)
                }
                None => left,
            };
            left -= count;
            distance += (count as f64 / self.n as f64 - p).abs();
        }
        distance / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: TotalVariation<'static> = TotalVariation { numerators: &[5, 3, 2], denominator: 10 };

    /// Every way to place n answers in three cells, with its probability.
    fn compositions(n: u64) -> impl Iterator<Item = ([u64; 3], f64)> {
        let factorial = |k: u64| (1..=k).map(|i| i as f64).product::<f64>();
        (0..=n).flat_map(move |a| (0..=n - a).map(move |b| [a, b, n - a - b])).map(move |c| {
            let ways = factorial(n) / c.iter().map(|&k| factorial(k)).product::<f64>();
            let [x, y, z] = c.map(|k| i32::try_from(k).unwrap_or(0));
            (c, ways * 0.5f64.powi(x) * 0.3f64.powi(y) * 0.2f64.powi(z))
        })
    }

    #[test]
    fn tails_equal_the_enumeration() -> Result<()> {
        for n in [1, 4, 7, 12] {
            let (cells, total) = LAW.null_cells(n);
            for cost in 0..=10 * n / usize::try_from(LAW.unit(n)).unwrap_or(1) {
                let want: f64 = compositions(n as u64)
                    .filter(|(c, _)| LAW.statistic(c, 0) >= cost)
                    .map(|(_, p)| p)
                    .sum();
                let got = upper_tail(&cells, total, n, cost)?;
                assert!((got - want).abs() <= 1e-13 * want, "{n} {cost}: {got} is not {want}");
            }
        }
        Ok(())
    }

    #[test]
    fn the_largest_passing_cost_splits_at_alpha() -> Result<()> {
        for n in [3, 20, 50] {
            let (cells, total) = LAW.null_cells(n);
            let largest = largest_passing(&cells, total, n, LAW.largest(n), 0.01)?.unwrap_or(0);
            assert!(upper_tail(&cells, total, n, largest)? > 0.01);
            assert!(upper_tail(&cells, total, n, largest + 1)? <= 0.01);
        }
        Ok(())
    }

    #[test]
    fn pairs_are_the_birthday_problem() -> Result<()> {
        let (cells, total) = pair_cells(365, 23);
        let distinct: f64 = (0..23).map(|i| f64::from(365 - i) / 365.0).product();
        let got = upper_tail(&cells, total, 23, 1)?;
        assert!((got - (1.0 - distinct)).abs() < 1e-13, "{got}");
        let (cells, total) = pair_cells(24, 10);
        let got = upper_tail(&cells, total, 10, 45)?;
        assert!((got / 24f64.powi(-9) - 1.0).abs() < 1e-12, "{got}");
        Ok(())
    }

    #[test]
    fn the_share_equals_that_of_all_subsets() -> Result<()> {
        let (counts, n_invalid, largest) = ([4u64, 1, 3], 2, 12);
        let slots: Vec<usize> = [0, 0, 0, 0, 1, 2, 2, 2, 3, 3].to_vec();
        let share = |slots: &[usize], n: usize| -> f64 {
            let (mut passing, mut all) = (0.0, 0.0);
            for mask in 0u32..1 << slots.len() {
                if mask.count_ones() as usize == n {
                    let mut chosen = [0u64; 4];
                    (0..slots.len()).filter(|i| mask >> i & 1 == 1).for_each(|i| {
                        chosen[slots[i]] += 1;
                    });
                    let lost = usize::try_from(chosen[3]).unwrap_or(0);
                    let statistic = LAW.statistic(&chosen[..3], lost);
                    passing += f64::from(u8::from(statistic <= largest));
                    all += 1.0;
                }
            }
            passing / all
        };
        for n in 1..=10 {
            let (rate, error) = pool_share(&LAW, &counts, n_invalid, n, largest)?;
            let want = share(&slots, n);
            assert!((rate - want).abs() < 1e-13, "{n}: {rate} is not {want}");
            if n == 10 {
                assert!(error.is_nan());
                continue;
            }
            let without: Vec<f64> =
                (0..10).map(|t| share(&[&slots[..t], &slots[t + 1..]].concat(), n)).collect();
            let mean = without.iter().sum::<f64>() / 10.0;
            let want = (0.9 * without.iter().map(|u| (u - mean).powi(2)).sum::<f64>()).sqrt();
            assert!((error - want).abs() < 1e-12, "{n}: {error} is not {want}");
        }
        Ok(())
    }

    #[test]
    fn draws_follow_the_exact_law() -> Result<()> {
        let (cells, total) = LAW.null_cells(20);
        let exact = upper_tail(&cells, total, 20, 5)?;
        let sampler = Sampler::new(&[0.5, 0.3, 0.2], 20);
        let mut stream = Stream::new(1, 2, 3);
        let distance = 5.0 * LAW.unit(20) as f64 / 200.0 - 1e-9;
        let hits = (0..40_000).filter(|_| sampler.draw(&mut stream) >= distance).count();
        let error = (exact * (1.0 - exact) / 4e4).sqrt();
        assert!((hits as f64 / 4e4 - exact).abs() < 4.0 * error, "{hits} for {exact}");
        Ok(())
    }
}
