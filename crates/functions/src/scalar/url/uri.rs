//! URIs by the grammar of RFC 2396, as Java reads them.

/// The parts of a URI as they are written.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Uri<'a> {
    pub scheme: Option<&'a str>,
    pub authority: Option<&'a str>,
    pub user_info: Option<&'a str>,
    pub host: Option<&'a str>,
    /// None for URIs such as `mailto:a@b`.
    pub path: Option<&'a str>,
    pub query: Option<&'a str>,
    pub fragment: Option<&'a str>,
}

const MARKS: &str = "-_.!~*'()";

/// True where all characters are letters, digits, marks, escapes, characters
/// beyond ASCII, or those of `extra`.
fn legal(text: &str, extra: &str) -> bool {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let fine = match character {
            '%' => {
                let mut hex = || characters.next().is_some_and(|c| c.is_ascii_hexdigit());
                hex() && hex()
            }
            c if c.is_ascii() => c.is_ascii_alphanumeric() || MARKS.contains(c) || extra.contains(c),
            c => !c.is_control() && !c.is_whitespace(),
        };
        if !fine {
            return false;
        }
    }
    true
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

fn is_label(label: &str) -> bool {
    !label.is_empty()
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn is_host(host: &str) -> bool {
    if host.parse::<std::net::Ipv4Addr>().is_ok() {
        return true;
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let last = name.rsplit('.').next().unwrap_or(name);
    name.split('.').all(is_label) && last.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// User info and host of an authority that names a server; None for other authorities.
fn server(authority: &str) -> Option<(Option<&str>, &str)> {
    let (user_info, rest) = match authority.rsplit_once('@') {
        Some((user_info, rest)) if legal(user_info, ";:&=+$,") => (Some(user_info), rest),
        Some(_) => return None,
        None => (None, authority),
    };
    let (host, port) = if rest.starts_with('[') {
        let end = rest.find(']')?;
        let address = rest[1..end].split('%').next().unwrap_or_default();
        address.parse::<std::net::Ipv6Addr>().ok()?;
        (&rest[..=end], &rest[end + 1..])
    } else {
        let end = rest.find(':').unwrap_or(rest.len());
        if !is_host(&rest[..end]) {
            return None;
        }
        rest.split_at(end)
    };
    let port_is_fine = port.is_empty() || port.strip_prefix(':').is_some_and(|p| p.bytes().all(|b| b.is_ascii_digit()));
    port_is_fine.then_some((user_info, host))
}

/// Reads a URI; None where it is malformed.
pub fn parse(text: &str) -> Option<Uri<'_>> {
    let mut uri = Uri::default();
    let (rest, fragment) = match text.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment)),
        None => (text, None),
    };
    if fragment.is_some_and(|f| !legal(f, ";/?:@&=+$,[]")) {
        return None;
    }
    uri.fragment = fragment;
    let rest = match rest.find([':', '/', '?']) {
        Some(at) if rest[at..].starts_with(':') => {
            let scheme = &rest[..at];
            if !is_scheme(scheme) {
                return None;
            }
            uri.scheme = Some(scheme);
            let rest = &rest[at + 1..];
            if !rest.starts_with('/') {
                return (!rest.is_empty() && legal(rest, ";/?:@&=+$,[]")).then_some(uri);
            }
            rest
        }
        _ => rest,
    };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    if query.is_some_and(|q| !legal(q, ";/?:@&=+$,[]")) {
        return None;
    }
    uri.query = query;
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at(end);
            if authority.is_empty() {
                if path.is_empty() && query.is_none() && fragment.is_none() {
                    return None;
                }
            } else {
                match server(authority) {
                    Some((user_info, host)) => {
                        uri.user_info = user_info;
                        uri.host = Some(host);
                    }
                    None if legal(authority, "$,;:@&=+") => {}
                    None => return None,
                }
                uri.authority = Some(authority);
            }
            path
        }
        None => rest,
    };
    if !legal(path, ":@&=+$,;/") {
        return None;
    }
    uri.path = Some(path);
    Some(uri)
}
