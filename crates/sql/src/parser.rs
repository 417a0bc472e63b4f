//! The cursor over tokens that all of the grammar shares.

use crate::ParserOptions;
use crate::keyword::Keyword;
use crate::lexer::tokenize;
use crate::script::Label;
use crate::token::{NumberKind, Token, TokenKind};
use firesteel_error::{ExceptionClass, QueryContext, Result, SparkError, TextPosition};
use firesteel_plan::{Expr, Origin, SqlSource};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How deep a tree may be, so that nothing that walks or drops it can exhaust the stack.
pub(crate) const MAX_DEPTH: usize = 2000;

/// How many nodes may come of one text where parts of it are copied.
const MAX_WEIGHT: usize = 1 << 20;

/// Stack that is left for what lies between two calls of [`Parser::nested`].
const STACK_RESERVE: usize = 256 * 1024;
const STACK_STEP: usize = 4 * 1024 * 1024;

/// A position among the tokens.
pub(crate) type Mark = usize;

/// An expression that was read and put back.
struct Pending {
    start: Mark,
    expression: Expr,
    height: usize,
}

/// A parser of one text.
pub(crate) struct Parser<'a> {
    pub options: &'a ParserOptions,
    source: Arc<SqlSource>,
    characters: Vec<char>,
    tokens: Vec<Token>,
    at: usize,
    /// How many calls of `nested` are open.
    depth: usize,
    /// How high the tree is that the innermost call of `nested` has built.
    height: usize,
    /// An expression in parentheses that was read before it was known to be one.
    /// How many nodes there are about, copies included.
    weight: usize,
    pending: Option<Pending>,
    /// How many `?` there were.
    pub parameters: usize,
    /// Parameter markers with known values, by their first character: their end, and the value's text.
    bound: BTreeMap<u32, (u32, String)>,
    /// Whether names are those of a SELECT list, where quoted ones may be patterns.
    pub in_select_list: bool,
    /// Whether semicolons end statements of a script rather than the text.
    pub in_script: bool,
    /// The first error about a part that is well formed and means nothing. An error of form goes before it.
    deferred: Option<SparkError>,
    /// The first error about the statement as a whole.
    whole: Option<SparkError>,
    /// Labels of the blocks and loops around.
    pub labels: Vec<Label>,
}

impl<'a> Parser<'a> {
    pub fn new(text: &str, options: &'a ParserOptions) -> Result<Self> {
        let characters: Vec<char> = text.chars().collect();
        let lexed = tokenize(&characters);
        let (object_type, object_name) = options.source_object.clone().unwrap_or_default();
        let source = Arc::new(SqlSource { text: text.into(), object_type, object_name });
        let parser = Self {
            options,
            source,
            characters,
            tokens: lexed.tokens,
            at: 0,
            depth: 0,
            height: 0,
            weight: 0,
            pending: None,
            parameters: 0,
            bound: BTreeMap::new(),
            in_select_list: false,
            in_script: false,
            deferred: None,
            whole: None,
            labels: Vec::new(),
        };
        match lexed.unclosed_comment {
            Some(start) => {
                let end = u32::try_from(parser.characters.len()).unwrap_or(u32::MAX).saturating_sub(1);
                Err(SparkError::new("UNCLOSED_BRACKETED_COMMENT").with_context(parser.context(start, end)))
            }
            None => Ok(parser),
        }
    }

    // ---- looking ----

    pub fn peek(&self) -> Token {
        self.ahead(0)
    }

    /// The token after `count` others; the end of the text stays the end.
    pub fn ahead(&self, count: usize) -> Token {
        let index = self.at.saturating_add(count).min(self.tokens.len().saturating_sub(1));
        self.tokens.get(index).copied().unwrap_or(Token { kind: TokenKind::End, start: 0, end: 0 })
    }

    pub fn is(&self, keyword: Keyword) -> bool {
        self.ahead_is(0, keyword)
    }

    pub fn ahead_is(&self, count: usize, keyword: Keyword) -> bool {
        self.ahead(count).kind == TokenKind::Word(Some(keyword))
    }

    pub fn is_mark(&self, mark: &str) -> bool {
        self.ahead_is_mark(0, mark)
    }

    pub fn ahead_is_mark(&self, count: usize, mark: &str) -> bool {
        matches!(self.ahead(count).kind, TokenKind::Mark(found) if found == mark)
    }

    /// Whether the next tokens are these keywords.
    pub fn are(&self, keywords: &[Keyword]) -> bool {
        keywords.iter().enumerate().all(|(index, keyword)| self.ahead_is(index, *keyword))
    }

    pub fn is_any(&self, keywords: &[Keyword]) -> bool {
        matches!(self.peek().kind, TokenKind::Word(Some(found)) if keywords.contains(&found))
    }

    pub fn at_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    /// The next keyword, if it is one.
    pub fn keyword(&self) -> Option<Keyword> {
        self.keyword_ahead(0)
    }

    /// The keyword after `count` other tokens, if it is one.
    pub fn keyword_ahead(&self, count: usize) -> Option<Keyword> {
        match self.ahead(count).kind {
            TokenKind::Word(keyword) => keyword,
            _ => None,
        }
    }

    /// Whether a token is the unit of an interval.
    pub fn ahead_is_unit(&self, count: usize) -> bool {
        self.keyword_ahead(count).is_some_and(Keyword::is_interval_unit)
    }

    /// Whether the word of a token, keyword or not, is this one.
    pub fn ahead_is_word(&self, count: usize, word: &str) -> bool {
        let token = self.ahead(count);
        matches!(token.kind, TokenKind::Word(_)) && self.text_of(token).eq_ignore_ascii_case(word)
    }

    // ---- taking ----

    pub fn advance(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    pub fn take(&mut self, keyword: Keyword) -> bool {
        let found = self.is(keyword);
        if found {
            self.at += 1;
        }
        found
    }

    pub fn take_mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        if found {
            self.at += 1;
        }
        found
    }

    /// Takes all of these keywords, or none.
    pub fn take_all(&mut self, keywords: &[Keyword]) -> bool {
        let found = self.are(keywords);
        if found {
            self.at += keywords.len();
        }
        found
    }

    /// Takes whichever of these keywords is next.
    pub fn take_any(&mut self, keywords: &[Keyword]) -> Option<Keyword> {
        let keyword = self.keyword().filter(|found| keywords.contains(found))?;
        self.at += 1;
        Some(keyword)
    }

    pub fn take_word(&mut self, word: &str) -> bool {
        let found = self.ahead_is_word(0, word);
        if found {
            self.at += 1;
        }
        found
    }

    pub fn expect(&mut self, keyword: Keyword) -> Result<()> {
        if self.take(keyword) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub fn expect_all(&mut self, keywords: &[Keyword]) -> Result<()> {
        keywords.iter().try_for_each(|keyword| self.expect(*keyword))
    }

    pub fn expect_mark(&mut self, mark: &str) -> Result<()> {
        if self.take_mark(mark) {
            return Ok(());
        }
        Err(self.unexpected())
    }

    /// Takes a closing `>` of a type, also out of `>>` and `>>>`.
    pub fn take_closing_angle(&mut self) -> bool {
        let token = self.peek();
        let rest = match token.kind {
            TokenKind::Mark(">") => None,
            TokenKind::Mark(">>") => Some(">"),
            TokenKind::Mark(">>>") => Some(">>"),
            TokenKind::Mark(">=") => Some("="),
            _ => return false,
        };
        if let (Some(rest), Some(first)) = (rest, self.tokens.get_mut(self.at)) {
            *first = Token { kind: TokenKind::Mark(">"), start: token.start, end: token.start + 1 };
            self.tokens
                .insert(self.at + 1, Token { kind: TokenKind::Mark(rest), start: token.start + 1, end: token.end });
        }
        self.at += 1;
        true
    }

    /// Reads items between commas.
    pub fn comma_separated<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![self.beside(&mut item)?];
        while self.take_mark(",") {
            items.push(self.beside(&mut item)?);
        }
        Ok(items)
    }

    /// Reads `(item, …)`.
    pub fn in_parentheses<T>(&mut self, item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect_mark("(")?;
        let items = self.comma_separated(item)?;
        self.expect_mark(")")?;
        Ok(items)
    }

    /// Nothing but semicolons may follow a statement.
    pub fn end(&mut self) -> Result<()> {
        let mut is_closed = false;
        while self.take_mark(";") {
            is_closed = true;
        }
        if is_closed && !self.at_end() {
            return Err(self.extra_input());
        }
        self.end_of_text()
    }

    /// The error of a token that nothing may stand for.
    fn extra_input(&self) -> SparkError {
        let token = self.peek();
        self.syntax_error(token, &format!(": extra input '{}'", self.text_of(token)))
    }

    /// Keeps an error for later where the text's form is right so far, and goes on with a stand-in.
    pub fn defer<T>(&mut self, result: Result<T>, stand_in: impl FnOnce() -> T) -> Result<T> {
        match result {
            Err(error) if !error.is("PARSE_SYNTAX_ERROR") && !error.is("FAILED_TO_PARSE_TOO_COMPLEX") => {
                self.deferred.get_or_insert(error);
                Ok(stand_in())
            }
            result => result,
        }
    }

    /// Keeps an error that is about the whole statement, which is told once all of it has been read.
    pub fn defer_whole(&mut self, error: SparkError) {
        self.whole.get_or_insert(error.with_class(ExceptionClass::Parse));
    }

    /// Tells the error that was kept about the statement from a mark to here.
    pub fn whole_statement(&mut self, start: Mark) -> Result<()> {
        let Some(error) = self.whole.take() else { return Ok(()) };
        Err(error.or_context(|| self.origin(start).context()))
    }

    /// Nothing at all may follow.
    pub fn end_of_text(&mut self) -> Result<()> {
        if self.at_end() {
            if let Some(error) = self.whole.take() {
                return Err(error);
            }
            return self.deferred.take().map_or(Ok(()), Err);
        }
        // A single token too many is told as such.
        if self.ahead(1).kind == TokenKind::End {
            return Err(self.extra_input());
        }
        Err(self.unexpected())
    }

    // ---- going back ----

    pub fn mark(&self) -> Mark {
        self.at
    }

    /// Where the expression starts that is to be read, be it pending.
    pub fn start(&self) -> Mark {
        self.pending.as_ref().map_or(self.at, |pending| pending.start)
    }

    /// Puts an expression back, to be the first operand of the expression that is read next.
    pub fn put_back(&mut self, start: Mark, expression: Expr) {
        self.pending = Some(Pending { start, expression, height: self.height });
    }

    pub fn has_pending(&self) -> bool {
        self.pending.is_some()
    }

    pub fn take_pending(&mut self) -> Option<Expr> {
        let pending = self.pending.take()?;
        self.height = self.height.max(pending.height);
        Some(pending.expression)
    }

    pub fn back_to(&mut self, mark: Mark) {
        self.at = mark;
    }

    // ---- depth ----

    /// Runs a step that may contain itself, with stack enough and to a limited depth.
    pub fn nested<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_complex());
        }
        self.depth += 1;
        self.weight += 1;
        let outer = std::mem::take(&mut self.height);
        let result = stacker::maybe_grow(STACK_RESERVE, STACK_STEP, || step(self));
        self.depth -= 1;
        self.height = outer.max(self.height + 1);
        result
    }

    /// Runs a step whose tree stands beside those before it, not on top of them.
    pub fn beside<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let others = std::mem::take(&mut self.height);
        let result = step(self);
        self.height = self.height.max(others);
        result
    }

    /// Counts a level on top of the tree that the open call of `nested` has built.
    pub fn deepen(&mut self) -> Result<()> {
        self.height += 1;
        self.weight += 1;
        if self.depth + self.height > MAX_DEPTH { Err(self.too_complex()) } else { Ok(()) }
    }

    /// How many nodes were built so far.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Counts a copy of nodes, since copies of copies may grow without limit.
    pub fn copy_of(&mut self, nodes: usize) -> Result<()> {
        self.weight = self.weight.saturating_add(nodes);
        if self.weight > MAX_WEIGHT { Err(self.too_complex()) } else { Ok(()) }
    }

    fn too_complex(&self) -> SparkError {
        self.error_at(self.peek(), "FAILED_TO_PARSE_TOO_COMPLEX")
    }

    // ---- text and places ----

    pub fn text_of(&self, token: Token) -> String {
        self.slice(token.start, token.end)
    }

    pub fn characters_of(&self, token: Token) -> &[char] {
        self.characters.get(token.start as usize..token.end as usize).unwrap_or_default()
    }

    fn slice(&self, start: u32, end: u32) -> String {
        self.characters.get(start as usize..end as usize).unwrap_or_default().iter().collect()
    }

    /// The text of the token at a mark.
    pub fn token_text(&self, mark: Mark) -> String {
        self.tokens.get(mark).map(|token| self.text_of(*token)).unwrap_or_default()
    }

    /// The place of the token at a mark.
    pub fn origin_of(&self, mark: Mark) -> Origin {
        let (start, end) = self.tokens.get(mark).map_or((0, 1), |token| (token.start, token.end));
        Origin::Sql { source: self.source.clone(), start, stop: end.saturating_sub(1).max(start) }
    }

    fn bounds(&self, start: Mark) -> (u32, u32) {
        let first = self.tokens.get(start).map_or(0, |token| token.start);
        let last = self.at.checked_sub(1).and_then(|index| self.tokens.get(index)).map_or(first, |token| token.end);
        (first, last.max(first))
    }

    /// The text from a mark to the last token taken, with the values of its parameter markers.
    pub fn text_from(&self, start: Mark) -> String {
        let (first, end) = self.bounds(start);
        let (mut text, mut at) = (String::new(), first);
        for (marker, (after, value)) in self.bound.range(first..end) {
            text.push_str(&self.slice(at, *marker));
            text.push_str(value);
            at = *after;
        }
        text.push_str(&self.slice(at, end));
        text
    }

    /// Notes what the marker says that was taken since a mark.
    pub fn bind(&mut self, start: Mark, value: String) {
        let (first, end) = self.bounds(start);
        self.bound.insert(first, (end, value));
    }

    /// The position among the tokens where the statement ends: within a script, at a semicolon.
    fn end_of_statement(&self) -> Mark {
        let last = self.tokens.len().saturating_sub(1);
        if !self.in_script {
            return last;
        }
        let is_end = |token: &Token| token.kind == TokenKind::Mark(";");
        self.tokens.iter().skip(self.at).position(is_end).map_or(last, |count| self.at + count)
    }

    /// The text from the next token to the statement's end, comments included.
    pub fn rest(&self) -> String {
        let end = self.tokens.get(self.end_of_statement()).map_or(0, |token| token.start);
        self.slice(self.peek().start, end)
    }

    /// Goes to the statement's end.
    pub fn skip_to_end(&mut self) {
        self.at = self.end_of_statement();
    }

    /// The place from a mark to the last token taken.
    pub fn origin(&self, start: Mark) -> Origin {
        let (start, end) = self.bounds(start);
        Origin::Sql { source: self.source.clone(), start, stop: end.saturating_sub(1).max(start) }
    }

    pub fn context(&self, start: u32, stop: u32) -> QueryContext {
        let mut context = QueryContext::sql(self.source.text.clone(), start as usize, stop as usize);
        context.object_type.clone_from(&self.source.object_type);
        context.object_name.clone_from(&self.source.object_name);
        context
    }

    // ---- errors ----

    /// An error about what was read since a mark.
    pub fn error(&self, start: Mark, condition: &'static str) -> SparkError {
        let (first, end) = self.bounds(start);
        SparkError::new(condition)
            .with_class(ExceptionClass::Parse)
            .with_context(self.context(first, end.saturating_sub(1).max(first)))
    }

    pub fn error_at(&self, token: Token, condition: &'static str) -> SparkError {
        SparkError::new(condition)
            .with_class(ExceptionClass::Parse)
            .with_context(self.context(token.start, token.end.saturating_sub(1).max(token.start)))
    }

    /// The error that the next token is not what it should be.
    pub fn unexpected(&self) -> SparkError {
        self.syntax_error(self.peek(), "")
    }

    /// The error that a word is not there.
    pub fn missing(&self, word: &str) -> SparkError {
        self.syntax_error(self.peek(), &format!(": missing '{word}'"))
    }

    /// The same at another token.
    pub fn unexpected_at(&self, mark: Mark) -> SparkError {
        let token = self.tokens.get(mark).copied().unwrap_or_else(|| self.peek());
        self.syntax_error(token, "")
    }

    fn syntax_error(&self, token: Token, hint: &str) -> SparkError {
        let shown = match token.kind {
            TokenKind::End => "end of input".to_string(),
            _ => format!("'{}'", self.text_of(token)),
        };
        SparkError::new("PARSE_SYNTAX_ERROR")
            .with_position(TextPosition::of(&self.source.text, token.start as usize))
            .with("error", shown)
            .with("hint", hint)
    }

    /// The error that Spark knows a statement or clause, and refuses it.
    pub fn invalid_statement(&self, start: Mark, operation: impl Into<String>) -> SparkError {
        self.error(start, "INVALID_STATEMENT_OR_CLAUSE").with("operation", operation)
    }

    /// The error that parts of a statement do not go together.
    pub fn not_allowed(&self, start: Mark, message: impl Into<String>) -> SparkError {
        self.error(start, "_LEGACY_ERROR_TEMP_0035").with("message", message)
    }

    // ---- literals that clauses need ----

    pub fn integer_token(&self) -> Option<Token> {
        Some(self.peek()).filter(|token| token.kind == TokenKind::Number(NumberKind::Integer))
    }

    /// A whole number, perhaps with a sign.
    pub fn signed_integer(&mut self) -> Result<i64> {
        let negative = self.take_mark("-");
        let token = self.integer_token().ok_or_else(|| self.unexpected())?;
        let sign = if negative { "-" } else { "" };
        let value = format!("{sign}{}", self.text_of(token)).parse().map_err(|_| {
            self.error_at(token, "INVALID_NUMERIC_LITERAL_RANGE")
                .with("rawStrippedQualifier", self.text_of(token))
                .with("minValue", i64::MIN.to_string())
                .with("maxValue", i64::MAX.to_string())
                .with("typeName", "bigint")
        })?;
        self.advance();
        Ok(value)
    }
}
