//! Gaussian kernel density estimates on an even grid, as `scipy.stats.gaussian_kde` with Scott's
//! bandwidth defines them (Scott 1992, doi:10.1002/9780470316849), normalised to sum to 1.
//!
//! The kernel of an observation d off a point c is, v further, `exp(-v^2/2) exp(-d^2/2) exp(v d)`
//! in bandwidths: a Gaussian that all observations near c share, times a geometric series along the
//! grid, which costs a multiplication and an addition a point. Where many observations lie within
//! two bandwidths, a few weighted nodes stand for them all: `exp(v d)` is interpolated in d at the
//! Chebyshev nodes (Trefethen 2013, doi:10.1137/1.9781611975949), to the last digit of a double.
//!
//! On a grid coarser than the bandwidth exponents are taken relative to the largest one, which
//! defines the limits: a bandwidth far below the grid's step puts each observation on its nearest
//! grid point, and so does a constant sample.

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
/// Series added up side by side, which halves what is read and written.
const TOGETHER: usize = 2;
/// Nodes that stand for the observations within two bandwidths. What they neglect is at most
/// `max exp(-v^2/2) (v/2)^22 / 22!` = 2e-18 of a kernel.
const NODES: usize = 22;

/// Equal observations, or a node that stands for unequal ones.
#[derive(Debug, Clone, Copy, Default)]
struct Point {
    /// Less the estimate's centre.
    value: f64,
    weight: f64,
}

/// A kernel density estimate, ready for any grid around its sample.
#[derive(Debug, Clone)]
pub struct Estimate {
    centre: f64,
    width: f64,
    points: Vec<Point>,
}

impl Estimate {
    /// Prepare the estimate of a sorted, finite sample.
    #[must_use]
    pub fn new(sorted: &[f64]) -> Self {
        let (centre, width) = (sorted[sorted.len() / 2], bandwidth(sorted));
        let runs = sorted.chunk_by(|a, b| a == b);
        let mut points: Vec<Point> =
            runs.map(|run| Point { value: run[0] - centre, weight: run.len() as f64 }).collect();
        if points.len() > 2 * NODES {
            points = within(&points, 2.0 * width).flat_map(condensed).collect();
        }
        Self { centre, width, points }
    }

    /// Add up the kernels of the sample, which is given again, on the grid and scale the sum to 1.
    pub fn density(&self, sorted: &[f64], grid: &Grid, out: &mut [f64]) {
        out.fill(0.0);
        if grid.step() <= self.width {
            self.add_series(grid, out);
        } else {
            add_few(sorted, self.width, grid, out);
        }
        let total: f64 = out.iter().sum();
        for value in out {
            // Nodes of negative weight may leave a rounding error below 0.
            *value = value.max(0.0) / total;
        }
    }

    /// The sum of all kernels on a grid no coarser than the bandwidth.
    fn add_series(&self, grid: &Grid, out: &mut [f64]) {
        let (step, last) = (grid.step(), grid.len - 1);
        let step_widths = step / self.width;
        // Half a bandwidth and half a step is the most that an observation lies off its centre.
        let reach = (2.0 * NEGLIGIBLE_EXPONENT).sqrt() + 0.5 * (1.0 + step_widths);
        let reach = points_within(reach, step_widths, last);
        let side: Vec<f64> =
            (0..=reach).map(|k| (-0.5 * (k as f64 * step_widths).powi(2)).exp()).collect();
        let gaussian: Vec<f64> = side[1..].iter().rev().chain(&side).copied().collect();
        let mut series = vec![[0.0; LANES]; grid.len.div_ceil(LANES)];
        for near in within(&self.points, self.width) {
            let middle = 0.5 * (near[0].value + near[near.len() - 1].value) + self.centre;
            let centre = grid.nearest(middle, step);
            let (first, end) = (centre.saturating_sub(reach), (centre + reach).min(last) + 1);
            let series = &mut series[..(end - first).div_ceil(LANES)];
            series.fill([0.0; LANES]);
            let from = (centre - first) as f64 * step_widths;
            let origin = grid.point(centre, step) - self.centre;
            for some in near.chunks(TOGETHER) {
                let mut some = some.iter();
                let started: [_; TOGETHER] = std::array::from_fn(|_| {
                    let point = some.next().copied().unwrap_or_default();
                    let off = if point.weight == 0.0 { 0.0 } else { point.value - origin };
                    Series::start(off / self.width, point.weight, from, step_widths)
                });
                add_together(started, series);
            }
            let gaussian = &gaussian[reach - (centre - first)..];
            for ((value, sum), gauss) in
                out[first..end].iter_mut().zip(series.as_flattened()).zip(gaussian)
            {
                *value += gauss * sum;
            }
        }
    }
}

/// The geometric series of one observation along the grid, eight points at a time.
struct Series {
    values: [f64; LANES],
    factor: f64,
}

impl Series {
    /// `weight exp(-off^2/2) exp(v off)` for v = -from, step - from, ..., all in bandwidths.
    fn start(off: f64, weight: f64, from: f64, step: f64) -> Self {
        let mut value = weight * (-off * (0.5 * off + from)).exp();
        let ratio = (off * step).exp();
        let values = std::array::from_fn(|_| {
            let here = value;
            value *= ratio;
            here
        });
        Self { values, factor: (LANES as f64 * off * step).exp() }
    }
}

fn add_together(mut series: [Series; TOGETHER], sums: &mut [[f64; LANES]]) {
    for sum in sums {
        for one in &mut series {
            for (sum, value) in sum.iter_mut().zip(&mut one.values) {
                *sum += *value;
                *value *= one.factor;
            }
        }
    }
}

/// Stretches of sorted points, none of them longer than `length`.
fn within(points: &[Point], length: f64) -> impl Iterator<Item = &[Point]> {
    let mut rest = points;
    std::iter::from_fn(move || {
        let last = rest.first()?.value + length;
        let near = rest.iter().take_while(|point| point.value <= last).count().max(1);
        let (stretch, others) = rest.split_at(near);
        rest = others;
        Some(stretch)
    })
}

/// The points themselves if they are few, or else as many weighted Chebyshev nodes between the
/// first and the last as give every smooth function the same sum.
fn condensed(points: &[Point]) -> Vec<Point> {
    if points.len() <= 2 * NODES {
        return points.to_vec();
    }
    let (first, last) = (points[0].value, points[points.len() - 1].value);
    let (middle, half) = (0.5 * (first + last), 0.5 * (last - first));
    let mut sums = [0.0; NODES];
    for point in points {
        let polynomials = chebyshev((point.value - middle) / half);
        sums.iter_mut().zip(polynomials).for_each(|(sum, t)| *sum += point.weight * t);
    }
    let node = |q: usize| {
        let place = -((q as f64 + 0.5) * std::f64::consts::PI / NODES as f64).cos();
        let sum: f64 = sums.iter().zip(chebyshev(place)).map(|(sum, t)| sum * t).sum();
        Point { value: middle + half * place, weight: (2.0 * sum - sums[0]) / NODES as f64 }
    };
    (0..NODES).map(node).collect()
}

/// Chebyshev's polynomials of degree 0, 1, ... at a place between -1 and 1.
fn chebyshev(place: f64) -> [f64; NODES] {
    let (mut next, mut here) = (place, 1.0);
    std::array::from_fn(|_| {
        let value = here;
        (here, next) = (next, 2.0 * place * next - here);
        value
    })
}

/// Add kernels that reach a few points only, relative to the largest value of all.
fn add_few(sorted: &[f64], width: f64, grid: &Grid, out: &mut [f64]) {
    let step = grid.step();
    // Distance to the nearest grid point, in bandwidths, of the observation that has the shortest.
    let excess = |x: f64| (x - grid.point(grid.nearest(x, step), step)).abs();
    let shortest = sorted.iter().map(|&x| excess(x)).fold(f64::INFINITY, f64::min) / width;
    let on_nearest = width == 0.0 || step / width >= WIDEST_STEP || !shortest.is_finite();
    let largest = 0.5 * shortest * shortest;
    let reach = (2.0 * (NEGLIGIBLE_EXPONENT + largest)).sqrt();
    for run in sorted.chunk_by(|a, b| a == b) {
        let (centre, weight) = (grid.nearest(run[0], step), run.len() as f64);
        if on_nearest {
            out[centre] += weight;
            continue;
        }
        let reach = points_within(reach, step / width, grid.len - 1);
        let (first, end) = (centre.saturating_sub(reach), (centre + reach).min(grid.len - 1) + 1);
        for (i, value) in (first..end).zip(&mut out[first..end]) {
            let distance = (grid.point(i, step) - run[0]) / width;
            *value += weight * (largest - 0.5 * distance * distance).exp();
        }
    }
}

/// Grid points on a side within so many bandwidths, and one more.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped to the grid
fn points_within(bandwidths: f64, step_widths: f64, last: usize) -> usize {
    (bandwidths / step_widths).min(last as f64) as usize + 1
}
