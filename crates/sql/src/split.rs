//! A text of several statements.

use crate::keyword::Keyword as K;
use crate::lexer::tokenize;
use crate::token::{Token, TokenKind};

/// Splits at the semicolons that are not within a script.
pub(crate) fn split_statements(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let tokens = tokenize(&characters).tokens;
    let mut statements = Vec::new();
    let mut first: Option<u32> = None;
    let mut end = 0;
    let mut depth = 0usize;
    let mut before: Option<Token> = None;
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1).copied();
        if first.is_none() && starts_script(*token, next, tokens.get(index + 2).copied()) {
            depth = 1;
        } else if depth > 0 {
            depth = script_depth(depth, before, *token, next);
        }
        before = Some(*token);
        let is_end = token.kind == TokenKind::End;
        if is_end || (depth == 0 && token.kind == TokenKind::Mark(";")) {
            if let Some(start) = first.take() {
                let statement = characters.get(start as usize..end as usize).unwrap_or_default();
                statements.push(statement.iter().collect());
            }
            continue;
        }
        first.get_or_insert(token.start);
        end = token.end;
    }
    statements
}

fn is(token: Option<Token>, keyword: K) -> bool {
    token.is_some_and(|token| token.kind == TokenKind::Word(Some(keyword)))
}

/// Whether a statement that begins with these tokens is a script, perhaps with a label.
fn starts_script(token: Token, next: Option<Token>, third: Option<Token>) -> bool {
    let is_begin = |token: Option<Token>, after: Option<Token>| {
        is(token, K::BEGIN) && !after.is_some_and(|after| matches!(after.kind, TokenKind::Mark("=" | "." | ",")))
    };
    let has_label = next.is_some_and(|next| next.kind == TokenKind::Mark(":"));
    is_begin(Some(token), next) || (has_label && is(third, K::BEGIN))
}

/// How many blocks are open after a token of a script.
fn script_depth(depth: usize, before: Option<Token>, token: Token, next: Option<Token>) -> usize {
    let TokenKind::Word(Some(word)) = token.kind else { return depth };
    // Words of a block's end, such as the IF of `END IF`, open nothing.
    if is(before, K::END) {
        return depth;
    }
    let opens_statement = before.is_none_or(|before| {
        matches!(before.kind, TokenKind::Mark(";" | ":"))
            || [K::BEGIN, K::THEN, K::ELSE, K::DO, K::LOOP, K::REPEAT, K::ATOMIC]
                .iter()
                .any(|word| is(Some(before), *word))
    });
    match word {
        K::END => depth - 1,
        K::CASE => depth + 1,
        K::BEGIN => depth + 1,
        K::IF if opens_statement && !is(next, K::EXISTS) => depth + 1,
        K::WHILE | K::REPEAT | K::LOOP | K::FOR if opens_statement => depth + 1,
        _ => depth,
    }
}
