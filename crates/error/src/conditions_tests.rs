use super::*;

fn parameters(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

#[test]
fn tables_are_sorted_and_unique() {
    for table in [table::TABLE, unnamed::TABLE] {
        for pair in table.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} before {}", pair[0].name, pair[1].name);
        }
    }
}

#[test]
fn every_named_condition_has_a_sql_state() {
    for condition in table::TABLE {
        assert_eq!(condition.sql_state.len(), 5, "{}", condition.name);
        assert!(condition.is_named());
    }
}

#[test]
fn placeholders_are_declared_parameters() {
    for condition in table::TABLE {
        for piece in condition.text.split('<').skip(1) {
            let name = piece.split('>').next().unwrap();
            assert!(condition.parameters.contains(&name), "<{name}> in {}", condition.name);
        }
    }
}

#[test]
fn texts_are_sentences() {
    for condition in table::TABLE.iter().filter(|condition| !condition.text.is_empty()) {
        let end = condition.text.chars().last().unwrap();
        assert!(matches!(end, '.' | '!' | '?' | '>'), "{}", condition.name);
    }
}

#[test]
fn text_without_declaration_is_composed() {
    assert_eq!(
        render("UNRESOLVED_THING.WITH_HOPE", &parameters(&[("objectName", "`a`")])),
        "Unresolved thing: with hope (objectName: `a`)."
    );
    assert_eq!(render("UNRESOLVED_THING", &[]), "Unresolved thing.");
}

#[test]
fn values_are_not_filled_twice() {
    let values = parameters(&[("a", "<b>"), ("b", "2")]);
    assert_eq!(fill("<a> < <b> <c>", &values), "<b> < 2 <c>");
}
