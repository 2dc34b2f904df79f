//! Half of the walk of [`crate::lattice`], for bands that look the same from both ends.
//!
//! Without ties the band and its checkpoints are symmetric about the middle of the path. With A the
//! probability of leaving in the first half, which is that of leaving in the second, the
//! probability of leaving at all is `2 A` less that of leaving in both. It is at least A, so that no
//! digit is lost; and what leaves in both halves is found at the middle, state by state, as what all
//! paths weigh less those that stay.

use crate::band::Band;
use crate::lattice::{Front, QUICK, QUICK_HOLDS, Walk};
use crate::weight::Weight;

/// The most likely tails: one less the share of the paths that stay loses less than a digit, and
/// what leaves need not be followed at each checkpoint.
const LIKELY: f64 = 0.25;

/// Probability of leaving the band at one of the checkpoints, where both are symmetric about the
/// middle of the path. `guess` is about the probability.
#[must_use]
pub fn leave_symmetric(band: &Band, checkpoints: &[i64], guess: f64) -> f64 {
    let middle = band.pooled / 2;
    let half = &checkpoints[..checkpoints.partition_point(|&k| k <= middle)];
    if guess >= LIKELY {
        let mut walk = Walk::new(band, QUICK);
        walk.counts_left = false;
        let p = 1.0 - walk.halves(half, middle).staying(&walk);
        if p >= LIKELY {
            return p;
        }
    }
    if guess >= QUICK_HOLDS {
        let mut walk = Walk::new(band, QUICK);
        let halves = walk.halves(half, middle);
        let p = 2.0 * halves.here.left - halves.leaving_twice(&walk);
        if p >= QUICK_HOLDS {
            return p;
        }
    }
    Walk::new(band, f64::NEGLIGIBLE).run(checkpoints)
}

/// The weights at the middle of the path, and those at the same place seen from its end.
struct Halves {
    here: Front<f64>,
    mirrored: Front<f64>,
}

impl Halves {
    /// What a product of two weights is as a share of all paths.
    fn unit(&self, walk: &Walk<f64>) -> f64 {
        walk.per_path.shifted(self.here.exponent + self.mirrored.exponent).to_f64()
    }

    /// Share of the paths that stay inside at all checkpoints.
    fn staying(&self, walk: &Walk<f64>) -> f64 {
        let states = (self.here.first..).zip(&self.here.inside);
        let sum: f64 = states.map(|(s, w)| w * self.mirrored.weight(walk.band.few - s)).sum();
        sum * self.unit(walk)
    }

    /// Share of the paths that leave in both halves: at each state all paths less those that stay,
    /// whose rounding errors are small beside all that leave.
    fn leaving_twice(&self, walk: &Walk<f64>) -> f64 {
        let Band { few, pooled, .. } = *walk.band;
        let (k, rest) = (self.here.position, pooled - self.here.position);
        let mode = few / 2;
        let all = walk.all_paths(&self.here, mode);
        let all_mirrored = walk.all_paths(&self.mirrored, few - mode);
        let unit = self.unit(walk);
        let up = |s: i64| (k - s) as f64 / (s + 1) as f64 * walk.ratio;
        let up_mirrored = |s: i64| {
            let missing = few - s;
            missing as f64 / ((rest - missing + 1) as f64 * walk.ratio)
        };
        let term = |s: i64, all: f64, all_mirrored: f64| {
            let left = all - self.here.weight(s);
            left * (all_mirrored - self.mirrored.weight(few - s)) * unit
        };
        let counts = |all: f64, all_mirrored: f64| all * all_mirrored * unit > NEGLIGIBLE_TWICE;
        let mut sum = 0.0;
        let (mut a, mut b) = (all, all_mirrored);
        for s in mode..=few {
            sum += term(s, a, b);
            (a, b) = (a * up(s), b * up_mirrored(s));
            if !counts(a, b) {
                break;
            }
        }
        let (mut a, mut b) = (all, all_mirrored);
        for s in (0..mode).rev() {
            (a, b) = (a / up(s), b / up_mirrored(s));
            if !counts(a, b) {
                break;
            }
            sum += term(s, a, b);
        }
        sum
    }
}

/// States whose share of all paths is smaller cannot matter to a sum above [`QUICK_HOLDS`].
const NEGLIGIBLE_TWICE: f64 = 1e-28;

impl Walk<'_, f64> {
    /// Walk to the middle, from where the other half of the path looks the same.
    fn halves(&mut self, checkpoints: &[i64], middle: i64) -> Halves {
        let anywhere = (0, self.band.few);
        let mut here = Front::start();
        self.walk(&mut here, checkpoints);
        if here.position < middle {
            self.jump(&mut here, middle, anywhere);
        }
        let mut mirrored = here.clone();
        if here.position < self.band.pooled - middle {
            self.jump(&mut mirrored, self.band.pooled - middle, anywhere);
        }
        Halves { here, mirrored }
    }

    /// The weight of all paths to a state.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts below 2^24
    fn all_paths(&self, front: &Front<f64>, state: i64) -> f64 {
        let ways = self.factorials.choose(front.position as usize, state as usize);
        ways.times(self.powers[state as usize]).shifted(-front.exponent).to_f64()
    }
}
