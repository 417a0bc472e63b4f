//! XML documents as trees, read by a pull parser.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;
use std::fmt::Write;

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Root,
    Element(String),
    Attribute(String, String),
    Text(String),
    Comment(String),
    Instruction(String, String),
}

/// A node with the places of its relatives.
#[derive(Debug, Clone)]
pub struct Node {
    pub kind: Kind,
    pub parent: usize,
    pub children: Vec<usize>,
    pub attributes: Vec<usize>,
}

/// A document; its nodes lie in document order, and the first is the root.
#[derive(Debug, Clone)]
pub struct Document {
    pub nodes: Vec<Node>,
}

/// Documents nested deeper are not read.
const MOST_DEPTH: usize = 1000;

impl Document {
    /// The document of a text; None where it is not well-formed.
    pub fn parse(text: &str) -> Option<Self> {
        let mut document = Self { nodes: Vec::new() };
        document.add(Kind::Root, 0);
        let mut entities = HashMap::new();
        let mut open = vec![0];
        let mut reader = Reader::from_str(text);
        loop {
            let parent = *open.last()?;
            match reader.read_event().ok()? {
                Event::Start(start) => {
                    let element = document.element(&start, parent, &entities)?;
                    open.push(element);
                    if open.len() > MOST_DEPTH {
                        return None;
                    }
                }
                Event::Empty(start) => {
                    document.element(&start, parent, &entities)?;
                }
                Event::End(_) => {
                    open.pop();
                }
                Event::Text(text) => document.text(parent, &text.xml_content(XmlVersion::Implicit1_0))?,
                Event::CData(text) => document.text(parent, &text.xml_content(XmlVersion::Implicit1_0))?,
                Event::GeneralRef(reference) => {
                    let resolved = match reference.resolve_char_ref().ok()? {
                        Some(character) => character.to_string(),
                        None => {
                            let name = reference.into_inner();
                            match quick_xml::escape::resolve_predefined_entity(&name) {
                                Some(text) => text.to_string(),
                                None => entities.get(&*name)?.clone(),
                            }
                        }
                    };
                    document.text(parent, &resolved)?;
                }
                Event::Comment(text) => {
                    document.add(Kind::Comment(text.into_inner().into_owned()), parent);
                }
                Event::PI(instruction) => {
                    let content = instruction.content().trim_start().to_string();
                    document.add(Kind::Instruction(instruction.target().to_string(), content), parent);
                }
                Event::DocType(declaration) => entities.extend(entities_of(&declaration.into_inner())),
                Event::Decl(_) => {}
                Event::Eof => break,
            }
        }
        let roots = document.nodes.first()?.children.clone();
        let elements = roots.iter().filter(|node| matches!(document.nodes[**node].kind, Kind::Element(_))).count();
        (open.len() == 1 && elements == 1).then_some(document)
    }

    fn add(&mut self, kind: Kind, parent: usize) -> usize {
        let place = self.nodes.len();
        if place > 0 {
            match &kind {
                Kind::Attribute(..) => self.nodes[parent].attributes.push(place),
                _ => self.nodes[parent].children.push(place),
            }
        }
        self.nodes.push(Node { kind, parent, children: Vec::new(), attributes: Vec::new() });
        place
    }

    fn element(&mut self, start: &BytesStart<'_>, parent: usize, entities: &HashMap<String, String>) -> Option<usize> {
        let name = start.name().0.to_string();
        let element = self.add(Kind::Element(name), parent);
        for attribute in start.attributes() {
            let attribute = attribute.ok()?;
            let value = attribute
                .normalized_value_with(XmlVersion::Implicit1_0, 8, |name| {
                    quick_xml::escape::resolve_predefined_entity(name)
                        .or_else(|| entities.get(name).map(String::as_str))
                })
                .ok()?
                .into_owned();
            let name = attribute.key.0.to_string();
            self.add(Kind::Attribute(name, value), element);
        }
        Some(element)
    }

    /// Adds text; outside of elements only blanks may be.
    fn text(&mut self, parent: usize, text: &str) -> Option<()> {
        if parent == 0 {
            return text.trim().is_empty().then_some(());
        }
        if let Some(last) = self.nodes[parent].children.last().copied()
            && let Kind::Text(before) = &mut self.nodes[last].kind
        {
            before.push_str(text);
        } else {
            self.add(Kind::Text(text.to_string()), parent);
        }
        Some(())
    }

    /// The outermost element.
    pub fn root_element(&self) -> usize {
        let elements = self.nodes[0].children.iter();
        elements.copied().find(|node| matches!(self.nodes[*node].kind, Kind::Element(_))).unwrap_or(0)
    }

    /// The name of a node without prefix; empty where it has none.
    pub fn local_name(&self, node: usize) -> &str {
        let name = self.name(node);
        name.rsplit_once(':').map_or(name, |(_, local)| local)
    }

    /// The name of a node; empty where it has none.
    pub fn name(&self, node: usize) -> &str {
        match &self.nodes[node].kind {
            Kind::Element(name) | Kind::Attribute(name, _) | Kind::Instruction(name, _) => name,
            _ => "",
        }
    }

    /// The text of a node: that of an element is all text in it.
    pub fn string_value(&self, node: usize) -> String {
        let mut out = String::new();
        self.write_string_value(node, &mut out);
        out
    }

    fn write_string_value(&self, node: usize, out: &mut String) {
        match &self.nodes[node].kind {
            Kind::Attribute(_, value) | Kind::Text(value) | Kind::Comment(value) | Kind::Instruction(_, value) => {
                out.push_str(value);
            }
            Kind::Root | Kind::Element(_) => {
                for child in &self.nodes[node].children {
                    if matches!(self.nodes[*child].kind, Kind::Element(_) | Kind::Text(_)) {
                        self.write_string_value(*child, out);
                    }
                }
            }
        }
    }

    /// The children of an element that are elements.
    pub fn elements(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let children = self.nodes[node].children.iter().copied();
        children.filter(|child| matches!(self.nodes[*child].kind, Kind::Element(_)))
    }

    /// What is inside of an element, as XML.
    pub fn inner_xml(&self, node: usize) -> String {
        let mut out = String::new();
        self.nodes[node].children.iter().for_each(|child| self.write_xml(*child, &mut out));
        out
    }

    fn write_xml(&self, node: usize, out: &mut String) {
        match &self.nodes[node].kind {
            Kind::Element(name) => {
                let _ = write!(out, "<{name}");
                for attribute in &self.nodes[node].attributes {
                    if let Kind::Attribute(name, value) = &self.nodes[*attribute].kind {
                        let _ = write!(out, " {name}=\"");
                        write_escaped(out, value, true);
                        out.push('"');
                    }
                }
                out.push('>');
                self.nodes[node].children.iter().for_each(|child| self.write_xml(*child, out));
                let _ = write!(out, "</{name}>");
            }
            Kind::Text(text) => write_escaped(out, text, false),
            _ => {}
        }
    }
}

/// Writes text with what XML reserves escaped.
pub fn write_escaped(out: &mut String, text: &str, is_attribute: bool) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '\r' => out.push_str("&#xd;"),
            '"' if is_attribute => out.push_str("&quot;"),
            '\n' if is_attribute => out.push_str("&#xa;"),
            '\t' if is_attribute => out.push_str("&#x9;"),
            other => out.push(other),
        }
    }
}

/// The entities that a document type declares by a text.
fn entities_of(declaration: &str) -> Vec<(String, String)> {
    declaration
        .split("<!ENTITY")
        .skip(1)
        .filter_map(|rest| {
            let (name, rest) = rest.trim_start().split_once(char::is_whitespace)?;
            let rest = rest.trim_start();
            let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let (value, _) = rest[1..].split_once(quote)?;
            let value = quick_xml::escape::unescape(value).ok()?;
            Some((name.to_string(), value.into_owned()))
        })
        .collect()
}
