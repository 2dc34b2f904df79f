//! Kuiper's statistic against a law and its exact null.
//!
//! V does not change when the circle is turned. Turn it so that the observation just before which
//! F - G is smallest stands at 0: each of the n observations is that one equally often, hence
//! P(V >= v) is n times the probability that for the n - 1 others the path never falls below 0 and
//! reaches v. Once v is reached, the ballot theorem gives the rest. Kuiper 1960; Stephens 1965,
//! doi:10.1093/biomet/52.3-4.309.

use crate::crossing::{Checkpoint, Scratch, mass_outside};
use crate::onesample::EXACT_OBSERVATIONS;
use crate::pmf::poisson;

/// P(V >= v) for `n` observations of a continuous law, and whether it is exact.
///
/// ```
/// use unpredictabench::crossing::Scratch;
/// // Two points: V is 1 less the shorter of the two gaps on the circle, which is uniform.
/// let (p, _) = unpredictabench::kuiper::tail(2, 0.9, &mut Scratch::default());
/// assert!((p - 0.2).abs() < 1e-14);
/// ```
#[must_use]
pub fn tail(n: usize, v: f64, scratch: &mut Scratch) -> (f64, bool) {
    let size = n as f64;
    if n > EXACT_OBSERVATIONS {
        return (asymptotic(size, v), false);
    }
    if v * size <= 1.0 + 1e-12 {
        return (1.0, true); // V is at least 1/n
    }
    if v >= 1.0 {
        return (0.0, true);
    }
    let others = n - 1;
    let checkpoints = checks(n, v);
    // The ballot theorem: r points left on a length L stay at or above the line of slope n that
    // ends in the corner with probability 1 - r / (n L).
    let total = poisson(others, others as f64);
    let reached = |k: usize, level: f64| {
        let (left, length) = ((others - k) as f64, 1.0 - level);
        let stays = 1.0 - left / (size * length);
        if stays <= 0.0 {
            return 0.0;
        }
        stays * poisson(others - k, others as f64 * length) / total
    };
    let p = size * mass_outside(others, &checkpoints, scratch, reached, |_, _| 0.0);
    (p.min(1.0), true)
}

/// Levels at which the turned path of the `n - 1` others reaches v (upper) or falls below 0.
fn checks(n: usize, v: f64) -> Vec<Checkpoint> {
    let size = n as f64;
    // From k others on the path is at v: (k + 1) / n - u >= v, for k = 0..n.
    let reach = |k: usize| (k + 1) as f64 / size - v;
    let first = (0..n).find(|&k| reach(k) > 0.0).unwrap_or(n);
    let uppers = (first..n).map(reach);
    let lowers = (1..n).map(|j| j as f64 / size);
    let mut levels: Vec<f64> = uppers.chain(lowers).filter(|&u| u < 1.0).collect();
    levels.sort_unstable_by(f64::total_cmp);
    levels.dedup();
    let mut out = Vec::with_capacity(levels.len());
    let (mut low, mut next) = (0, first);
    for level in levels {
        // Not below 0 just after this level: k + 1 > n u. Multiples of 1/n are met exactly.
        while (low + 1) as f64 / size <= level {
            low += 1;
        }
        while next < n && reach(next) < level {
            next += 1;
        }
        // At or above the next count that reaches v the path is bound to be there.
        let high = if next < n { next.saturating_sub(1) } else { n };
        out.push(Checkpoint { level, low, high });
    }
    out
}

/// Kuiper's limit law at Stephens' modification of v (1970), which is good to 1e-3 of p.
fn asymptotic(n: f64, v: f64) -> f64 {
    let root = n.sqrt();
    let z = v * (root + 0.155 + 0.24 / root);
    if z < 0.4 {
        return 1.0;
    }
    let term = |j: f64| {
        let square = (j * z) * (j * z);
        2.0 * (4.0 * square - 1.0) * (-2.0 * square).exp()
    };
    (1..=40).map(|j| term(f64::from(j))).sum::<f64>().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edf::Corners;
    use crate::rng::Stream;

    fn exact(n: usize, v: f64) -> f64 {
        tail(n, v, &mut Scratch::default()).0
    }

    /// The closed form of Stephens (1965) for v >= 1/2, with y = v + t/n.
    fn upper_tail(n: usize, v: f64) -> f64 {
        let size = n as f64;
        let choose =
            |k: usize| -> f64 { (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product() };
        let term = |t: usize| {
            let s = t as f64;
            let y = v + s / size;
            let polynomial = y.powi(3) * size - y * y * s * (3.0 - 2.0 / size)
                + y * s * (s - 1.0) * (3.0 - 2.0 / size) / size
                - s * (s - 1.0) * (s - 2.0) / (size * size);
            let exponent = |k: usize| i32::try_from(k).unwrap_or(0);
            choose(t) * (1.0 - y).powi(exponent(n - t) - 1) * y.powi(exponent(t) - 3) * polynomial
        };
        (0..n).take_while(|&t| (t as f64) < size * (1.0 - v)).map(term).sum()
    }

    #[test]
    fn two_observations_by_hand() {
        // V = 1 - (the shorter gap), so that P(V >= v) = 2 (1 - v) for v above 1/2.
        for v in [0.55, 0.7, 0.95] {
            assert!((exact(2, v) - 2.0 * (1.0 - v)).abs() < 1e-14);
        }
    }

    #[test]
    fn far_tails_equal_the_closed_form() {
        for n in [4, 10, 40] {
            for v in [0.55, 0.7, 0.9] {
                let (got, want) = (exact(n, v), upper_tail(n, v));
                assert!((got / want - 1.0).abs() < 1e-9, "{n} {v}: {got} is not {want}");
            }
        }
    }

    #[test]
    fn draws_follow_the_exact_law() {
        let (n, v, draws) = (7, 0.4, 40_000);
        let mut stream = Stream::new(3, 1, 4);
        let (mut corners, mut order) = (Corners::default(), Vec::new());
        let hits = (0..draws)
            .filter(|_| {
                let u: Vec<f64> = (0..n).map(|_| stream.unit()).collect();
                corners.fill(&u, &u, &mut order);
                corners.kuiper() >= v
            })
            .count();
        let want = exact(n, v);
        let error = (want * (1.0 - want) / f64::from(draws)).sqrt();
        assert!((hits as f64 / f64::from(draws) - want).abs() < 4.0 * error, "{hits} for {want}");
    }

    #[test]
    fn the_limit_is_close_to_the_exact_law() {
        let v = 2.0 / 31.6;
        let (got, want) = (asymptotic(1000.0, v), exact(1000, v));
        assert!((got / want - 1.0).abs() < 5e-3, "{got} is not {want}");
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(exact(1, 1.0), 1.0);
        assert_eq!(exact(5, 0.2), 1.0);
        assert_eq!(exact(5, 1.0), 0.0);
    }
}
