//! The one error of the kernels: what went wrong, in words that a caller can act on.

use std::fmt;

/// Why a kernel gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// An argument broke a rule: name, rule (a phrase after "must") and the value it had.
    Argument {
        /// Name of the argument as the caller wrote it.
        name: String,
        /// What it must be.
        rule: String,
        /// What it was.
        value: String,
    },
    /// The caller asked to stop (Ctrl-C).
    Interrupted,
    /// The worker threads could not be started.
    Threads(String),
}

impl Error {
    /// An argument that broke a rule.
    pub fn argument(name: &str, rule: &str, value: impl fmt::Display) -> Self {
        Self::Argument { name: name.into(), rule: rule.into(), value: value.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument { name, rule, value } => write!(f, "{name} must {rule}, got {value}"),
            Self::Interrupted => write!(f, "interrupted"),
            Self::Threads(why) => write!(f, "worker threads could not be started: {why}"),
        }
    }
}

impl std::error::Error for Error {}

/// Result of a kernel.
pub type Result<T> = std::result::Result<T, Error>;
