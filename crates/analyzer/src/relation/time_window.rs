//! `window` and `session_window` among group keys: the windows become a column of the input.

use super::generate::{self, GeneratorItem};
use crate::analyzer::Analyzer;
use crate::resolved::Resolved;
use firesteel_error::{Result, SparkError};
use firesteel_functions::registry;
use firesteel_plan::{
    Expr, ExprKind, FrameBound, FrameUnit, FunctionCall, Grouping, GroupingElement, Relation, RelationKind, SortOrder,
    WindowFrame, WindowReference, WindowSpecification,
};
use firesteel_types::{DataType, Literal};

/// The column of windows.
const WINDOW: &str = "window";
/// The column of sessions.
const SESSION: &str = "session_window";
/// Columns from which sessions are made.
const TIME: &str = "__session_time";
const END: &str = "__session_end";
const LATEST: &str = "__session_latest";
const NUMBER: &str = "__session_number";

/// A select block whose windows are columns of its input.
pub(super) struct Spread {
    pub(super) grouping: Grouping,
    pub(super) outputs: Vec<Expr>,
    pub(super) having: Vec<Expr>,
    call: FunctionCall,
    origin: firesteel_plan::Origin,
    name: &'static str,
}

/// The block with its windows taken out; None where it has none.
pub(super) fn spread(grouping: &Grouping, outputs: &[Expr], having: &[&Expr]) -> Result<Option<Spread>> {
    let mut calls: Vec<&Expr> = Vec::new();
    for key in keys_of(grouping) {
        let key = match (&key.kind, outputs) {
            (ExprKind::Literal(Literal::Integer(i)), outputs) => {
                match usize::try_from(*i - 1).ok().and_then(|i| outputs.get(i)) {
                    Some(output) => output,
                    None => key,
                }
            }
            (ExprKind::Attribute { name, .. }, outputs) => named(outputs, name).unwrap_or(key),
            _ => key,
        };
        find(key, &mut calls);
    }
    let Some(first) = calls.first().copied() else { return Ok(None) };
    let (Some(name), ExprKind::Function(call)) = (window_name(first), &first.kind) else { return Ok(None) };
    if calls.iter().any(|other| !same_call(other, first)) {
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_1039"));
    }
    let (call, origin) = (call.clone(), first.origin.clone());
    let swap = |expr: &Expr| replaced(expr, &call, name);
    Ok(Some(Spread {
        grouping: map_grouping(grouping, &swap),
        outputs: outputs.iter().map(swap).collect(),
        having: having.iter().map(|e| swap(e)).collect(),
        origin,
        name,
        call,
    }))
}

/// The output of an alias.
fn named<'e>(outputs: &'e [Expr], name: &[String]) -> Option<&'e Expr> {
    let [name] = name else { return None };
    outputs.iter().find_map(|output| match &output.kind {
        ExprKind::Alias { child, names, .. } if names.len() == 1 && names[0].eq_ignore_ascii_case(name) => {
            Some(child.as_ref())
        }
        _ => None,
    })
}

fn window_name(expr: &Expr) -> Option<&'static str> {
    let ExprKind::Function(call) = &expr.kind else { return None };
    let [name] = call.name.as_slice() else { return None };
    match call.arguments.len() {
        2..=4 if name.eq_ignore_ascii_case(WINDOW) => Some(WINDOW),
        2 if name.eq_ignore_ascii_case(SESSION) => Some(SESSION),
        _ => None,
    }
}

fn same_call(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Function(a), ExprKind::Function(b)) => {
            window_name_of(a) == window_name_of(b)
                && a.arguments.len() == b.arguments.len()
                && a.arguments.iter().zip(&b.arguments).all(|(a, b)| same(a, b))
        }
        _ => false,
    }
}

fn window_name_of(call: &FunctionCall) -> Option<String> {
    call.name.last().map(|n| n.to_ascii_lowercase())
}

/// True for expressions that differ at most in where they stand.
fn same(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Function(x), ExprKind::Function(y)) => {
            x.name == y.name
                && x.arguments.len() == y.arguments.len()
                && x.arguments.iter().zip(&y.arguments).all(|(a, b)| same(a, b))
        }
        (ExprKind::Cast { child: x, to: s, .. }, ExprKind::Cast { child: y, to: t, .. }) => s == t && same(x, y),
        (x, y) => x == y,
    }
}

fn keys_of(grouping: &Grouping) -> Vec<&Expr> {
    fn of_element<'e>(element: &'e GroupingElement, keys: &mut Vec<&'e Expr>) {
        match element {
            GroupingElement::Expr(expr) => keys.push(expr),
            GroupingElement::Rollup(items) | GroupingElement::Cube(items) => keys.extend(items.iter().flatten()),
            GroupingElement::Sets(elements) => elements.iter().for_each(|e| of_element(e, keys)),
            GroupingElement::Set(list) => keys.extend(list),
        }
    }
    match grouping {
        Grouping::By(list) | Grouping::Rollup(list) | Grouping::Cube(list) => list.iter().collect(),
        Grouping::Sets { sets, columns } => sets.iter().flatten().chain(columns).collect(),
        Grouping::Elements(elements) => {
            let mut keys = Vec::new();
            elements.iter().for_each(|e| of_element(e, &mut keys));
            keys
        }
        Grouping::All | Grouping::Pivot { .. } => Vec::new(),
    }
}

fn map_grouping(grouping: &Grouping, swap: &dyn Fn(&Expr) -> Expr) -> Grouping {
    let list = |list: &[Expr]| list.iter().map(swap).collect::<Vec<_>>();
    let lists = |lists: &[Vec<Expr>]| lists.iter().map(|l| list(l)).collect::<Vec<_>>();
    fn element(e: &GroupingElement, swap: &dyn Fn(&Expr) -> Expr) -> GroupingElement {
        let lists = |lists: &[Vec<Expr>]| lists.iter().map(|l| l.iter().map(swap).collect()).collect();
        match e {
            GroupingElement::Expr(expr) => GroupingElement::Expr(swap(expr)),
            GroupingElement::Rollup(items) => GroupingElement::Rollup(lists(items)),
            GroupingElement::Cube(items) => GroupingElement::Cube(lists(items)),
            GroupingElement::Sets(elements) => {
                GroupingElement::Sets(elements.iter().map(|e| element(e, swap)).collect())
            }
            GroupingElement::Set(list) => GroupingElement::Set(list.iter().map(swap).collect()),
        }
    }
    match grouping {
        Grouping::By(keys) => Grouping::By(list(keys)),
        Grouping::Rollup(keys) => Grouping::Rollup(list(keys)),
        Grouping::Cube(keys) => Grouping::Cube(list(keys)),
        Grouping::Sets { sets, columns } => Grouping::Sets { sets: lists(sets), columns: list(columns) },
        Grouping::Elements(elements) => Grouping::Elements(elements.iter().map(|e| element(e, swap)).collect()),
        other => other.clone(),
    }
}

/// The parts of an expression in which windows are looked for.
fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Function(call) => call.arguments.iter().collect(),
        ExprKind::Alias { child, .. } | ExprKind::Cast { child, .. } => vec![child.as_ref()],
        ExprKind::NamedArgument { value, .. } => vec![value.as_ref()],
        ExprKind::ExtractValue { child, extraction } => vec![child.as_ref(), extraction.as_ref()],
        _ => Vec::new(),
    }
}

fn find<'e>(expr: &'e Expr, calls: &mut Vec<&'e Expr>) {
    if window_name(expr).is_some() {
        calls.push(expr);
        return;
    }
    parts(expr).into_iter().for_each(|part| find(part, calls));
}

/// The expression with the column in place of the call.
fn replaced(expr: &Expr, call: &FunctionCall, name: &str) -> Expr {
    if let (Some(_), ExprKind::Function(own)) = (window_name(expr), &expr.kind)
        && window_name_of(own) == window_name_of(call)
        && own.arguments.len() == call.arguments.len()
        && own.arguments.iter().zip(&call.arguments).all(|(a, b)| same(a, b))
    {
        return Expr::column(name).at(expr.origin.clone());
    }
    let again = |e: &Expr| Box::new(replaced(e, call, name));
    let kind = match &expr.kind {
        ExprKind::Function(own) => {
            let arguments = own.arguments.iter().map(|e| replaced(e, call, name)).collect();
            ExprKind::Function(FunctionCall { arguments, ..own.clone() })
        }
        ExprKind::Alias { child, names, metadata } => {
            ExprKind::Alias { child: again(child), names: names.clone(), metadata: metadata.clone() }
        }
        ExprKind::Cast { child, to, mode } => ExprKind::Cast { child: again(child), to: to.clone(), mode: *mode },
        ExprKind::NamedArgument { name: argument, value } => {
            ExprKind::NamedArgument { name: argument.clone(), value: again(value) }
        }
        ExprKind::ExtractValue { child, extraction } => {
            ExprKind::ExtractValue { child: again(child), extraction: again(extraction) }
        }
        other => other.clone(),
    };
    Expr { kind, origin: expr.origin.clone() }
}

impl Spread {
    /// The input with the column of windows.
    pub(super) fn input(&self, a: &mut Analyzer<'_>, input: &Relation) -> Result<Resolved> {
        if self.name == SESSION {
            return a.relation(&self.with_sessions(input)?);
        }
        let resolved = a.relation(input)?;
        let Some(function) = registry::lookup("window_rows") else {
            return Err(SparkError::internal("window_rows is not declared"));
        };
        let call = FunctionCall { name: vec!["window_rows".to_string()], ..self.call.clone() };
        let item = GeneratorItem::new(function, call, self.origin.clone(), vec![WINDOW.to_string()]);
        let scope = a.scope(&[&resolved]);
        Ok(generate::generate(a, resolved, item, &scope)?.0)
    }

    /// Rows of one group whose windows touch make a session.
    fn with_sessions(&self, input: &Relation) -> Result<Relation> {
        let Grouping::By(keys) = &self.grouping else {
            return Err(SparkError::unsupported("session_window in grouping sets"));
        };
        let keys: Vec<Expr> = keys
            .iter()
            .filter(|key| !matches!(&key.kind, ExprKind::Attribute { name, .. } if *name == [SESSION]))
            .map(|key| match &key.kind {
                ExprKind::Alias { child, .. } => Ok(child.as_ref().clone()),
                ExprKind::Literal(Literal::Integer(_)) => {
                    Err(SparkError::unsupported("session_window beside group keys by position"))
                }
                _ => Ok(key.clone()),
            })
            .collect::<Result<_>>()?;
        let [time, gap] = self.call.arguments.as_slice() else {
            return Err(SparkError::internal("session_window takes two arguments"));
        };
        let gap = gap.clone().cast(DataType::CalendarInterval);
        let time = Expr::call("session_time", vec![time.clone()]).at(self.origin.clone());
        let column = |name: &str| Expr::column(name);
        let windows = project(
            input.clone(),
            vec![time.clone().alias(TIME), Expr::call("+", vec![time, gap]).alias(END)],
            Vec::new(),
        );
        let lasting = Relation::new(RelationKind::Filter {
            input: windows,
            condition: Expr::call(">", vec![column(END), column(TIME)]),
        });
        let over = |function: Expr, partition_by: Vec<Expr>, upper: Option<FrameBound>| {
            let ordered = upper.is_some();
            let frame =
                upper.map(|upper| WindowFrame { unit: FrameUnit::Rows, lower: FrameBound::UnboundedPreceding, upper });
            let order_by = if ordered { vec![SortOrder::ascending(column(TIME))] } else { Vec::new() };
            let window = WindowSpecification { partition_by, order_by, frame };
            Expr::new(ExprKind::Window { function: Box::new(function), window: WindowReference::Specification(window) })
        };
        let before = FrameBound::Value(Box::new(Expr::literal(Literal::Integer(-1))));
        let latest = over(Expr::call("max", vec![column(END)]), keys.clone(), Some(before));
        let with_latest = project(lasting, vec![latest.alias(LATEST)], Vec::new());
        let goes_on = Expr::call(">=", vec![column(LATEST), column(TIME)]);
        let step =
            Expr::call("when", vec![goes_on, Expr::literal(Literal::Integer(0)), Expr::literal(Literal::Integer(1))]);
        let number = over(Expr::call("sum", vec![step]), keys.clone(), Some(FrameBound::CurrentRow));
        let numbered = project(with_latest, vec![number.alias(NUMBER)], Vec::new());
        let mut session = keys;
        session.push(column(NUMBER));
        let bound = |name: &str, function: &str, of: &str| {
            let value = over(Expr::call(function, vec![column(of)]), session.clone(), None);
            vec![Expr::literal(Literal::String(name.to_string())), value]
        };
        let fields = [bound("start", "min", TIME), bound("end", "max", END)].concat();
        let except = [TIME, END, LATEST, NUMBER].map(|name| vec![name.to_string()]).to_vec();
        Ok(project(numbered, vec![Expr::call("named_struct", fields).alias(SESSION)], except))
    }
}

/// All columns but some, and further ones.
fn project(input: Relation, mut more: Vec<Expr>, except: Vec<Vec<String>>) -> Relation {
    more.insert(0, Expr::new(ExprKind::Star { target: None, except, plan_id: None }));
    Relation::new(RelationKind::Project { input, expressions: more })
}
