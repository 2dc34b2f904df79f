//! Wasserstein, energy and Jensen-Shannon distances on nasty finite samples.
#![no_main]

use std::f64::consts::LN_2;

use libfuzzer_sys::fuzz_target;
use unpredictabench::distances::{
    Distance, Kind, Options, Scratch, energy_moments, wasserstein_mean, wasserstein_moments,
};
use unpredictabench::truth::Truth;
use unpredictabench_fuzz::input::Input;
use unpredictabench_fuzz::{assert_close, definitions};

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let (n, m) = (input.size(1, 12), input.size(1, 24));
    let order = [1.0, 2.0, 3.5][input.size(0, 2)];
    let (x, y) = (input.sample(n, true), input.sample(m, true));
    let Ok(truth) = Truth::new(&y) else { panic!("a finite truth is refused") };
    let largest = x.iter().chain(&y).fold(0.0f64, |most, v| most.max(v.abs()));
    // One part in 10^15 of the values, or twenty units of the smallest double.
    let rounding = (1e-15 * largest).max(1e-322);
    let mut scratch = Scratch::default();
    let mut distance = |kind, order| {
        let options = Options { kind, order, n_grid: 64, padding: 0.1 };
        let shared = Distance::new(options, Some(&truth)).of(&x, &truth, &mut scratch);
        let single = Distance::new(options, None).of(&x, &truth, &mut Scratch::default());
        assert_eq!(shared, single, "a shared truth changes {kind:?}");
        assert!(shared >= 0.0, "{kind:?} is {shared}");
        shared
    };
    let transport = distance(Kind::Wasserstein, 1.0);
    let energy = distance(Kind::EnergySquared, 1.0);
    assert_close("W1", transport, definitions::gap_sum(&x, &y, 1), (1e-12, rounding));
    assert_close("Q", energy, 2.0 * definitions::gap_sum(&x, &y, 2), (4e-12, rounding));
    assert_close("root of Q", distance(Kind::Energy, 1.0), energy.sqrt(), (1e-12, 1e-161));
    let higher = distance(Kind::Wasserstein, order);
    // Powers of differences far below the values underflow.
    let least = transport * (1.0 - 1e-12) - 1e-80 * largest;
    assert!(higher >= least, "W{order} {higher:e} is below W1 {transport:e}");
    for kind in [Kind::JensenShannonKde, Kind::JensenShannonCounts] {
        let divergence = distance(kind, 1.0);
        assert!(divergence <= LN_2, "{kind:?} is {divergence}");
    }
    let (mean, _) = wasserstein_mean(&x, &truth, &mut scratch);
    let (again, deviation) = wasserstein_moments(&x, &truth, &mut scratch);
    assert_close("null mean", mean, again, (1e-11, 10.0 * rounding));
    let (energy_mean, energy_deviation) = energy_moments(&x, &truth, &mut scratch);
    for moment in [mean, deviation, energy_mean, energy_deviation] {
        assert!(moment >= 0.0, "a null moment is {moment}");
    }
});
