//! Tests against a law on any cdf values: KS by every composition, Kuiper and Anderson-Darling by
//! their classical formulas, and tails that are probabilities and never rise.
#![no_main]

use libfuzzer_sys::fuzz_target;
use unpredictabench::crossing::Scratch;
use unpredictabench::edf::Corners;
use unpredictabench::onesample::{SAME, asymptotic, continuous, critical_distance, stepped};
use unpredictabench::smirnov::Side;
use unpredictabench::{anderson, cramer, kuiper};
use unpredictabench_fuzz::input::Input;
use unpredictabench_fuzz::{assert_close, definitions};

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let n = input.size(1, 40);
    statistics(&mut input, n);
    tails(&mut input, n);
    steps(&mut input);
});

fn statistics(input: &mut Input<'_>, n: usize) {
    let mut u: Vec<f64> = (0..n).map(|_| input.unit()).collect();
    let mut corners = Corners::default();
    corners.fill(&u, &u, &mut Vec::new());
    u.sort_by(f64::total_cmp);
    let (size, at) = (n as f64, |i: usize| i as f64 / n as f64);
    let excess = |best: f64, v: f64| best.max(v);
    let above = u.iter().enumerate().map(|(i, u)| at(i + 1) - u).fold(0.0, excess);
    let below = u.iter().enumerate().map(|(i, u)| u - at(i)).fold(0.0, excess);
    assert_close("Kuiper's V", corners.kuiper(), above + below, (1e-14, 1e-15));
    let squares = u.iter().enumerate().map(|(i, u)| (at(2 * i + 1) / 2.0 - u).powi(2));
    let cramer = squares.sum::<f64>() + 1.0 / (12.0 * size);
    assert_close("W2", size * corners.squared_area(), cramer, (1e-11, 1e-14));
    let got = size * corners.weighted_area();
    if u[0] == 0.0 || u[n - 1] == 1.0 {
        assert_eq!(got, f64::INFINITY, "an impossible observation");
        return;
    }
    let weight = |(i, v): (usize, &f64)| at(2 * i + 1) * (v.ln() + (-u[n - 1 - i]).ln_1p());
    let anderson = -size - u.iter().enumerate().map(weight).sum::<f64>();
    assert_close("A2", got, anderson, (1e-9, 1e-12 * size * size));
}

/// A tail lies in [0, 1] and never rises with the distance.
fn tails(input: &mut Input<'_>, n: usize) {
    let (a, b) = (input.unit(), input.unit());
    let (near, far) = (a.min(b), a.max(b));
    let mut scratch = Scratch::default();
    let mut falls = |name: &str, tail: &mut dyn FnMut(f64, &mut Scratch) -> f64| {
        let (p, q) = (tail(near, &mut scratch), tail(far, &mut scratch));
        assert!((0.0..=1.0).contains(&p), "{name} of {near:e} is {p}");
        assert!((0.0..=1.0).contains(&q), "{name} of {far:e} is {q}");
        assert!(q <= p * (1.0 + 1e-11) + 1e-15, "{name} rises from {p:e} to {q:e}");
    };
    falls("Kuiper", &mut |v, s| kuiper::tail(n, 2.0 * v, s).0);
    falls("Anderson", &mut |v, _| anderson::tail(n, 60.0 * v));
    falls("Cramer", &mut |v, _| cramer::tail(n, v * n as f64 / 3.0));
    for side in [Side::Both, Side::Upper, Side::Lower] {
        falls("KS", &mut |d, s| continuous(n, d, side, s).p);
        falls("KS limit", &mut |d, _| asymptotic(n, d, side).p);
    }
    let alpha = far.clamp(1e-9, 0.9);
    let critical = critical_distance(n, alpha, &mut scratch);
    let p = continuous(n, critical, Side::Both, &mut scratch).p;
    assert!(p <= alpha * (1.0 + 1e-9), "the critical distance has p {p:e} above {alpha:e}");
}

/// A law with up to four steps: the tail by every composition.
fn steps(input: &mut Input<'_>) {
    let (n, cells) = (input.size(1, 7), input.size(1, 4));
    let weights: Vec<f64> = (0..cells).map(|_| f64::from(input.byte() % 16) + 1.0).collect();
    let total: f64 = weights.iter().sum();
    let heights: Vec<f64> = (1..=cells).map(|k| weights[..k].iter().sum::<f64>() / total).collect();
    let d = (input.unit() + 1e-6).min(1.0) - 2e-9; // no tie with an attainable distance
    let size = n as f64;
    let levels = || std::iter::once(0.0).chain(heights.iter().copied());
    let below: Vec<f64> = (1..=n)
        .map(|j| levels().filter(|&u| u <= j as f64 / size - d).fold(f64::NAN, f64::max))
        .collect();
    let above: Vec<f64> = (0..n)
        .map(|j| levels().filter(|&u| u >= j as f64 / size + d).fold(f64::NAN, f64::min))
        .collect();
    for side in [Side::Both, Side::Upper, Side::Lower] {
        let got = stepped(n, &below, &above, side, &mut Scratch::default());
        let (mut hits, mut is_near) = (0.0, false);
        definitions::compositions(n, cells, &mut |counts, ways| {
            let mut seen = 0;
            let (mut over, mut under) = (0.0f64, 0.0f64);
            let mut p = ways as f64;
            for (k, &count) in counts.iter().enumerate() {
                seen += count;
                over = over.max(seen as f64 / size - heights[k]);
                under = under.max(heights[k] - seen as f64 / size);
                p *= (weights[k] / total).powi(i32::try_from(count).unwrap_or(0));
            }
            let reached = match side {
                Side::Both => over.max(under),
                Side::Upper => over,
                Side::Lower => under,
            };
            is_near |= (reached - d).abs() < 4.0 * SAME;
            if reached >= d {
                hits += p;
            }
        });
        if !is_near {
            assert_close("stepped p", got.p, hits, (1e-11, 1e-15));
        }
    }
}
