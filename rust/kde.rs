//! Gaussian kernel density estimates on an even grid, as `scipy.stats.gaussian_kde` with Scott's
//! bandwidth defines them (Scott 1992, doi:10.1002/9780470316849), normalised to sum to 1.
//!
//! Along an even grid the Gaussian obeys a two-term recurrence, so an observation costs one
//! exponential and two multiplications a grid point, and memory is the grid. All exponents are
//! taken relative to the largest one, which defines the limits: a bandwidth far below the grid's
//! step puts each observation on its nearest grid point, and so does a constant sample.

/// Kernel values below exp(-37) = 8.5e-17 of the largest do not change a sum in double precision.
const NEGLIGIBLE_EXPONENT: f64 = 37.0;

/// Bandwidths to a step of the grid beyond which an exponent, their square, has no digits left to
/// tell two points at the same distance apart.
const WIDEST_STEP: f64 = 1e6;

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

/// Grid points computed side by side, so that no multiplication waits for the one before it.
const LANES: usize = 8;

/// What all kernels of one bandwidth share, for a grid `step` bandwidths wide.
struct Kernel {
    step: f64,
    /// `exp(-k(k-1)/2 step^2)` for the k-th point outwards, k = 1..=8.
    first: [f64; LANES],
    /// `exp(-(8k + 28) step^2)`: what eight points further multiplies by, beside the tilt.
    stride: [f64; LANES],
    /// `exp(-64 step^2)`: by how much that factor shrinks every eight points.
    decay: f64,
}

impl Kernel {
    fn new(step: f64) -> Self {
        let power = |exponent: f64| (-exponent * step * step).exp();
        Self {
            step,
            first: std::array::from_fn(|i| power(0.5 * (i * (i + 1)) as f64)),
            stride: std::array::from_fn(|i| power((8 * i + 36) as f64)),
            decay: power(64.0),
        }
    }

    /// Add the kernel's values at the points outwards from its peak on one side; `tilt` is the
    /// exponent of the ratio of the first two values. With `is_left` the nearest point is the last.
    fn add_side(&self, points: &mut [f64], peak: f64, tilt: f64, is_left: bool) {
        let ratio = tilt.exp();
        let far = (LANES as f64 * tilt).exp();
        let (mut value, mut factor) = ([0.0; LANES], [0.0; LANES]);
        let mut power = peak;
        for k in 0..LANES {
            power *= ratio;
            let lane = if is_left { LANES - 1 - k } else { k };
            value[lane] = power * self.first[k];
            factor[lane] = far * self.stride[k];
        }
        let mut add = |block: &mut [f64; LANES]| {
            for lane in 0..LANES {
                block[lane] += value[lane];
                value[lane] *= factor[lane];
                factor[lane] *= self.decay;
            }
        };
        let mut rest = [0.0; LANES];
        if is_left {
            let (head, blocks) = points.as_rchunks_mut::<LANES>();
            blocks.iter_mut().rev().for_each(&mut add);
            add(&mut rest);
            let skipped = LANES - head.len();
            head.iter_mut().zip(&rest[skipped..]).for_each(|(point, v)| *point += v);
        } else {
            let (blocks, tail) = points.as_chunks_mut::<LANES>();
            blocks.iter_mut().for_each(&mut add);
            add(&mut rest);
            tail.iter_mut().zip(&rest).for_each(|(point, v)| *point += v);
        }
    }
}

/// Add up the kernels of a sorted sample on the grid and scale the sum to 1.
///
/// Equal observations are evaluated once and weighted.
pub fn density(sorted: &[f64], grid: &Grid, out: &mut [f64]) {
    let step = grid.step();
    let width = bandwidth(sorted);
    out.fill(0.0);
    // Distance to the nearest grid point, in bandwidths, of the observation that has the shortest.
    let excess = |x: f64| (x - grid.point(grid.nearest(x, step), step)).abs();
    let shortest = sorted.iter().map(|&x| excess(x)).fold(f64::INFINITY, f64::min) / width;
    if width == 0.0 || step / width >= WIDEST_STEP || !shortest.is_finite() {
        for run in sorted.chunk_by(|a, b| a == b) {
            out[grid.nearest(run[0], step)] += run.len() as f64;
        }
    } else {
        let largest = 0.5 * shortest * shortest;
        let kernel = Kernel::new(step / width);
        let reach = reach(&kernel, largest, grid.len);
        for run in sorted.chunk_by(|a, b| a == b) {
            let centre = grid.nearest(run[0], step);
            let offset = (grid.point(centre, step) - run[0]) / width;
            let peak = run.len() as f64 * (largest - 0.5 * offset * offset).exp();
            // One exponent a side: split into two factors, wide steps would give 0 times infinity.
            let tilt = |side: f64| -kernel.step * (0.5 * kernel.step + side * offset);
            out[centre] += peak;
            let (left, right) = (centre.saturating_sub(reach), out.len().min(centre + 1 + reach));
            kernel.add_side(&mut out[left..centre], peak, tilt(-1.0), true);
            kernel.add_side(&mut out[centre + 1..right], peak, tilt(1.0), false);
        }
    }
    let total: f64 = out.iter().sum();
    for value in out {
        *value /= total;
    }
}

/// Grid points on a side after which nothing more can be seen.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped to the grid
fn reach(kernel: &Kernel, largest: f64, len: usize) -> usize {
    let points = (2.0 * (NEGLIGIBLE_EXPONENT + largest)).sqrt() / kernel.step;
    points.min(len as f64) as usize + 1
}
