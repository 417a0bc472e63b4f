//! How error parameters show names, types and expressions.

/// One name between backquotes, backquotes in it doubled.
///
/// ```
/// use firesteel_error::quote;
/// assert_eq!(quote::name("a`b"), "`a``b`");
/// ```
pub fn name(part: &str) -> String {
    format!("`{}`", part.replace('`', "``"))
}

/// The parts of a qualified name, each between backquotes.
///
/// ```
/// use firesteel_error::quote;
/// assert_eq!(quote::names(["t", "a.b"]), "`t`.`a.b`");
/// ```
pub fn names<P: AsRef<str>>(parts: impl IntoIterator<Item = P>) -> String {
    let parts: Vec<String> = parts.into_iter().map(|part| name(part.as_ref())).collect();
    parts.join(".")
}

/// A type, an expression, a setting or an option between double quotes.
///
/// ```
/// use firesteel_error::quote;
/// assert_eq!(quote::double("MAP<INT, INT>"), "\"MAP<INT, INT>\"");
/// ```
pub fn double(text: &str) -> String {
    format!("\"{text}\"")
}
