//! Values of XPath 1.0 expressions over a document.

use super::tree::{Document, Kind};
use super::xpath_parser::{Axis, Expr, Operator, Step, Test};
use firesteel_error::{Result, SparkError};

/// A value of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nodes in document order.
    Nodes(Vec<usize>),
    Number(f64),
    Text(String),
    Boolean(bool),
}

/// The node that an expression is evaluated for, with its place among others.
#[derive(Debug, Clone, Copy)]
struct Focus {
    node: usize,
    position: usize,
    size: usize,
}

/// Evaluates expressions over a document.
pub struct Evaluator<'d> {
    pub document: &'d Document,
}

fn unknown(what: &str) -> SparkError {
    SparkError::unsupported(format!("the XPath function {what}"))
}

/// A number of a text; what is none is NaN.
pub fn number_of(text: &str) -> f64 {
    let trimmed = text.trim_matches([' ', '\t', '\r', '\n']);
    let digits = trimmed.strip_prefix('-').unwrap_or(trimmed);
    let is_number =
        digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') && digits.bytes().any(|b| b.is_ascii_digit());
    if is_number { trimmed.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// A number as XPath writes it.
fn text_of_number(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_string();
    }
    if number == 0.0 { "0".to_string() } else { number.to_string() }
}

impl Evaluator<'_> {
    /// The value of an expression for the root of the document.
    pub fn evaluate(&self, expr: &Expr) -> Result<Value> {
        self.value(expr, Focus { node: 0, position: 1, size: 1 })
    }

    /// A value as text.
    pub fn text(&self, value: &Value) -> String {
        match value {
            Value::Nodes(nodes) => nodes.first().map(|node| self.document.string_value(*node)).unwrap_or_default(),
            Value::Number(number) => text_of_number(*number),
            Value::Text(text) => text.clone(),
            Value::Boolean(value) => value.to_string(),
        }
    }

    /// A value as a number.
    pub fn number(&self, value: &Value) -> f64 {
        match value {
            Value::Number(number) => *number,
            Value::Boolean(value) => f64::from(u8::from(*value)),
            other => number_of(&self.text(other)),
        }
    }

    /// A value as a boolean.
    pub fn boolean(&self, value: &Value) -> bool {
        match value {
            Value::Nodes(nodes) => !nodes.is_empty(),
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Text(text) => !text.is_empty(),
            Value::Boolean(value) => *value,
        }
    }

    fn value(&self, expr: &Expr, focus: Focus) -> Result<Value> {
        Ok(match expr {
            Expr::Number(number) => Value::Number(*number),
            Expr::Text(text) => Value::Text(text.clone()),
            Expr::Negate(inner) => Value::Number(-self.number(&self.value(inner, focus)?)),
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right, focus)?,
            Expr::Call(name, arguments) => self.call(name, arguments, focus)?,
            Expr::Path { is_absolute, steps } => {
                let start = if *is_absolute { 0 } else { focus.node };
                Value::Nodes(self.walk(vec![start], steps)?)
            }
            Expr::Filter { from, predicates, steps } => {
                let Value::Nodes(mut nodes) = self.value(from, focus)? else {
                    return Err(SparkError::unsupported("XPath steps from a value that is no node"));
                };
                for predicate in predicates {
                    nodes = self.filtered(nodes, predicate)?;
                }
                Value::Nodes(self.walk(nodes, steps)?)
            }
        })
    }

    fn walk(&self, mut nodes: Vec<usize>, steps: &[Step]) -> Result<Vec<usize>> {
        for step in steps {
            let mut found = Vec::new();
            for node in nodes {
                let mut chosen = self.axis(node, step.axis);
                chosen.retain(|candidate| self.passes(*candidate, step));
                for predicate in &step.predicates {
                    chosen = self.filtered(chosen, predicate)?;
                }
                found.extend(chosen);
            }
            found.sort_unstable();
            found.dedup();
            nodes = found;
        }
        Ok(nodes)
    }

    fn filtered(&self, nodes: Vec<usize>, predicate: &Expr) -> Result<Vec<usize>> {
        let size = nodes.len();
        let mut kept = Vec::new();
        for (index, node) in nodes.into_iter().enumerate() {
            let value = self.value(predicate, Focus { node, position: index + 1, size })?;
            let keeps = match value {
                Value::Number(number) => number == (index + 1) as f64,
                other => self.boolean(&other),
            };
            if keeps {
                kept.push(node);
            }
        }
        Ok(kept)
    }

    /// The nodes of an axis, the nearest first.
    fn axis(&self, node: usize, axis: Axis) -> Vec<usize> {
        let nodes = &self.document.nodes;
        let this = &nodes[node];
        let is_attribute = matches!(this.kind, Kind::Attribute(..));
        let siblings = || if node == 0 || is_attribute { &[][..] } else { nodes[this.parent].children.as_slice() };
        match axis {
            Axis::Itself => vec![node],
            Axis::Child => this.children.clone(),
            Axis::Attribute => this.attributes.clone(),
            Axis::Namespace => Vec::new(),
            Axis::Parent => {
                if node == 0 {
                    Vec::new()
                } else {
                    vec![this.parent]
                }
            }
            Axis::Ancestor => self.ancestors(node),
            Axis::AncestorOrSelf => std::iter::once(node).chain(self.ancestors(node)).collect(),
            Axis::Descendant => self.descendants(node),
            Axis::DescendantOrSelf => std::iter::once(node).chain(self.descendants(node)).collect(),
            Axis::FollowingSibling => siblings().iter().copied().filter(|sibling| *sibling > node).collect(),
            Axis::PrecedingSibling => siblings().iter().rev().copied().filter(|sibling| *sibling < node).collect(),
            Axis::Following => {
                let inside = self.descendants(node);
                let is_tree = |n: &usize| !matches!(nodes[*n].kind, Kind::Attribute(..));
                (node + 1..nodes.len()).filter(|n| is_tree(n) && !inside.contains(n)).collect()
            }
            Axis::Preceding => {
                let above = self.ancestors(node);
                let is_tree = |n: &usize| !matches!(nodes[*n].kind, Kind::Attribute(..));
                (0..node).rev().filter(|n| is_tree(n) && !above.contains(n)).collect()
            }
        }
    }

    fn ancestors(&self, mut node: usize) -> Vec<usize> {
        let mut found = Vec::new();
        while node != 0 {
            node = self.document.nodes[node].parent;
            found.push(node);
        }
        found
    }

    fn descendants(&self, node: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut left: Vec<usize> = self.document.nodes[node].children.iter().rev().copied().collect();
        while let Some(next) = left.pop() {
            found.push(next);
            left.extend(self.document.nodes[next].children.iter().rev());
        }
        found
    }

    fn passes(&self, node: usize, step: &Step) -> bool {
        let kind = &self.document.nodes[node].kind;
        let is_principal = match step.axis {
            Axis::Attribute => matches!(kind, Kind::Attribute(..)),
            _ => matches!(kind, Kind::Element(_)),
        };
        match &step.test {
            Test::Node => true,
            Test::Any => is_principal,
            // Documents are read without namespaces, so that no prefix stands for one.
            Test::Name(name) => is_principal && !name.contains(':') && self.document.local_name(node) == name,
            Test::Prefix(_) => false,
            Test::Text => matches!(kind, Kind::Text(_)),
            Test::Comment => matches!(kind, Kind::Comment(_)),
            Test::Instruction(target) => {
                matches!(kind, Kind::Instruction(name, _) if target.as_ref().is_none_or(|t| t == name))
            }
        }
    }

    fn binary(&self, operator: Operator, left: &Expr, right: &Expr, focus: Focus) -> Result<Value> {
        let a = self.value(left, focus)?;
        match operator {
            Operator::Or if self.boolean(&a) => return Ok(Value::Boolean(true)),
            Operator::And if !self.boolean(&a) => return Ok(Value::Boolean(false)),
            _ => {}
        }
        let b = self.value(right, focus)?;
        let numbers = || (self.number(&a), self.number(&b));
        Ok(match operator {
            Operator::Or | Operator::And => Value::Boolean(self.boolean(&b)),
            Operator::Equal
            | Operator::NotEqual
            | Operator::Less
            | Operator::LessOrEqual
            | Operator::Greater
            | Operator::GreaterOrEqual => Value::Boolean(self.compares(operator, &a, &b)),
            Operator::Add => Value::Number(numbers().0 + numbers().1),
            Operator::Subtract => Value::Number(numbers().0 - numbers().1),
            Operator::Multiply => Value::Number(numbers().0 * numbers().1),
            Operator::Divide => Value::Number(numbers().0 / numbers().1),
            Operator::Remainder => Value::Number(numbers().0 % numbers().1),
            Operator::Union => match (a, b) {
                (Value::Nodes(mut a), Value::Nodes(b)) => {
                    a.extend(b);
                    a.sort_unstable();
                    a.dedup();
                    Value::Nodes(a)
                }
                _ => return Err(SparkError::unsupported("XPath unions of values that are no nodes")),
            },
        })
    }

    /// Nodes compare where one of them does.
    fn compares(&self, operator: Operator, a: &Value, b: &Value) -> bool {
        if let (Value::Nodes(nodes), other) = (a, b)
            && !matches!(other, Value::Boolean(_))
        {
            let texts = nodes.iter().map(|node| Value::Text(self.document.string_value(*node)));
            return texts.into_iter().any(|text| self.compares(operator, &text, b));
        }
        if let (other, Value::Nodes(nodes)) = (a, b)
            && !matches!(other, Value::Boolean(_))
        {
            let texts = nodes.iter().map(|node| Value::Text(self.document.string_value(*node)));
            return texts.into_iter().any(|text| self.compares(operator, a, &text));
        }
        if matches!(operator, Operator::Equal | Operator::NotEqual) {
            let equal = match (a, b) {
                (Value::Boolean(_), _) | (_, Value::Boolean(_)) => self.boolean(a) == self.boolean(b),
                (Value::Number(_), _) | (_, Value::Number(_)) => self.number(a) == self.number(b),
                _ => self.text(a) == self.text(b),
            };
            return equal == (operator == Operator::Equal);
        }
        let (a, b) = (self.number(a), self.number(b));
        match operator {
            Operator::Less => a < b,
            Operator::LessOrEqual => a <= b,
            Operator::Greater => a > b,
            _ => a >= b,
        }
    }

    fn call(&self, name: &str, arguments: &[Expr], focus: Focus) -> Result<Value> {
        let mut values = arguments.iter().map(|a| self.value(a, focus)).collect::<Result<Vec<_>>>()?;
        let needs_focus = values.is_empty()
            && matches!(name, "string" | "number" | "string-length" | "normalize-space" | "name" | "local-name");
        if needs_focus {
            values.push(Value::Nodes(vec![focus.node]));
        }
        let text = |index: usize| values.get(index).map(|value| self.text(value)).unwrap_or_default();
        let number = |index: usize| values.get(index).map_or(f64::NAN, |value| self.number(value));
        let nodes = || match values.first() {
            Some(Value::Nodes(nodes)) => Ok(nodes.as_slice()),
            _ => Err(SparkError::unsupported(format!("{name}() of a value that is no node"))),
        };
        Ok(match (name, values.len()) {
            ("position", 0) => Value::Number(focus.position as f64),
            ("last", 0) => Value::Number(focus.size as f64),
            ("true", 0) => Value::Boolean(true),
            ("false", 0) => Value::Boolean(false),
            ("count", 1) => Value::Number(nodes()?.len() as f64),
            ("sum", 1) => {
                let numbers = nodes()?.iter().map(|node| number_of(&self.document.string_value(*node)));
                Value::Number(numbers.sum::<f64>() + 0.0)
            }
            ("name", 1) => Value::Text(nodes()?.first().map(|n| self.document.name(*n)).unwrap_or_default().into()),
            ("local-name", 1) => {
                Value::Text(nodes()?.first().map(|n| self.document.local_name(*n)).unwrap_or_default().into())
            }
            ("namespace-uri", _) => Value::Text(String::new()),
            ("string", 1) => Value::Text(text(0)),
            ("number", 1) => Value::Number(number(0)),
            ("boolean", 1) => Value::Boolean(values.first().is_some_and(|value| self.boolean(value))),
            ("not", 1) => Value::Boolean(!values.first().is_some_and(|value| self.boolean(value))),
            ("concat", 2..) => Value::Text((0..values.len()).map(text).collect()),
            ("starts-with", 2) => Value::Boolean(text(0).starts_with(&text(1))),
            ("contains", 2) => Value::Boolean(text(0).contains(&text(1))),
            ("substring-before", 2) => {
                Value::Text(text(0).split_once(&text(1)).map(|(a, _)| a.to_string()).unwrap_or_default())
            }
            ("substring-after", 2) => {
                Value::Text(text(0).split_once(&text(1)).map(|(_, b)| b.to_string()).unwrap_or_default())
            }
            ("substring", 2 | 3) => {
                let start = rounded(number(1));
                let end = if values.len() == 3 { start + rounded(number(2)) } else { f64::INFINITY };
                let inside = |place: usize| (place + 1) as f64 >= start && ((place + 1) as f64) < end;
                Value::Text(text(0).chars().enumerate().filter(|(i, _)| inside(*i)).map(|(_, c)| c).collect())
            }
            ("string-length", 1) => Value::Number(text(0).chars().count() as f64),
            ("normalize-space", 1) => Value::Text(text(0).split_whitespace().collect::<Vec<_>>().join(" ")),
            ("translate", 3) => {
                let (from, to): (Vec<char>, Vec<char>) = (text(1).chars().collect(), text(2).chars().collect());
                let source = text(0);
                let translated = source.chars().filter_map(|c| match from.iter().position(|f| *f == c) {
                    Some(place) => to.get(place).copied(),
                    None => Some(c),
                });
                Value::Text(translated.collect::<String>())
            }
            ("floor", 1) => Value::Number(number(0).floor()),
            ("ceiling", 1) => Value::Number(number(0).ceil()),
            ("round", 1) => Value::Number(rounded(number(0))),
            _ => return Err(unknown(name)),
        })
    }
}

fn rounded(number: f64) -> f64 {
    (number + 0.5).floor()
}
