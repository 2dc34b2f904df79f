//! A sample seen through a law's cdf: a piecewise linear cdf on [0, 1] to be compared with u.
//!
//! Each observation spreads its mass evenly over the jump that the law has there; where the law is
//! continuous that is a point, and the classical statistics result. Reference: Czado, Gneiting &
//! Held 2009, doi:10.1111/j.1541-0420.2009.01191.x (the non-randomised probability integral
//! transform).

use std::f64::consts::PI;

/// Corners of the piecewise linear cdf, from (0, 0) to (1, 1); a jump is two corners at one u.
#[derive(Debug, Clone, Default)]
pub struct Corners(Vec<(f64, f64)>);

impl Corners {
    /// Fill with a sample through the law's cdf at its observations and the left limits there.
    pub fn fill(&mut self, cdf: &[f64], cdf_left: &[f64], order: &mut Vec<(f64, f64)>) {
        order.clear();
        order.extend(cdf_left.iter().copied().zip(cdf.iter().copied()));
        order.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.total_cmp(&b.0)));
        let n = order.len() as f64;
        self.0.clear();
        self.0.push((0.0, 0.0));
        let (mut seen, mut height) = (0, 0.0);
        while let Some(&(left, right)) = order.get(seen) {
            let same = order[seen..].iter().take_while(|&&o| o == (left, right)).count();
            seen += same;
            let next = seen as f64 / n;
            self.0.extend([(left, height), (right, next)]);
            height = next;
        }
        self.0.push((1.0, 1.0));
    }

    /// Kuiper's V: the largest excess over u plus the largest below it.
    #[must_use]
    pub fn kuiper(&self) -> f64 {
        let (above, below) = self
            .0
            .iter()
            .fold((0.0f64, 0.0f64), |(above, below), &(u, f)| (above.max(f - u), below.max(u - f)));
        above + below
    }

    /// The integral of (F(u) - u)^2, for Cramer & von Mises.
    #[must_use]
    pub fn squared_area(&self) -> f64 {
        let segment = |w: &[(f64, f64)]| {
            let (first, last) = (w[0].1 - w[0].0, w[1].1 - w[1].0);
            (w[1].0 - w[0].0) * (first * first + first * last + last * last) / 3.0
        };
        self.0.windows(2).map(segment).sum()
    }

    /// The integral of (F(u) - u)^2 / (u (1 - u)), for Anderson & Darling; infinite when an
    /// observation is impossible under the law.
    #[must_use]
    pub fn weighted_area(&self) -> f64 {
        self.0.windows(2).map(|w| weighted_segment(w[0], w[1])).sum()
    }
}

fn weighted_segment((u0, f0): (f64, f64), (u1, f1): (f64, f64)) -> f64 {
    if u0 == u1 {
        let is_impossible = (u0 == 0.0 && f1 > 0.0) || (u0 == 1.0 && f0 < 1.0);
        return if is_impossible { f64::INFINITY } else { 0.0 };
    }
    // F(u) - u = a + e u = a (1 - u) + b u: split into partial fractions.
    let slope = (f1 - f0) / (u1 - u0);
    let (at_0, at_1) = (f0 - slope * u0, f1 + slope * (1.0 - u1) - 1.0);
    let excess = slope - 1.0;
    let low = if u0 == 0.0 { 0.0 } else { at_0 * at_0 * ln_ratio(u0, u1) };
    let high = if u1 == 1.0 { 0.0 } else { at_1 * at_1 * ((u1 - u0) / (1.0 - u1)).ln_1p() };
    low + high - excess * excess * (u1 - u0)
}

/// ln(high / low), also where the ratio is beyond the largest double, which a subnormal `low` makes it.
fn ln_ratio(low: f64, high: f64) -> f64 {
    let excess = (high - low) / low;
    if excess.is_finite() { excess.ln_1p() } else { high.ln() - low.ln() }
}

/// P(Q > x) for Q the sum of squared standard normals over rising `poles`, of which `determinant`
/// is the Fredholm determinant (Smirnov 1937): alternating integrals between pairs of poles.
pub(crate) fn quadratic_tail(
    x: f64,
    pole: impl Fn(f64) -> f64,
    determinant: impl Fn(f64) -> f64,
) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let mut tail = 0.0;
    for pair in 1..MOST_PAIRS {
        let j = 2.0 * f64::from(pair);
        let (a, b) = (pole(j - 1.0), pole(j));
        let (middle, half) = (f64::midpoint(a, b), (b - a) / 2.0);
        let node = |i: u32| {
            let y = middle + half * ((f64::from(i) + 0.5) * PI / f64::from(NODES)).cos();
            (-x * y / 2.0).exp() / y * ((y - a) * (b - y) / determinant(y).abs()).sqrt()
        };
        let part = (0..NODES).map(node).sum::<f64>() / f64::from(NODES);
        tail += if pair % 2 == 1 { part } else { -part };
        if part <= 1e-17 * tail {
            break;
        }
    }
    tail.clamp(0.0, 1.0)
}

/// Chebyshev nodes between two poles: more change nothing in the 13th digit.
const NODES: u32 = 48;
/// Pairs of poles; statistics so small that these do not suffice have p = 1 to 1e-12.
const MOST_PAIRS: u32 = 200;

/// Move a statistic of n observations to where the limit law has the same mean and variance.
pub(crate) fn to_limit(x: f64, mean: f64, variance: f64, limit_variance: f64) -> f64 {
    mean + (x - mean) * (limit_variance / variance).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the classical formula; at u = 5e-324 the ratio of neighbouring levels is no double.
    #[test]
    fn a_subnormal_level_is_possible() {
        let mut corners = Corners::default();
        for u in [5e-324, 2.5e-310, f64::MIN_POSITIVE] {
            corners.fill(&[u], &[u], &mut Vec::new());
            let want = -1.0 - u.ln() - (-u).ln_1p();
            let got = corners.weighted_area();
            assert!((got / want - 1.0).abs() < 1e-14, "{u:e}: {got} {want}");
        }
    }
}
