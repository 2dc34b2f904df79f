//! The statistics by their definitions: every labeling, every subset, every composition.

/// `max |i m - j n|` over the pooled values, on both sides: the sample above, the sample below.
#[must_use]
pub fn ks_heights(x: &[f64], y: &[f64]) -> (i64, i64) {
    let (n, m) = (x.len() as i64, y.len() as i64);
    let at = |z: f64| {
        let count = |v: &[f64]| v.iter().filter(|&&v| v <= z).count() as i64;
        count(x) * m - count(y) * n
    };
    let pooled = || x.iter().chain(y).map(|&z| at(z));
    (pooled().max().unwrap_or(0), pooled().map(|d| -d).max().unwrap_or(0))
}

/// The share of all labelings of the pooled values whose deviation fails `is_inside`.
#[must_use]
pub fn share_of_labelings(x: &[f64], y: &[f64], is_inside: impl Fn(i64) -> bool) -> f64 {
    let (n, m) = (x.len(), y.len());
    let mut pooled: Vec<f64> = x.iter().chain(y).map(|v| v + 0.0).collect();
    pooled.sort_by(f64::total_cmp);
    // ways[k]: labelings so far with k observations of the sample, all blocks inside.
    let mut ways = vec![0u128; n + 1];
    ways[0] = 1;
    for (i, &z) in pooled.iter().enumerate() {
        for k in (1..=n).rev() {
            ways[k] += ways[k - 1];
        }
        if i + 1 == n + m || pooled[i + 1] != z {
            for (k, count) in ways.iter_mut().enumerate() {
                let (k, j) = (k as i64, (i + 1) as i64 - k as i64);
                if j < 0 || j > m as i64 || !is_inside(k * m as i64 - j * n as i64) {
                    *count = 0;
                }
            }
        }
    }
    let all = choose(n + m, n);
    (all - ways[n]) as f64 / all as f64
}

/// The number of ways to choose `k` of `n`.
#[must_use]
pub fn choose(n: usize, k: usize) -> u128 {
    (0..k).fold(1, |ways, i| ways * (n - i) as u128 / (i + 1) as u128)
}

/// The integral of `|F - G|^power` over the pooled values, each gap taken as it is.
#[must_use]
pub fn gap_sum(x: &[f64], y: &[f64], power: i32) -> f64 {
    let mut pooled: Vec<f64> = x.iter().chain(y).copied().collect();
    pooled.sort_by(f64::total_cmp);
    let share = |v: &[f64], z: f64| v.iter().filter(|&&v| v <= z).count() as f64 / v.len() as f64;
    let gap = |w: &[f64]| {
        let height = (share(x, w[0]) - share(y, w[0])).abs().powi(power);
        // Half gaps, so that the widest of all stays finite.
        height * (w[1] / 2.0 - w[0] / 2.0)
    };
    2.0 * pooled.windows(2).map(gap).sum::<f64>()
}

/// All ways to put `n` answers into `cells`, each with its count of orders.
pub fn compositions(n: usize, cells: usize, visit: &mut dyn FnMut(&[usize], u128)) {
    fn go(
        left: usize,
        cells: usize,
        (counts, ways): (&mut Vec<usize>, u128),
        visit: &mut dyn FnMut(&[usize], u128),
    ) {
        if cells == 1 {
            counts.push(left);
            visit(counts, ways);
            counts.pop();
            return;
        }
        for first in 0..=left {
            counts.push(first);
            go(left - first, cells - 1, (counts, ways * choose(left, first)), visit);
            counts.pop();
        }
    }
    go(n, cells, (&mut Vec::new(), 1), visit);
}

/// All subsets of `n` of `0..size`, as sorted positions.
pub fn subsets(size: usize, n: usize, visit: &mut dyn FnMut(&[usize])) {
    for mask in 0u32..1 << size {
        if mask.count_ones() as usize == n {
            let chosen: Vec<usize> = (0..size).filter(|i| mask >> i & 1 == 1).collect();
            visit(&chosen);
        }
    }
}
