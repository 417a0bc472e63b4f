//! Name lookup: the one way from a name to a column.

use crate::attribute::{Attribute, quote_parts, quoted_as_needed};
use crate::files::{Files, METADATA_COLUMN};
use crate::resolved::{Below, Frame, Resolved};
use firesteel_error::{Result, SparkError};
use std::collections::HashMap;
use std::sync::Arc;

/// The columns that names in an expression can mean.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    pub attributes: Vec<Attribute>,
    /// Reached by qualified names, and by plain names only where no visible column has it.
    pub hidden: Vec<Attribute>,
    pub frames: Vec<Arc<Frame>>,
    /// Outputs of the select list that the clause stands on: reached by its plan id.
    outputs: Vec<Attribute>,
    /// Columns of relations below, used where nothing else matches (ORDER BY, filters).
    pub below: Vec<Attribute>,
    /// Whether columns of relations below can be used at all.
    reaches_below: bool,
    /// The file of the rows.
    pub files: Files,
    /// All columns below a single input, for `_metadata`.
    chain: Option<Arc<Below>>,
    case_sensitive: bool,
    /// No name is found: only the columns themselves are there.
    is_closed: bool,
    /// Lower-case names to positions in `attributes`, for wide relations.
    index: HashMap<String, Vec<usize>>,
}

/// A column found by name, and the name parts left: fields within it.
#[derive(Debug, Clone)]
pub struct Found {
    pub attribute: Attribute,
    pub fields: Vec<String>,
    /// It came from a relation below.
    pub is_below: bool,
    /// It is `_metadata` of a relation below.
    pub is_file: bool,
}

const INDEX_FROM: usize = 16;

impl Scope {
    pub fn new(inputs: &[&Resolved], case_sensitive: bool) -> Self {
        let mut scope = Self {
            attributes: inputs.iter().flat_map(|i| i.output.iter().cloned()).collect(),
            hidden: inputs.iter().flat_map(|i| i.hidden.iter().cloned()).collect(),
            frames: inputs.iter().map(|i| i.frame.clone()).collect(),
            outputs: Vec::new(),
            below: Vec::new(),
            reaches_below: false,
            files: Files::of_inputs(inputs),
            chain: match inputs {
                [input] => input.below.clone(),
                _ => None,
            },
            case_sensitive,
            is_closed: false,
            index: HashMap::new(),
        };
        scope.build_index();
        scope
    }

    /// A scope of just these columns.
    pub fn of(attributes: Vec<Attribute>, case_sensitive: bool) -> Self {
        Self { attributes, case_sensitive, ..Self::default() }
    }

    /// The same columns, without names: for the bodies of functions, which do not see their caller's.
    #[must_use]
    pub fn closed(&self) -> Self {
        Self { is_closed: true, ..self.clone() }
    }

    /// The scope of ORDER BY and filters: also the columns below the input.
    pub fn with_below(input: &Resolved, case_sensitive: bool) -> Self {
        let mut scope = Self { reaches_below: true, ..Self::new(&[input], case_sensitive) };
        let mut below = input.below.as_ref();
        while let Some(b) = below {
            scope.below.extend(b.attributes.iter().cloned());
            below = b.below.as_ref();
            // The nearest relation decides; further ones only where it has no columns.
            if !scope.below.is_empty() {
                break;
            }
        }
        scope
    }

    /// The scope of a clause on a select list that has a plan id of its own.
    #[must_use]
    pub fn with_select_list(&self, plan_id: Option<i64>, outputs: Vec<Attribute>) -> Self {
        if plan_id.is_none() {
            return self.clone();
        }
        let frame = Arc::new(Frame { plan_id, output: outputs.clone(), children: self.frames.clone() });
        Self { frames: vec![frame], outputs, ..self.clone() }
    }

    /// True where names mean nothing.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    fn build_index(&mut self) {
        if self.attributes.len() >= INDEX_FROM {
            for (i, a) in self.attributes.iter().enumerate() {
                self.index.entry(a.name.to_lowercase()).or_default().push(i);
            }
        }
    }

    pub fn same_name(&self, a: &str, b: &str) -> bool {
        if self.case_sensitive { a == b } else { a.eq_ignore_ascii_case(b) || a.to_lowercase() == b.to_lowercase() }
    }

    /// Finds a column by a name of one or more parts.
    pub fn find(&self, name: &[String]) -> Result<Option<Found>> {
        if self.is_closed {
            return Ok(None);
        }
        if let Some(found) = self.find_in(name, Source::Visible)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.find_in(name, Source::Hidden)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.find_in(name, Source::Below)? {
            return Ok(Some(Found { is_below: true, ..found }));
        }
        Ok(self.metadata(name))
    }

    /// `_metadata` of the files below: projections let it through.
    fn metadata(&self, name: &[String]) -> Option<Found> {
        let (first, fields) = name.split_first()?;
        let Files::Column(attribute) = &self.files else { return None };
        if !self.same_name(first, METADATA_COLUMN) {
            return None;
        }
        let mut below = self.chain.as_ref();
        while let Some(b) = below {
            if b.attributes.iter().any(|a| a.id == attribute.id) {
                return Some(Found {
                    attribute: attribute.clone(),
                    fields: fields.to_vec(),
                    is_below: false,
                    is_file: true,
                });
            }
            below = b.below.as_ref();
        }
        None
    }

    fn candidates<'a>(&'a self, part: &str, source: Source) -> Box<dyn Iterator<Item = &'a Attribute> + 'a> {
        match source {
            Source::Visible if !self.index.is_empty() => match self.index.get(&part.to_lowercase()) {
                Some(positions) => Box::new(positions.iter().filter_map(|i| self.attributes.get(*i))),
                None => Box::new(std::iter::empty()),
            },
            Source::Visible => Box::new(self.attributes.iter()),
            Source::Hidden => Box::new(self.hidden.iter()),
            Source::Below => Box::new(self.below.iter()),
        }
    }

    fn find_in(&self, name: &[String], source: Source) -> Result<Option<Found>> {
        // The more of the name is a qualifier, the better the match.
        for qualifiers in (0..name.len().min(5)).rev() {
            let (prefix, rest) = name.split_at(qualifiers);
            let Some((column, fields)) = rest.split_first() else { continue };
            let mut matches: Vec<&Attribute> = Vec::new();
            for attribute in self.candidates(column, source) {
                if self.same_name(&attribute.name, column)
                    && self.qualifier_matches(&attribute.qualifier, prefix)
                    && !matches.iter().any(|m| m.id == attribute.id)
                {
                    matches.push(attribute);
                }
            }
            match matches.as_slice() {
                [] => {}
                [attribute] => {
                    return Ok(Some(Found {
                        attribute: (*attribute).clone(),
                        fields: fields.to_vec(),
                        is_below: false,
                        is_file: false,
                    }));
                }
                several => {
                    let mut names: Vec<String> = several.iter().map(|a| a.quoted_name()).collect();
                    names.sort();
                    return Err(SparkError::new("AMBIGUOUS_REFERENCE")
                        .with("name", quote_parts(name))
                        .with("referenceNames", format!("[{}]", names.join(", "))));
                }
            }
        }
        Ok(None)
    }

    fn qualifier_matches(&self, qualifier: &[String], prefix: &[String]) -> bool {
        prefix.len() <= qualifier.len()
            && qualifier[qualifier.len() - prefix.len()..].iter().zip(prefix).all(|(q, p)| self.same_name(q, p))
    }

    /// The columns that `target.*` means, where `target` is a relation's name.
    pub fn star(&self, target: &[String]) -> Vec<Attribute> {
        let matching = |a: &&Attribute| self.qualifier_matches(&a.qualifier, target);
        let visible: Vec<Attribute> = self.attributes.iter().filter(matching).cloned().collect();
        // The side of a USING join: its own keys come first, as the side has them. Metadata of files are no keys.
        let keys = self.hidden.iter().filter(matching).filter(|a| a.name != METADATA_COLUMN).cloned();
        keys.chain(visible).collect()
    }

    /// Finds a column of the relation with a plan id: `df["x"]`.
    pub fn find_by_plan_id(&self, plan_id: i64, name: &[String]) -> Result<Option<Found>> {
        let mut found: Vec<(usize, Found)> = Vec::new();
        for frame in &self.frames {
            let mut stack = vec![(frame, 0usize)];
            while let Some((frame, depth)) = stack.pop() {
                if frame.plan_id == Some(plan_id) {
                    let scope = Scope::of(frame.output.clone(), self.case_sensitive);
                    if let Some(f) = scope.find_in(name, Source::Visible)? {
                        found.push((depth, f));
                    }
                    continue;
                }
                stack.extend(frame.children.iter().map(|c| (c, depth + 1)));
            }
        }
        // A column that is to be seen comes before the hidden one of a USING join, and both before those below.
        let visible =
            |f: &Found| self.attributes.iter().chain(&self.hidden).chain(&self.outputs).any(|a| a.id == f.attribute.id);
        let mut in_reach: Vec<&(usize, Found)> =
            found.iter().filter(|(_, f)| self.attributes.iter().any(|a| a.id == f.attribute.id)).collect();
        if in_reach.is_empty() {
            in_reach = found.iter().filter(|(_, f)| visible(f)).collect();
        }
        if in_reach.is_empty() && self.reaches_below {
            in_reach = found.iter().collect();
        }
        let Some(depth) = in_reach.iter().map(|(d, _)| *d).min() else {
            let is_metadata = name.first().is_some_and(|first| self.same_name(first, METADATA_COLUMN));
            return if is_metadata && self.star_by_plan_id(plan_id).is_some() { self.find(name) } else { Ok(None) };
        };
        let mut nearest: Vec<Found> = Vec::new();
        for (d, f) in in_reach {
            if *d == depth && !nearest.iter().any(|n| n.attribute.id == f.attribute.id) {
                nearest.push(f.clone());
            }
        }
        match nearest.as_slice() {
            [one] => {
                let is_below = !visible(one);
                Ok(Some(Found { is_below, ..one.clone() }))
            }
            _ => Err(SparkError::new("AMBIGUOUS_COLUMN_REFERENCE").with("name", quoted_as_needed(name))),
        }
    }

    /// The attributes of the relation with a plan id (`df["*"]`).
    pub fn star_by_plan_id(&self, plan_id: i64) -> Option<Vec<Attribute>> {
        let is_visible =
            |attribute: &Attribute| self.attributes.iter().chain(&self.hidden).any(|a| a.id == attribute.id);
        for frame in &self.frames {
            let mut stack = vec![frame];
            while let Some(frame) = stack.pop() {
                if frame.plan_id == Some(plan_id) {
                    return Some(frame.output.clone()).filter(|output| output.iter().all(is_visible));
                }
                stack.extend(frame.children.iter());
            }
        }
        None
    }

    /// The error for a name that is not found, with near names.
    pub fn unresolved(&self, name: &[String]) -> SparkError {
        let object = quote_parts(name);
        if self.attributes.is_empty() || self.is_closed {
            return SparkError::new("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION").with("objectName", object);
        }
        let candidates: Vec<Vec<String>> = self
            .attributes
            .iter()
            .map(|a| a.qualifier.iter().chain(std::iter::once(&a.name)).cloned().collect())
            .collect();
        let nearest = firesteel_error::suggest::nearest_columns(name, &candidates, 5);
        SparkError::new("UNRESOLVED_COLUMN.WITH_SUGGESTION")
            .with("objectName", object)
            .with("proposal", firesteel_error::suggest::proposal(&nearest))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Visible,
    Hidden,
    Below,
}
