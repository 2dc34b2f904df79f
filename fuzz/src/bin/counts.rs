//! Counted cells: the exact multinomial tail by every composition, shares of subsets by every
//! subset, Jensen-Shannon of weights.
#![no_main]

use libfuzzer_sys::fuzz_target;
use unpredictabench::jensenshannon;
use unpredictabench::multinomial::{
    TotalVariation, largest_passing, pair_cells, pool_share, upper_tail,
};
use unpredictabench::subsets::{AroundLaw, AroundTruth, Band, Pool, Scratch, pass_share};
use unpredictabench_fuzz::input::Input;
use unpredictabench_fuzz::{assert_close, definitions};

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    nominal(&mut input);
    pairs(&mut input);
    shares(&mut input);
    weights(&mut input);
});

fn nominal(input: &mut Input<'_>) {
    let cells = input.size(1, 4);
    let numerators: Vec<u64> = (0..cells).map(|_| u64::from(input.byte() % 12)).collect();
    let denominator = numerators.iter().sum::<u64>();
    if denominator == 0 {
        return;
    }
    let law = TotalVariation { numerators: &numerators, denominator };
    let counts: Vec<u64> = (0..cells).map(|_| u64::from(input.byte() % 4)).collect();
    let n_invalid = input.size(0, 2);
    let held: Vec<usize> = counts
        .iter()
        .copied()
        .chain(std::iter::once(n_invalid as u64))
        .filter_map(|c| c.try_into().ok())
        .collect();
    let size: usize = held.iter().sum();
    if size == 0 {
        return;
    }
    let statistic = law.statistic(&counts, n_invalid);
    let (null, total) = law.null_cells(size);
    let Ok(p) = upper_tail(&null, total, size, statistic) else { return };
    let mut hits = 0.0;
    let excess = |counts: &[usize]| -> usize {
        let wide: Vec<u64> = counts.iter().map(|&c| c as u64).collect();
        law.statistic(&wide, 0)
    };
    definitions::compositions(size, cells, &mut |counts, ways| {
        if excess(counts) >= statistic {
            let chance = |(&c, &a): (&usize, &u64)| {
                (a as f64 / denominator as f64).powi(i32::try_from(c).unwrap_or(0))
            };
            hits += ways as f64 * counts.iter().zip(&numerators).map(chance).product::<f64>();
        }
    });
    assert_close("p of total variation", p, hits, (1e-11, 1e-15));
    let n = input.size(1, size);
    let (null, total) = law.null_cells(n);
    let Ok(Some(largest)) = largest_passing(&null, total, n, law.largest(n), 0.05) else { return };
    let Ok((rate, error)) = pool_share(&law, &counts, n_invalid, n, largest) else { return };
    let (mut passing, mut all) = (0u128, 0u128);
    definitions::compositions(n, cells + 1, &mut |chosen, _| {
        if chosen.iter().zip(&held).all(|(c, h)| c <= h) {
            let ways = chosen
                .iter()
                .zip(&held)
                .map(|(&c, &h)| definitions::choose(h, c))
                .product::<u128>();
            all += ways;
            let wide: Vec<u64> = chosen[..cells].iter().map(|&c| c as u64).collect();
            if law.statistic(&wide, chosen[cells]) <= largest {
                passing += ways;
            }
        }
    });
    assert_close("share of pools", rate, passing as f64 / all as f64, (1e-12, 1e-14));
    assert!(
        error.is_nan() == (n == size) && (error.is_nan() || error >= 0.0),
        "jackknife error {error}"
    );
}

fn pairs(input: &mut Input<'_>) {
    let (cells, n) = (input.size(1, 4), input.size(1, 7));
    let (weighted, total) = pair_cells(cells, n);
    let cost = input.size(0, n * (n - 1) / 2);
    let Ok(p) = upper_tail(&weighted, total, n, cost) else { panic!("few states are refused") };
    let mut hits = 0.0;
    definitions::compositions(n, cells, &mut |counts, ways| {
        if counts.iter().map(|c| c * c.saturating_sub(1) / 2).sum::<usize>() >= cost {
            hits += ways as f64 / (cells as f64).powi(i32::try_from(n).unwrap_or(0));
        }
    });
    assert_close("p of pairs", p, hits, (1e-11, 1e-15));
}

fn shares(input: &mut Input<'_>) {
    let (size, m) = (input.size(1, 10), input.size(1, 20));
    let n_invalid = input.size(0, 2).min(size);
    let mut pool: Vec<f64> = (0..size - n_invalid).map(|_| f64::from(input.byte() % 6)).collect();
    let truth: Vec<f64> = (0..m).map(|_| f64::from(input.byte() % 6)).collect();
    let n = input.size(1, size);
    let height = 1 + u64::from(input.byte()) * (n * m) as u64 / 256;
    pool.sort_by(f64::total_cmp);
    let mut ends: Vec<usize> = Vec::new();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (i, &z) in pool.iter().enumerate() {
        if i > 0 && pool[i - 1] == z {
            ends.pop();
        } else {
            before.push(truth.iter().filter(|&&y| y < z).count() as u64);
            after.push(truth.iter().filter(|&&y| y <= z).count() as u64);
        }
        ends.push(i + 1);
    }
    let band = AroundTruth { size: m as u64, height };
    let blocks = Pool { ends: &ends, before: &before, after: &after, n_invalid };
    compare(&blocks, n, &band, 0);
    let cdf =
        |levels: &[u64]| -> Vec<f64> { levels.iter().map(|&k| k as f64 / m as f64).collect() };
    let (low, high) = (cdf(&before), cdf(&after));
    let band = AroundLaw { distance: input.unit().max(1e-9) };
    let blocks = Pool { ends: &ends, before: &low, after: &high, n_invalid };
    compare(&blocks, n, &band, 0.0);
}

/// By every subset: the band's own words at each block, invalid answers at the worse end.
fn compare<L: Copy, B: Band<L>>(pool: &Pool<'_, L>, n: usize, band: &B, zero: L) {
    let n_valid = pool.ends.last().copied().unwrap_or(0);
    let size = n_valid + pool.n_invalid;
    let found = pass_share(pool, n, band, zero, &mut Scratch::default());
    let (mut passing, mut all) = (0u32, 0u32);
    definitions::subsets(size, n, &mut |chosen| {
        let lost = chosen.iter().filter(|&&i| i >= n_valid).count();
        let up_to = |end: usize| chosen.iter().filter(|&&i| i < end).count();
        let starts = std::iter::once(0).chain(pool.ends.iter().copied());
        let inside = starts.zip(pool.ends).zip(pool.before.iter().zip(pool.after)).all(
            |((start, &end), (&before, &after))| {
                !band.is_below(up_to(start), n, before)
                    && !band.is_above(up_to(end) + lost, n, after)
            },
        );
        all += 1;
        passing += u32::from(inside && !band.is_above(lost, n, zero));
    });
    assert_close("share", found.rate, f64::from(passing) / f64::from(all), (1e-12, 1e-14));
    let error = found.standard_error;
    assert!(
        error.is_nan() == (n == size) && (error.is_nan() || error >= 0.0),
        "jackknife error {error}"
    );
}

fn weights(input: &mut Input<'_>) {
    let cells = input.size(1, 8);
    let mut draw = || -> Vec<f64> { (0..cells).map(|_| f64::from(input.byte())).collect() };
    let (p, q) = (draw(), draw());
    let total = |v: &[f64]| v.iter().sum::<f64>();
    if total(&p) == 0.0 || total(&q) == 0.0 {
        return;
    }
    let entropy = |v: &dyn Fn(usize) -> f64| -> f64 {
        (0..cells).map(v).filter(|&a| a > 0.0).map(|a| -a * a.ln()).sum()
    };
    let (a, b) = (|i: usize| p[i] / total(&p), |i: usize| q[i] / total(&q));
    let want = entropy(&|i| f64::midpoint(a(i), b(i))) - f64::midpoint(entropy(&a), entropy(&b));
    assert_close("Jensen-Shannon", jensenshannon::of_weights(&p, &q), want, (1e-12, 1e-14));
}
