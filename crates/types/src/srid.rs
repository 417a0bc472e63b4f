//! Spatial reference systems: numbers and names.

/// Stands for any reference system, each value bringing its own.
pub const ANY: i32 = -1;

const ANY_NAME: &str = "SRID:ANY";
/// The edge interpolation that geographies use.
const ALGORITHM: &str = "SPHERICAL";

/// Number, name, and whether coordinates are longitude and latitude.
const SYSTEMS: &[(i32, &str, bool)] = &[
    (0, "SRID:0", false),
    (3857, "EPSG:3857", false),
    (4326, "OGC:CRS84", true),
    (4269, "OGC:CRS83", true),
    (4267, "OGC:CRS27", true),
    (4258, "EPSG:4258", true),
    (7844, "EPSG:7844", true),
];

/// True where a geometry type may have the number.
pub fn is_geometry_srid(srid: i32) -> bool {
    srid == ANY || SYSTEMS.iter().any(|(number, _, _)| *number == srid)
}

/// True where a geography type may have the number.
pub fn is_geography_srid(srid: i32) -> bool {
    srid == ANY || SYSTEMS.iter().any(|(number, _, geographic)| *number == srid && *geographic)
}

/// The JSON name of a geometry type, such as `geometry(OGC:CRS84)`.
pub(crate) fn geometry_json(srid: i32) -> String {
    format!("geometry({})", crs_name(srid))
}

/// The JSON name of a geography type, such as `geography(OGC:CRS84, SPHERICAL)`.
pub(crate) fn geography_json(srid: i32) -> String {
    format!("geography({}, {ALGORITHM})", crs_name(srid))
}

/// The number in a geometry type's JSON name; `Err` holds the reference system that is unknown.
pub(crate) fn parse_geometry_json(text: &str) -> Option<Result<i32, String>> {
    if text == "geometry" {
        return Some(Ok(4326));
    }
    let crs = text.strip_prefix("geometry(")?.strip_suffix(')')?.trim();
    Some(crs_number(crs, false).ok_or_else(|| crs.to_string()))
}

/// The number in a geography type's JSON name; `Err` holds the reference system that is unknown.
pub(crate) fn parse_geography_json(text: &str) -> Option<Result<i32, String>> {
    if text == "geography" {
        return Some(Ok(4326));
    }
    let inner = text.strip_prefix("geography(")?.strip_suffix(')')?;
    let crs = match inner.split_once(',') {
        Some((crs, algorithm)) if algorithm.trim() == ALGORITHM => crs.trim(),
        Some(_) => return None,
        None if inner.trim() == ALGORITHM => "OGC:CRS84",
        None => inner.trim(),
    };
    Some(crs_number(crs, true).ok_or_else(|| crs.to_string()))
}

fn crs_name(srid: i32) -> String {
    if srid == ANY {
        return ANY_NAME.to_string();
    }
    match SYSTEMS.iter().find(|(number, _, _)| *number == srid) {
        Some((_, name, _)) => (*name).to_string(),
        None => format!("EPSG:{srid}"),
    }
}

fn crs_number(name: &str, geographic: bool) -> Option<i32> {
    if name.eq_ignore_ascii_case(ANY_NAME) {
        return Some(ANY);
    }
    SYSTEMS.iter().find(|(_, known, is)| *known == name && (*is || !geographic)).map(|(number, _, _)| *number)
}
