//! The two-sample KS kernels alone: n = 100 against one truth of m = 10,000.

#![allow(missing_docs, clippy::unwrap_used)] // a bench may panic

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use unpredictabench::ks::{Method, Scratch, deviations, test};
use unpredictabench::ks_bootstrap::{Replicates, Resampled};
use unpredictabench::order::Rank;
use unpredictabench::rng::Stream;
use unpredictabench::smirnov::{Side, tail_untied};
use unpredictabench::truth::Truth;

const N: usize = 100;
const M: usize = 10_000;
const PAIRS: usize = 1000;

/// Draws of a bell-shaped law: sums of twelve uniforms.
fn draws(count: usize, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, 0, 0);
    (0..count).map(|_| (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0).collect()
}

fn prepared(draws: &[f64]) -> Truth {
    let truth = Truth::new(draws).unwrap();
    black_box(truth.levels());
    truth
}

fn statistic(c: &mut Criterion) {
    let (x, y) = (draws(N * PAIRS, 1), draws(M, 2));
    let truth = prepared(&y);
    let ranks: Vec<Vec<Rank>> =
        x.chunks(N).map(|row| Scratch::default().rank(row, &truth).to_vec()).collect();
    let mut group = c.benchmark_group("ks statistic");
    group.throughput(Throughput::Elements(PAIRS as u64));
    group.bench_function("of ranked samples", |b| {
        b.iter(|| ranks.iter().map(|row| deviations(row, 100, 10_000, 0).0).max());
    });
    let mut scratch = Scratch::default();
    group.bench_function("ranks", |b| {
        b.iter(|| x.chunks(N).map(|row| scratch.rank(row, &truth)[0].lower).max());
    });
    for (name, method) in [("with the limit law", Method::Asymptotic), ("exact", Method::Exact)] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let rows = x.chunks(N);
                rows.map(|row| {
                    test(row, &truth, 0, Side::Both, method, &mut scratch).unwrap().tail.p
                })
                .sum::<f64>()
            });
        });
    }
    group.finish();
    c.bench_function("truth prepared", |b| b.iter(|| prepared(black_box(&y))));
}

fn tails(c: &mut Criterion) {
    let mut group = c.benchmark_group("ks tail");
    for h in [50_000, 83_600, 150_000, 300_000] {
        group.bench_function(format!("h = {h}"), |b| {
            b.iter(|| tail_untied(100, 10_000, black_box(h), Side::Both));
        });
    }
    let counts = |seed, size| draws(size, seed).iter().map(|v| (v * 5.0).round()).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = (counts(3, N), counts(4, M));
    let (truth, mut scratch) = (prepared(&y), Scratch::default());
    group.bench_function("tied", |b| {
        b.iter(|| test(&x, &truth, 0, Side::Both, Method::Exact, &mut scratch));
    });
    group.finish();
}

fn bootstrap(c: &mut Criterion) {
    let (x, truth) = (draws(N, 5), prepared(&draws(M, 6)));
    let mut group = c.benchmark_group("ks bootstrap replicate");
    for (name, resampled) in [("x", Resampled::Sample), ("both", Resampled::Both)] {
        let (mut replicates, mut replicate) = (Replicates::default(), 0);
        replicates.prepare(Scratch::default().rank(&x, &truth), M, resampled);
        group.bench_function(name, |b| {
            b.iter(|| {
                replicate += 1;
                replicates.statistic(&mut Stream::new(1, 2, replicate))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, statistic, tails, bootstrap);
criterion_main!(benches);
