//! XPath 1.0 expressions, parsed.

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Number(f64),
    Text(String),
    Call(String, Vec<Expr>),
    Negate(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// Steps from the root or from the current node.
    Path {
        is_absolute: bool,
        steps: Vec<Step>,
    },
    /// Predicates on the value of an expression, then steps from it.
    Filter {
        from: Box<Expr>,
        predicates: Vec<Expr>,
        steps: Vec<Step>,
    },
}

/// An operator between two expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Union,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub axis: Axis,
    pub test: Test,
    pub predicates: Vec<Expr>,
}

/// Where a step looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Namespace,
    Parent,
    Preceding,
    PrecedingSibling,
    Itself,
}

/// Which nodes a step takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    Any,
    Name(String),
    /// All names of a prefix.
    Prefix(String),
    Node,
    Text,
    Comment,
    Instruction(Option<String>),
}

const AXES: [(&str, Axis); 13] = [
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("attribute", Axis::Attribute),
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("following", Axis::Following),
    ("following-sibling", Axis::FollowingSibling),
    ("namespace", Axis::Namespace),
    ("parent", Axis::Parent),
    ("preceding", Axis::Preceding),
    ("preceding-sibling", Axis::PrecedingSibling),
    ("self", Axis::Itself),
];

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Text(String),
    Name(String),
    Sign(&'static str),
}

const SIGNS: [&str; 25] = [
    "::", "//", "..", "!=", "<=", ">=", "(", ")", "[", "]", ".", "@", ",", "/", "|", "+", "-", "=", "<", ">", "*", "$",
    ":", "!", ";",
];

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let second = rest.chars().nth(1);
        let length;
        if first.is_ascii_digit() || (first == '.' && second.is_some_and(|c| c.is_ascii_digit())) {
            length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            tokens.push(Token::Number(rest[..length].parse().ok()?));
        } else if matches!(first, '"' | '\'') {
            let end = rest[1..].find(first)?;
            tokens.push(Token::Text(rest[1..=end].to_string()));
            length = end + 2;
        } else if is_name_start(first) {
            let mut end = rest.find(|c| !is_name_part(c)).unwrap_or(rest.len());
            // A prefix and a local name; an axis has two colons.
            if rest[end..].starts_with(':') && !rest[end..].starts_with("::") {
                let local = &rest[end + 1..];
                let local_length = match local.chars().next() {
                    Some('*') => 1,
                    Some(c) if is_name_start(c) => local.find(|c| !is_name_part(c)).unwrap_or(local.len()),
                    _ => return None,
                };
                end += 1 + local_length;
            }
            length = end;
            tokens.push(Token::Name(rest[..length].to_string()));
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            length = sign.len();
            tokens.push(Token::Sign(sign));
        }
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}

/// Expressions nested deeper are not parsed.
const MOST_DEPTH: usize = 200;

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

/// The expression of a text; None where it is none.
pub fn parse(text: &str) -> Option<Expr> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let expr = parser.binary(0)?;
    (parser.at == parser.tokens.len()).then_some(expr)
}

/// Operators by how strongly they bind, the weakest first.
const LEVELS: [&[(&str, Operator)]; 6] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[("=", Operator::Equal), ("!=", Operator::NotEqual)],
    &[("<", Operator::Less), ("<=", Operator::LessOrEqual), (">", Operator::Greater), (">=", Operator::GreaterOrEqual)],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("div", Operator::Divide), ("mod", Operator::Remainder)],
];

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(s)) if *s == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Option<()> {
        self.take(sign).then_some(())
    }

    fn operator(&mut self, level: usize) -> Option<Operator> {
        let word = match self.peek()? {
            Token::Sign(sign) => *sign,
            Token::Name(name) => name.as_str(),
            _ => return None,
        };
        let operator = LEVELS[level].iter().find(|(text, _)| *text == word).map(|(_, operator)| *operator)?;
        self.at += 1;
        Some(operator)
    }

    fn binary(&mut self, level: usize) -> Option<Expr> {
        if level == LEVELS.len() {
            return self.unary();
        }
        self.depth += 1;
        if self.depth > MOST_DEPTH * LEVELS.len() {
            return None;
        }
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(level) {
            let right = self.binary(level + 1)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Some(left)
    }

    fn unary(&mut self) -> Option<Expr> {
        let mut is_negative = false;
        while self.take("-") {
            is_negative = !is_negative;
        }
        let mut expr = self.path()?;
        while self.take("|") {
            let right = self.path()?;
            expr = Expr::Binary(Operator::Union, Box::new(expr), Box::new(right));
        }
        Some(if is_negative { Expr::Negate(Box::new(expr)) } else { expr })
    }

    fn path(&mut self) -> Option<Expr> {
        let is_call = matches!(
            (self.peek(), self.tokens.get(self.at + 1)),
            (Some(Token::Name(name)), Some(Token::Sign("(")))
                if !matches!(name.as_str(), "node" | "text" | "comment" | "processing-instruction")
        );
        let primary = match self.peek()? {
            Token::Number(number) => Some(Expr::Number(*number)),
            Token::Text(text) => Some(Expr::Text(text.clone())),
            Token::Sign("(") => {
                self.at += 1;
                let inner = self.binary(0)?;
                if !self.is_sign(")") {
                    return None;
                }
                Some(inner)
            }
            Token::Name(name) if is_call => {
                let name = name.clone();
                self.at += 2;
                let mut arguments = Vec::new();
                if !self.is_sign(")") {
                    arguments.push(self.binary(0)?);
                    while self.take(",") {
                        arguments.push(self.binary(0)?);
                    }
                }
                if !self.is_sign(")") {
                    return None;
                }
                Some(Expr::Call(name, arguments))
            }
            _ => None,
        };
        let Some(primary) = primary else { return self.location() };
        self.at += 1;
        let predicates = self.predicates()?;
        let mut steps = Vec::new();
        if self.is_sign("/") || self.is_sign("//") {
            self.steps(&mut steps)?;
        }
        if predicates.is_empty() && steps.is_empty() {
            return Some(primary);
        }
        Some(Expr::Filter { from: Box::new(primary), predicates, steps })
    }

    fn location(&mut self) -> Option<Expr> {
        let mut steps = Vec::new();
        let is_absolute = self.is_sign("/") || self.is_sign("//");
        if !is_absolute {
            steps.push(self.step()?);
        } else if self.is_sign("/") && !self.begins_step(1) {
            self.at += 1;
            return Some(Expr::Path { is_absolute, steps });
        }
        self.steps(&mut steps)?;
        Some(Expr::Path { is_absolute, steps })
    }

    fn begins_step(&self, ahead: usize) -> bool {
        matches!(self.tokens.get(self.at + ahead), Some(Token::Name(_) | Token::Sign("." | ".." | "@" | "*")))
    }

    /// Steps after slashes.
    fn steps(&mut self, steps: &mut Vec<Step>) -> Option<()> {
        loop {
            if self.take("//") {
                steps.push(Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates: Vec::new() });
            } else if !self.take("/") {
                return Some(());
            }
            steps.push(self.step()?);
        }
    }

    fn step(&mut self) -> Option<Step> {
        if self.take(".") {
            return Some(Step { axis: Axis::Itself, test: Test::Node, predicates: Vec::new() });
        }
        if self.take("..") {
            return Some(Step { axis: Axis::Parent, test: Test::Node, predicates: Vec::new() });
        }
        let mut axis = Axis::Child;
        if self.take("@") {
            axis = Axis::Attribute;
        } else if let (Some(Token::Name(name)), Some(Token::Sign("::"))) = (self.peek(), self.tokens.get(self.at + 1)) {
            axis = AXES.iter().find(|(text, _)| text == name).map(|(_, axis)| *axis)?;
            self.at += 2;
        }
        let test = self.test()?;
        let predicates = self.predicates()?;
        Some(Step { axis, test, predicates })
    }

    fn test(&mut self) -> Option<Test> {
        if self.take("*") {
            return Some(Test::Any);
        }
        let Some(Token::Name(name)) = self.peek().cloned() else { return None };
        self.at += 1;
        if !self.take("(") {
            return Some(match name.strip_suffix(":*") {
                Some(prefix) => Test::Prefix(prefix.to_string()),
                None => Test::Name(name),
            });
        }
        let test = match name.as_str() {
            "node" => Test::Node,
            "text" => Test::Text,
            "comment" => Test::Comment,
            "processing-instruction" => match self.peek().cloned() {
                Some(Token::Text(target)) => {
                    self.at += 1;
                    Test::Instruction(Some(target))
                }
                _ => Test::Instruction(None),
            },
            _ => return None,
        };
        self.expect(")")?;
        Some(test)
    }

    fn predicates(&mut self) -> Option<Vec<Expr>> {
        let mut predicates = Vec::new();
        while self.take("[") {
            predicates.push(self.binary(0)?);
            self.expect("]")?;
        }
        Some(predicates)
    }
}
