//! Functions whose arguments have words between them, and other expressions that a keyword begins.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use crate::token::{NumberKind, TokenKind};
use firesteel_error::Result;
use firesteel_plan::{Expr, ExprKind, FunctionCall};
use firesteel_types::{DataType, Literal};

/// Units of `TIMESTAMPADD` and its kin.
const UNITS: [K; 11] = [
    K::YEAR,
    K::QUARTER,
    K::MONTH,
    K::WEEK,
    K::DAY,
    K::DAYOFYEAR,
    K::HOUR,
    K::MINUTE,
    K::SECOND,
    K::MILLISECOND,
    K::MICROSECOND,
];

impl Parser<'_> {
    /// The expression that a keyword begins, unless the keyword is a name here.
    pub(super) fn special(&mut self, word: K) -> Result<Option<Expr>> {
        let has_parenthesis = self.ahead_is_mark(1, "(");
        let expression = match word {
            K::NULL | K::TRUE | K::FALSE if !has_parenthesis && !self.ahead_is_mark(1, ".") => self.constant(word),
            K::CASE if self.ahead_begins_expression(1) && !self.at_case_name() => self.case()?,
            K::CAST | K::TRY_CAST if has_parenthesis => self.cast()?,
            K::INTERVAL if self.at_interval() => {
                let interval = self.interval();
                self.defer(interval, || Expr::literal(Literal::Null(DataType::Null)))?
            }
            K::STRUCT if has_parenthesis => self.structure()?,
            K::FIRST | K::LAST | K::ANY_VALUE if has_parenthesis => self.first_or_last()?,
            K::POSITION if has_parenthesis => self.position()?,
            K::EXTRACT if has_parenthesis && self.ahead_is(3, K::FROM) => self.extract()?,
            K::SUBSTR | K::SUBSTRING if has_parenthesis => self.substring()?,
            K::TRIM if has_parenthesis => self.trim()?,
            K::OVERLAY if has_parenthesis => self.overlay()?,
            K::TIMESTAMPADD | K::DATEADD | K::DATE_ADD if has_parenthesis => self.timestamp_units("timestampadd")?,
            K::TIMESTAMPDIFF | K::DATEDIFF | K::DATE_DIFF | K::TIMEDIFF if has_parenthesis => {
                self.timestamp_units("timestampdiff")?
            }
            K::IDENTIFIER if has_parenthesis && !(self.ahead_is_text(2) && self.ahead_is_mark(3, ")")) => {
                self.identifier_clause()?
            }
            K::CURRENT_DATE | K::CURRENT_TIMESTAMP | K::CURRENT_TIME | K::CURRENT_USER | K::USER | K::SESSION_USER
                if self.options.reserves_keywords() && !has_parenthesis =>
            {
                let start = self.mark();
                self.advance();
                self.call(start, &word.text().to_lowercase(), Vec::new())
            }
            _ => return Ok(None),
        };
        Ok(Some(expression))
    }

    /// Whether `CASE` is a column here: nothing that CASE could go on with follows.
    fn at_case_name(&self) -> bool {
        if self.ahead_is_mark(1, "(") {
            return self.closes_without_when();
        }
        [K::FROM, K::AS, K::AND, K::OR, K::IS, K::IN].iter().any(|word| self.ahead_is(1, *word))
            || matches!(self.ahead(1).kind, TokenKind::Mark("*" | "+" | "-"))
                && matches!(self.ahead(2).kind, TokenKind::Mark(_) | TokenKind::End)
            || (self.ahead_is(1, K::WHEN) && self.ahead_is(2, K::FROM))
    }

    /// Whether the parenthesis after the next token closes, and WHEN or an operator does not go on.
    fn closes_without_when(&self) -> bool {
        const FARTHEST: usize = 500;
        let mut depth = 0usize;
        for count in 1..FARTHEST {
            match self.ahead(count).kind {
                TokenKind::Mark("(") => depth += 1,
                TokenKind::Mark(")") if depth == 1 => {
                    return matches!(self.ahead(count + 1).kind, TokenKind::End | TokenKind::Mark(")" | "," | ";"))
                        || [K::FROM, K::AS].iter().any(|word| self.ahead_is(count + 1, *word));
                }
                TokenKind::Mark(")") => depth = depth.saturating_sub(1),
                TokenKind::End => return false,
                _ => {}
            }
        }
        false
    }

    fn constant(&mut self, word: K) -> Expr {
        let start = self.mark();
        self.advance();
        let literal = match word {
            K::NULL => Literal::Null(DataType::Null),
            word => Literal::Boolean(word == K::TRUE),
        };
        Expr::literal(literal).at(self.origin(start))
    }

    /// Whether an interval literal follows: a number, a string, or a sign and one of these.
    fn at_interval(&self) -> bool {
        let signs = usize::from(self.ahead_is_mark(1, "-") || self.ahead_is_mark(1, "+"));
        let token = self.ahead(1 + signs);
        match token.kind {
            TokenKind::Text | TokenKind::DoubleQuoted => true,
            TokenKind::Mark("?" | ":") => self.ahead_is_text(1 + signs),
            TokenKind::Number(NumberKind::Integer | NumberKind::Decimal) => signs == 0 || self.ahead_is_unit(2 + signs),
            _ => false,
        }
    }

    /// `STRUCT(a, b AS c)`.
    fn structure(&mut self) -> Result<Expr> {
        let start = self.mark();
        self.advance();
        self.advance();
        let mut arguments = Vec::new();
        if !self.is_mark(")") {
            arguments = self.named_expressions()?;
        }
        self.expect_mark(")")?;
        self.deepen()?;
        let function = self.call(start, "struct", arguments);
        self.windowed(start, function)
    }

    /// An ordinary call whose first argument was already read.
    pub(super) fn call_with(&mut self, start: usize, first: Expr, at: usize) -> Result<Expr> {
        let name = self.token_text(start);
        self.put_back(at, first);
        let arguments = self.arguments()?;
        self.finish_call(start, FunctionCall::new(vec![name], arguments))
    }

    /// Reads the name and the parenthesis, and says where the first argument begins.
    fn open_call(&mut self) -> (usize, usize) {
        let start = self.mark();
        self.advance();
        self.advance();
        (start, self.mark())
    }

    /// Whether the first argument can only be one of an ordinary call.
    pub(super) fn at_ordinary_argument(&self) -> bool {
        let at = 2;
        self.ahead_is_mark(at, ")")
            || self.ahead_is(at, K::DISTINCT)
            || self.ahead_is(at, K::ALL)
            || (self.ahead_is_name(at) && self.ahead_is_mark(at + 1, "=>"))
    }

    pub(super) fn ordinary_call(&mut self) -> Result<Expr> {
        let start = self.mark();
        let name = self.word()?;
        self.call_of(start, vec![name])
    }

    /// `FIRST(value [IGNORE NULLS])` and its kin.
    fn first_or_last(&mut self) -> Result<Expr> {
        if self.at_ordinary_argument() {
            return self.ordinary_call();
        }
        let (start, at) = self.open_call();
        let value = self.expression()?;
        if !(self.is(K::IGNORE) && self.ahead_is(1, K::NULLS)) {
            return self.call_with(start, value, at);
        }
        self.advance();
        self.advance();
        self.expect_mark(")")?;
        let mut call = FunctionCall::new(vec![self.token_text(start)], vec![value]);
        call.ignore_nulls = Some(true);
        self.deepen()?;
        self.finish_call(start, call)
    }

    /// `POSITION(part IN text)`.
    fn position(&mut self) -> Result<Expr> {
        if self.at_ordinary_argument() {
            return self.ordinary_call();
        }
        let (start, at) = self.open_call();
        let part = self.nested(Self::value)?;
        if !self.take(K::IN) {
            return self.call_with(start, part, at);
        }
        let text = self.nested(Self::value)?;
        self.expect_mark(")")?;
        self.deepen()?;
        Ok(self.call(start, "locate", vec![part, text]))
    }

    /// `EXTRACT(field FROM source)`.
    fn extract(&mut self) -> Result<Expr> {
        let (start, _) = self.open_call();
        let token = self.mark();
        let field = self.identifier()?;
        let field = Expr::literal(Literal::String(field)).at(self.origin(token));
        self.expect(K::FROM)?;
        let source = self.nested(Self::value)?;
        self.expect_mark(")")?;
        self.deepen()?;
        Ok(self.call(start, "extract", vec![field, source]))
    }

    /// `SUBSTRING(text FROM position [FOR length])`.
    fn substring(&mut self) -> Result<Expr> {
        if self.at_ordinary_argument() {
            return self.ordinary_call();
        }
        let (start, at) = self.open_call();
        let text = self.nested(Self::value)?;
        if !self.take(K::FROM) {
            return self.call_with(start, text, at);
        }
        let mut arguments = vec![text, self.nested(Self::value)?];
        if self.take(K::FOR) {
            arguments.push(self.nested(Self::value)?);
        }
        self.expect_mark(")")?;
        self.deepen()?;
        Ok(self.call(start, "substring", arguments))
    }

    /// `TRIM([BOTH | LEADING | TRAILING] [characters] FROM text)`.
    fn trim(&mut self) -> Result<Expr> {
        if self.at_ordinary_argument() {
            return self.ordinary_call();
        }
        let has_side = [K::BOTH, K::LEADING, K::TRAILING].iter().any(|side| self.ahead_is(2, *side))
            && (self.ahead_is(3, K::FROM) || self.ahead_begins_expression(3));
        let (start, at) = self.open_call();
        let side = if has_side { self.take_any(&[K::BOTH, K::LEADING, K::TRAILING]) } else { None };
        let mut arguments = Vec::new();
        if !(self.is(K::FROM) && self.ahead_begins_expression(1)) {
            let characters = self.nested(Self::value)?;
            if side.is_none() && !self.is(K::FROM) {
                return self.call_with(start, characters, at);
            }
            arguments.push(characters);
        }
        self.expect(K::FROM)?;
        arguments.push(self.nested(Self::value)?);
        self.expect_mark(")")?;
        self.deepen()?;
        let function = match side {
            Some(K::LEADING) => "ltrim",
            Some(K::TRAILING) => "rtrim",
            // `trim` by name has one argument, `btrim` has them the other way round.
            _ => "trim",
        };
        Ok(self.call(start, function, arguments))
    }

    /// `OVERLAY(text PLACING other FROM position [FOR length])`.
    fn overlay(&mut self) -> Result<Expr> {
        if self.at_ordinary_argument() {
            return self.ordinary_call();
        }
        let (start, at) = self.open_call();
        let text = self.nested(Self::value)?;
        if !self.take(K::PLACING) {
            return self.call_with(start, text, at);
        }
        let mut arguments = vec![text, self.nested(Self::value)?];
        self.expect(K::FROM)?;
        arguments.push(self.nested(Self::value)?);
        if self.take(K::FOR) {
            arguments.push(self.nested(Self::value)?);
        }
        self.expect_mark(")")?;
        self.deepen()?;
        Ok(self.call(start, "overlay", arguments))
    }

    /// `TIMESTAMPADD(unit, amount, time)`, `TIMESTAMPDIFF(unit, from, to)`.
    fn timestamp_units(&mut self, function: &str) -> Result<Expr> {
        let is_unit = matches!(self.ahead(2).kind, TokenKind::Word(Some(word)) if UNITS.contains(&word));
        let is_text = self.ahead_is_text(2);
        if !self.ahead_is_mark(3, ",") || !(is_unit || is_text) {
            return self.ordinary_call();
        }
        let (start, at) = self.open_call();
        let unit = self.advance();
        self.advance();
        let mut arguments = vec![self.expression()?];
        while self.take_mark(",") {
            arguments.push(self.expression()?);
        }
        self.expect_mark(")")?;
        self.deepen()?;
        if arguments.len() == 2 && is_text {
            let name = self.token_text(start);
            return Err(self
                .error(start, "INVALID_PARAMETER_VALUE.DATETIME_UNIT")
                .with("functionName", format!("`{name}`"))
                .with("parameter", "`unit`")
                .with("invalidValue", self.text_of(unit)));
        }
        let origin = self.origin_of(at);
        let text = self.text_of(unit);
        if arguments.len() == 2 {
            arguments.insert(0, Expr::literal(Literal::String(text)).at(origin));
            return Ok(self.call(start, function, arguments));
        }
        let first = if is_text {
            let characters = self.string_of(unit);
            Expr::literal(Literal::String(characters))
        } else {
            Expr::column(text)
        };
        arguments.insert(0, first.at(origin));
        self.finish_call(start, FunctionCall::new(vec![self.token_text(start)], arguments))
    }

    /// `IDENTIFIER(expression)`, as a column or as a function's name.
    fn identifier_clause(&mut self) -> Result<Expr> {
        let (start, _) = self.open_call();
        let name = Box::new(self.expression()?);
        self.expect_mark(")")?;
        self.deepen()?;
        if !self.take_mark("(") {
            return Ok(Expr::new(ExprKind::Identifier { name, arguments: None }).at(self.origin(start)));
        }
        if self.is_any(&[K::DISTINCT, K::ALL]) && self.ahead_begins_expression(1) {
            self.advance();
        }
        let arguments = Some(self.arguments()?);
        let function = Expr::new(ExprKind::Identifier { name, arguments }).at(self.origin(start));
        self.windowed(start, function)
    }
}
