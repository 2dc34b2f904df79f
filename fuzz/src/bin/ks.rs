//! The two-sample test on nasty samples: statistic, side and exact p by counting labelings.
#![no_main]

use libfuzzer_sys::fuzz_target;
use unpredictabench::ks::{Method, Outcome, Scratch, test};
use unpredictabench::smirnov::Side;
use unpredictabench::truth::Truth;
use unpredictabench_fuzz::input::Input;
use unpredictabench_fuzz::{assert_close, definitions};

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let (n, m) = (input.size(1, 12), input.size(1, 24));
    let (n_invalid, indexes) = (input.size(0, 3), input.byte() % 2 == 1);
    let (x, y) = (input.sample(n, false), input.sample(m, false));
    let Ok(truth) = Truth::new(&y) else { panic!("a truth without NaN is refused") };
    if indexes {
        let _ = truth.levels();
    }
    let mut scratch = Scratch::default();
    for side in [Side::Both, Side::Upper, Side::Lower] {
        let mut run = |method| match test(&x, &truth, n_invalid as i64, side, method, &mut scratch)
        {
            Ok(found) => found,
            Err(error) => panic!("{error}"),
        };
        let (found, auto) = (run(Method::Exact), run(Method::Auto));
        assert_eq!(found, auto, "small samples have their exact p by default");
        check(&found, (&x, &y, n_invalid), side);
    }
});

/// Invalid answers are observations at whichever end of all values is worse.
fn check(found: &Outcome, (x, y, n_invalid): (&[f64], &[f64], usize), side: Side) {
    let ends = |at: f64| -> (Vec<f64>, Vec<f64>) {
        // Ranks instead of values, so that there is room below and above infinities.
        let mut levels: Vec<f64> = x.iter().chain(y).copied().collect();
        levels.sort_by(f64::total_cmp);
        let rank = |v: &f64| levels.iter().filter(|level| *level < v).count() as f64;
        let mut sample: Vec<f64> = x.iter().map(rank).collect();
        sample.extend(std::iter::repeat_n(at, n_invalid));
        (sample, y.iter().map(rank).collect())
    };
    let (low, high) = (ends(-1.0), ends(1e6));
    let (above, below) =
        (definitions::ks_heights(&low.0, &low.1).0, definitions::ks_heights(&high.0, &high.1).1);
    let is_above = side == Side::Upper || (side == Side::Both && above >= below);
    let (h, pool) = if is_above { (above, low) } else { (below, high) };
    let size = (x.len() + n_invalid) as f64 * y.len() as f64;
    assert_eq!(found.statistic, h as f64 / size, "statistic");
    assert_eq!(found.sign, if is_above { 1 } else { -1 }, "sign");
    let p = definitions::share_of_labelings(&pool.0, &pool.1, |d| match side {
        Side::Both => d.abs() < h,
        Side::Upper => d < h,
        Side::Lower => -d < h,
    });
    assert_close("p", found.tail.p, p, (1e-12, 0.0));
    assert_close("log p", found.tail.log_p, p.ln(), (1e-12, 1e-12));
}
