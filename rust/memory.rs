//! Tails already computed: without ties a tail depends on the sizes and the statistic alone.
//!
//! What is remembered is a pure function of its key, so that sharing it between threads cannot
//! change a result.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::smirnov::{Side, Tail, tail_untied};

type Key = (i64, i64, i64, Side);

/// Tails remembered by the process at the most; beyond it, it starts anew.
const MOST_SHARED: usize = 1 << 18;
/// Tails that a task keeps at hand (a power of two).
const AT_HAND: usize = 512;

static SHARED: RwLock<Option<HashMap<Key, Tail>>> = RwLock::new(None);

/// The tails a task has seen last, in front of those that all threads share.
#[derive(Debug, Default)]
pub struct Recent {
    slots: Vec<Option<(Key, Tail)>>,
}

impl Recent {
    /// The tail without ties, computed or remembered.
    pub fn tail(&mut self, n: i64, m: i64, h: i64, side: Side) -> Tail {
        let key = (n, m, h, side);
        if self.slots.is_empty() {
            self.slots.resize(AT_HAND, None);
        }
        let slot = &mut self.slots[place(h)];
        match slot {
            Some((known, tail)) if *known == key => *tail,
            _ => {
                let tail = shared(key);
                *slot = Some((key, tail));
                tail
            }
        }
    }
}

/// Multiplicative hashing: statistics are multiples of a common divisor of the sizes.
#[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)] // any bits will do
fn place(h: i64) -> usize {
    ((h as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize % AT_HAND
}

/// Hold the lock of the memory, so that a fork meanwhile leaves it open in the child.
pub fn hold() -> impl Sized + 'static {
    SHARED.write().unwrap_or_else(PoisonError::into_inner)
}

fn shared(key: Key) -> Tail {
    let known = SHARED.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(tail) = known.as_ref().and_then(|known| known.get(&key)) {
        return *tail;
    }
    drop(known);
    let (n, m, h, side) = key;
    let tail = tail_untied(n, m, h, side);
    let mut known = SHARED.write().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if known.len() >= MOST_SHARED {
        known.clear();
    }
    known.insert(key, tail);
    tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_was_computed() {
        let mut recent = Recent::default();
        for _ in 0..2 {
            for h in 1..2000 {
                assert_eq!(recent.tail(5, 400, h, Side::Both), tail_untied(5, 400, h, Side::Both));
            }
        }
    }
}
