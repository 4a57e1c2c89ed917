//! What a declaration in [`super::table`] consists of, and the macro that reads it.

use super::kind::Kind;

/// One setting as declared, whatever its type.
#[derive(Debug)]
pub struct Setting {
    /// The name in Rust and Python: `body_timeout`.
    pub name: &'static str,
    /// The chapter it belongs to.
    pub section: Section,
    /// What it does, in sentences.
    pub help: &'static str,
    /// The texts that hold when it is nowhere set; none for a setting that may stay unset.
    pub default: &'static [&'static str],
    /// How many texts it takes.
    pub arity: Arity,
    /// Whether TOML writes it without quotes.
    pub bare: bool,
    /// What may be written.
    pub expects: fn() -> String,
    /// The one-letter flag.
    pub short: Option<char>,
    /// Other long flags, without `--`: names that gunicorn and uvicorn use for the same.
    pub aliases: &'static [&'static str],
    /// What stands for the value in help.
    pub placeholder: &'static str,
    /// A variable of another name that sets it too, weaker than its own.
    pub shared_variable: Option<&'static str>,
    /// Whether the command line takes it without a flag.
    pub positional: bool,
    /// Whether the settings file may hold it.
    pub in_file: bool,
}

/// How many texts a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// None on the command line; `true` or `false` elsewhere.
    Switch,
    /// One.
    One,
    /// Any number: a repeated flag, a TOML array, a variable with commas.
    Many,
}

/// A chapter of the settings, in the order of the reference page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// What is served, and what is set up before it is imported.
    Application,
    /// Where connections come in.
    Listening,
    /// Whom to believe about the client.
    Proxies,
    /// What runs the application.
    Concurrency,
    /// Applications with an event loop, and their WebSockets.
    Asgi,
    /// The processes, and when they are replaced.
    Workers,
    /// Sizes a request may have.
    Limits,
    /// Times a client may take.
    Deadlines,
    /// What is added to responses.
    Responses,
    /// What is written down.
    Logging,
    /// What tells how the server is.
    Monitoring,
    /// What the system knows of the processes.
    Process,
}

impl Setting {
    /// A setting with nothing but the essential; the declaration overrides the rest.
    pub(super) const fn new<K: Kind>(
        section: Section,
        name: &'static str,
        help: &'static str,
        default: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            section,
            help,
            default,
            arity: K::ARITY,
            bare: K::BARE,
            expects: K::described,
            short: None,
            aliases: &[],
            placeholder: "VALUE",
            shared_variable: None,
            positional: false,
            in_file: true,
        }
    }

    /// The long flag without `--`, which is the key in the settings file too: `body-timeout`.
    pub fn key(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The environment variable: `PRONGHORN_BODY_TIMEOUT`.
    pub fn variable(&self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.name.to_ascii_uppercase())
    }
}

impl Section {
    /// The heading for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Application => "Application",
            Self::Listening => "Listening",
            Self::Proxies => "Proxies in front",
            Self::Concurrency => "Threads and workers",
            Self::Asgi => "ASGI and WebSocket",
            Self::Workers => "Replacing workers",
            Self::Limits => "Limits",
            Self::Deadlines => "Deadlines",
            Self::Responses => "Responses",
            Self::Logging => "Logging",
            Self::Monitoring => "Monitoring",
            Self::Process => "Process",
        }
    }
}

/// What the server's environment variables start with.
pub(super) const VARIABLE_PREFIX: &str = "PRONGHORN_";

/// The name of a field, which is written `r#loop` where it is a word of Rust.
pub(super) const fn without_raw(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

/// Declares settings: `TABLE` to read and document them, and `Settings` with what they mean.
///
/// `Section { /// help  name: Kind = "default" { property: value, ... }; ... }`, where default and properties
/// (fields of [`Setting`]) may be left out.
macro_rules! settings {
    ($(
        $section:ident {
            $(
                $(#[doc = $help:literal])+
                $name:ident: $kind:ty $(= $default:literal)? $({ $($property:ident: $value:expr),+ $(,)? })?;
            )+
        }
    )+) => {
        /// Every setting, in the order of the reference page.
        pub static TABLE: &[$crate::settings::declare::Setting] = &[$($(
            $crate::settings::declare::Setting {
                $($($property: $value,)+)?
                ..$crate::settings::declare::Setting::new::<$kind>(
                    $crate::settings::declare::Section::$section,
                    $crate::settings::declare::without_raw(stringify!($name)),
                    concat!($($help),+),
                    &[$($default)?],
                )
            },
        )+)+];

        /// What the settings mean: typed, within their ranges.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Settings {
            $($(
                $(#[doc = $help])+
                pub $name: <$kind as $crate::settings::kind::Kind>::Out,
            )+)+
        }

        impl Settings {
            /// Gives every text its meaning.
            ///
            /// # Errors
            /// The first setting whose text has none.
            pub(super) fn from_given(
                given: &$crate::settings::given::Given,
            ) -> Result<Self, $crate::settings::error::UsageError> {
                Ok(Self { $($( $name: given.value::<$kind>($crate::settings::declare::without_raw(stringify!($name)))?, )+)+ })
            }
        }
    };
}

pub(super) use settings;
