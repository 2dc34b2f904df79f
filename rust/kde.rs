//! Gaussian kernel density estimates on an even grid, as `scipy.stats.gaussian_kde` with Scott's
//! bandwidth defines them (Scott 1992, doi:10.1002/9780470316849), normalised to sum to 1.
//!
//! Along an even grid the Gaussian obeys a two-term recurrence, so an observation costs one
//! exponential and two multiplications a grid point, and memory is the grid. All exponents are
//! taken relative to the largest one, which defines the limits: a bandwidth far below the grid's
//! step puts each observation on its nearest grid point, and so does a constant sample.

/// Kernel values below exp(-37) = 8.5e-17 of the largest do not change a sum in double precision.
const NEGLIGIBLE_EXPONENT: f64 = 37.0;

/// An even grid, with the points that `numpy.linspace` gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// First point.
    pub start: f64,
    /// Last point.
    pub stop: f64,
    /// Number of points, at least 2.
    pub len: usize,
}

impl Grid {
    /// The grid over `low..high`, widened on each side by `padding` times the range.
    #[must_use]
    pub fn around(low: f64, high: f64, padding: f64, len: usize) -> Self {
        let margin = padding * (high - low);
        Self { start: low - margin, stop: high + margin, len }
    }

    /// Distance of neighbouring points.
    #[must_use]
    pub fn step(&self) -> f64 {
        (self.stop - self.start) / (self.len - 1) as f64
    }

    #[inline]
    fn point(&self, i: usize, step: f64) -> f64 {
        if i + 1 == self.len { self.stop } else { self.start + i as f64 * step }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped to the grid
    fn nearest(&self, x: f64, step: f64) -> usize {
        let position = ((x - self.start) / step).round();
        (position.max(0.0) as usize).min(self.len - 1)
    }
}

/// Scott's bandwidth with the unbiased variance; 0 for a constant sample, whatever rounding says.
#[must_use]
pub fn bandwidth(sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    if sorted[0] == sorted[sorted.len() - 1] {
        return 0.0;
    }
    let centre = sorted[sorted.len() / 2];
    let mean = sorted.iter().map(|x| x - centre).sum::<f64>() / n;
    let squares: f64 = sorted.iter().map(|x| (x - centre - mean).powi(2)).sum();
    (squares / (n - 1.0)).sqrt() * n.powf(-0.2)
}

/// Add up the kernels of a sorted sample on the grid and scale the sum to 1.
///
/// Equal observations are evaluated once and weighted.
pub fn density(sorted: &[f64], grid: &Grid, out: &mut [f64]) {
    let step = grid.step();
    let width = bandwidth(sorted);
    out.fill(0.0);
    let (to_steps, decay) = (step / width, (-(step / width).powi(2)).exp());
    // Distance to the nearest grid point, in bandwidths, of the observation that has the shortest.
    let excess = |x: f64| (x - grid.point(grid.nearest(x, step), step)).abs();
    let shortest = sorted.iter().map(|&x| excess(x)).fold(f64::INFINITY, f64::min) / width;
    if width == 0.0 || !shortest.is_finite() {
        for run in sorted.chunk_by(|a, b| a == b) {
            out[grid.nearest(run[0], step)] += run.len() as f64;
        }
    } else {
        let largest = 0.5 * shortest * shortest;
        for run in sorted.chunk_by(|a, b| a == b) {
            let centre = grid.nearest(run[0], step);
            let offset = (grid.point(centre, step) - run[0]) / width;
            let weight = run.len() as f64;
            let peak = weight * (largest - 0.5 * offset * offset).exp();
            add_kernel(out, centre, peak, (offset, to_steps, decay), largest);
        }
    }
    let total: f64 = out.iter().sum();
    for value in out {
        *value /= total;
    }
}

/// Add one kernel outwards from its grid point until nothing more can be seen.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped to the grid
fn add_kernel(
    out: &mut [f64],
    centre: usize,
    peak: f64,
    (offset, step, decay): (f64, f64, f64),
    largest: f64,
) {
    let reach = (2.0 * (NEGLIGIBLE_EXPONENT + largest)).sqrt() / step;
    let reach = reach.min(out.len() as f64) as usize + 1;
    out[centre] += peak;
    // One exponential a side: split into two factors, wide steps would give 0 times infinity.
    let ratio = |side: f64| (-step * (0.5 * step + side * offset)).exp();
    let right = out.len().min(centre + 1 + reach);
    spread(out[centre + 1..right].iter_mut(), peak, ratio(1.0), decay);
    let left = centre.saturating_sub(reach);
    spread(out[left..centre].iter_mut().rev(), peak, ratio(-1.0), decay);
}

#[inline]
fn spread<'a>(points: impl Iterator<Item = &'a mut f64>, peak: f64, mut ratio: f64, decay: f64) {
    let mut value = peak;
    for point in points {
        value *= ratio;
        ratio *= decay;
        *point += value;
    }
}
