//! CREATE, DROP, SHOW and DESCRIBE of functions.

use super::rows::{nothing, rows, text, text_column};
use super::{Runner, function_text, now};
use crate::Session;
use firesteel_analyzer::environment::{Parameter, UserFunction};
use firesteel_analyzer::{Analyzer, LocalRows, attribute};
use firesteel_catalog::{CatalogFunction, SESSION_CATALOG, matches_pattern};
use firesteel_error::{Result, SparkError};
use firesteel_functions::class::class_of;
use firesteel_functions::{Documentation, registry};
use firesteel_plan::{
    ColumnDefinition, CreateFunction, Expr, ExprKind, FunctionBody, Name, PythonFunction, SubqueryKind, TableName,
};
use firesteel_types::DataType;

/// A function of the catalog as the analyzer uses it.
pub(crate) fn user_function(function: &CatalogFunction) -> Result<UserFunction> {
    if let FunctionBody::Python { function, .. } = &function.body {
        return Ok(UserFunction::Python(function.as_ref().clone()));
    }
    let FunctionBody::Sql { parameters, returns, returns_table, expression, query, language, .. } = &function.body
    else {
        let full = match &function.database {
            Some(database) => vec![SESSION_CATALOG.to_string(), database.clone(), function.name.clone()],
            None => vec![function.name.clone()],
        };
        return Err(cannot_load(function.class_name().unwrap_or_default(), &full));
    };
    if language.as_deref().is_some_and(|l| !l.eq_ignore_ascii_case("SQL")) {
        return Err(SparkError::unsupported("functions in other languages than SQL"));
    }
    let parameters = parameters
        .iter()
        .map(|p| Parameter {
            name: p.field.name.clone(),
            data_type: p.field.data_type.clone(),
            default: p.default.as_ref().map(|(_, default)| default.clone()),
        })
        .collect();
    let name = match &function.database {
        Some(database) => format!("{}.{database}.{}", firesteel_catalog::SESSION_CATALOG, function.name),
        None => function.name.clone(),
    };
    let settings = function.settings.clone();
    match (returns_table, query, expression) {
        (Some(columns), Some(query), _) => Ok(UserFunction::SqlTable {
            name,
            parameters,
            columns: columns.iter().map(|c| c.field.clone()).collect(),
            body: query.clone(),
            settings,
        }),
        (None, Some(query), _) => {
            let kind = ExprKind::Subquery { kind: SubqueryKind::Scalar, query: Box::new(query.clone()) };
            Ok(UserFunction::SqlScalar { name, parameters, returns: returns.clone(), body: Expr::new(kind), settings })
        }
        (Some(_), None, Some(_)) => Err(SparkError::new("USER_DEFINED_FUNCTIONS.SQL_TABLE_UDF_BODY_MUST_BE_A_QUERY")
            .with("name", function.name.clone())),
        (None, None, Some(body)) => {
            Ok(UserFunction::SqlScalar { name, parameters, returns: returns.clone(), body: body.clone(), settings })
        }
        (_, None, None) => Err(SparkError::internal("a function without a body")),
    }
}

/// There is no JVM here that could load a class.
fn cannot_load(class: &str, function: &[String]) -> SparkError {
    SparkError::new("CANNOT_LOAD_FUNCTION_CLASS")
        .with("className", class)
        .with("functionName", attribute::quote_parts(function))
}

/// Keeps a Python function under its name for the session.
pub(crate) fn register(session: &Session, name: String, function: PythonFunction, is_table: bool) {
    let key = name.to_lowercase();
    let function = CatalogFunction {
        database: None,
        name,
        body: FunctionBody::Python { function: Box::new(function), is_table },
        created: now(),
        owner: session.facts().user,
        settings: session.config().read().captured(),
    };
    session.catalog_state().functions.write().insert(key, std::sync::Arc::new(function));
}

impl Runner {
    pub(super) fn create_function(&self, create: &CreateFunction) -> Result<LocalRows> {
        let parts = self.parts(&create.name)?;
        // As in Spark, the class of a function that is kept is looked for when the function is called.
        if let (FunctionBody::Class { class, .. }, true) = (&create.body, create.is_temporary) {
            return Err(cannot_load(class, &parts));
        }
        self.check_function(&parts, &create.body)?;
        let name = parts.last().map(|n| n.to_lowercase()).unwrap_or_default();
        let mut function = CatalogFunction {
            database: None,
            name: name.clone(),
            body: create.body.clone(),
            created: now(),
            owner: self.session.facts().user,
            settings: self.session.config().read().captured(),
        };
        if !create.is_temporary {
            function.database = Some(self.qualify(&parts)?.database);
        }
        self.check_body(&parts, create, &mut function)?;
        if create.is_temporary {
            let mut functions = self.session.catalog_state().functions.write();
            if !create.replace && functions.contains_key(&name) {
                return Err(SparkError::new("ROUTINE_ALREADY_EXISTS")
                    .with("newRoutineType", "routine")
                    .with("routineName", attribute::quote(&name))
                    .with("existingRoutineType", "routine"));
            }
            functions.insert(name, std::sync::Arc::new(function));
            return Ok(nothing());
        }
        let qualified = self.qualify(&parts)?;
        self.catalog().create_function(&qualified, function, create.if_not_exists, create.replace)?;
        Ok(nothing())
    }

    /// Names of parameters and result columns are unique.
    fn check_function(&self, name: &[String], body: &FunctionBody) -> Result<()> {
        let FunctionBody::Sql { parameters, returns_table, .. } = body else { return Ok(()) };
        let duplicate = |columns: &[ColumnDefinition]| {
            columns.iter().enumerate().find_map(|(i, c)| {
                columns[..i]
                    .iter()
                    .any(|d| d.field.name.eq_ignore_ascii_case(&c.field.name))
                    .then(|| attribute::quote(&c.field.name.to_lowercase()))
            })
        };
        if let Some(names) = duplicate(parameters) {
            return Err(SparkError::new("DUPLICATE_ROUTINE_PARAMETER_NAMES")
                .with("routineName", name.join("."))
                .with("names", names));
        }
        let required_after_optional =
            parameters.windows(2).find(|pair| pair[0].default.is_some() && pair[1].default.is_none());
        if let Some([optional, required]) = required_after_optional {
            return Err(SparkError::new("USER_DEFINED_FUNCTIONS.NOT_A_VALID_DEFAULT_PARAMETER_POSITION")
                .with("functionName", name.last().cloned().unwrap_or_default())
                .with("parameterName", optional.field.name.clone())
                .with("nextParameterName", required.field.name.clone()));
        }
        if let Some(columns) = returns_table.as_deref().and_then(duplicate) {
            return Err(SparkError::new("DUPLICATE_ROUTINE_RETURNS_COLUMNS")
                .with("routineName", name.join("."))
                .with("columns", columns));
        }
        Ok(())
    }

    /// Analyses the body, and notes what it says of itself.
    fn check_body(&self, parts: &[String], create: &CreateFunction, function: &mut CatalogFunction) -> Result<()> {
        if matches!(function.body, FunctionBody::Class { .. }) {
            return Ok(());
        }
        let analysed = user_function(function)?;
        let FunctionBody::Sql { text, parameters, returns, returns_table, deterministic, contains_sql, .. } =
            &mut function.body
        else {
            return Ok(());
        };
        let columns = parameters.iter().chain(returns_table.iter().flatten()).map(|c| &c.field.data_type);
        let is_char = |t: &DataType| matches!(t, DataType::Char(_) | DataType::Varchar(_));
        if !self.conf().char_varchar_as_string && columns.chain(returns.iter()).any(is_char) {
            return Err(SparkError::new("UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING"));
        }
        let environment = self.environment();
        let checked = Analyzer::new(&environment).check_function(&function.name, &analysed, text);
        let checked = checked.map_err(|error| routine_not_found(error, &self.database()))?;
        let references = environment.references();
        if let (false, Some((kind, name))) = (create.is_temporary, references.temporary.first()) {
            return Err(SparkError::new("INVALID_TEMP_OBJ_REFERENCE")
                .with("obj", "FUNCTION")
                .with("objName", self.qualify(parts)?.quoted())
                .with("tempObj", *kind)
                .with("tempObjName", name.clone()));
        }
        if references.reads_tables && *contains_sql == Some(true) {
            return Err(SparkError::new("INVALID_SQL_FUNCTION_DATA_ACCESS"));
        }
        deterministic.get_or_insert(checked.is_deterministic);
        contains_sql.get_or_insert(!references.reads_tables);
        let result = checked.columns;
        match returns_table {
            Some(columns) if columns.is_empty() => {
                columns.extend(result.into_iter().map(ColumnDefinition::new));
            }
            Some(_) => {}
            None if returns.is_none() => *returns = result.first().map(|field| field.data_type.clone()),
            None => {}
        }
        Ok(())
    }

    pub(super) fn drop_function(&self, name: &TableName, if_exists: bool, is_temporary: bool) -> Result<LocalRows> {
        let parts = self.parts(name)?;
        let key = parts.last().map(|n| n.to_lowercase()).unwrap_or_default();
        let is_there = is_temporary && self.session.catalog_state().functions.read().contains_key(&key);
        if let [one] = parts.as_slice()
            && registry::lookup(&one.to_lowercase()).is_some()
            && !is_there
        {
            return Err(SparkError::new("FORBIDDEN_OPERATION")
                .with("statement", "DROP")
                .with("objectType", "FUNCTION")
                .with("objectName", attribute::quote(one)));
        }
        let dropped = if is_temporary {
            self.session.catalog_state().functions.write().remove(&key).is_some()
        } else {
            self.catalog().drop_function(&self.qualify(&parts)?)?
        };
        if !dropped && !if_exists {
            let quoted =
                if is_temporary { attribute::quote_parts(&parts) } else { self.qualify(&parts)?.quoted_in_catalog() };
            return Err(SparkError::new("ROUTINE_NOT_FOUND").with("routineName", quoted));
        }
        Ok(nothing())
    }

    pub(super) fn refresh_function(&self, name: &Name) -> Result<LocalRows> {
        let found = self.session.find_function(name, &self.database());
        match found {
            Some(function) if function.database.is_some() => Ok(nothing()),
            None if built_in(name).is_none() => {
                let quoted = self.qualify(name)?.quoted_in_catalog();
                Err(SparkError::new("ROUTINE_NOT_FOUND").with("routineName", quoted))
            }
            _ => Err(SparkError::new("_LEGACY_ERROR_TEMP_1256").with("functionName", name.join("."))),
        }
    }

    pub(super) fn show_functions(
        &self,
        scope: &str,
        namespace: Option<&TableName>,
        pattern: Option<&str>,
    ) -> Result<LocalRows> {
        let database = self.namespace(namespace)?;
        let mut names: Vec<String> = Vec::new();
        if !scope.eq_ignore_ascii_case("USER") {
            names.extend(registry::all().into_iter().map(|(name, _)| name.to_string()));
        }
        if !scope.eq_ignore_ascii_case("SYSTEM") {
            names.extend(self.session.catalog_state().functions.read().keys().cloned());
            let stored = self.catalog().functions(&database)?;
            names.extend(stored.iter().map(|f| format!("{SESSION_CATALOG}.{database}.{}", f.name)));
        }
        names.retain(|name| {
            let own = name.strip_prefix(&format!("{SESSION_CATALOG}.{database}.")).unwrap_or(name);
            pattern.is_none_or(|p| matches_pattern(own, p))
        });
        names.sort();
        names.dedup();
        rows(&[text_column("function")], names.into_iter().map(|n| vec![text(n)]).collect())
    }

    pub(super) fn describe_function(&self, name: &TableName, is_extended: bool) -> Result<LocalRows> {
        let parts = self.parts(name)?;
        let column = [text_column("function_desc")];
        let line = |text_line: String| vec![text(text_line)];
        if let Some(builtin) = built_in(&parts) {
            let (name, function) = builtin;
            let mut lines = vec![line(format!("Function: {name}"))];
            lines.extend(class_of(name).map(|class| line(format!("Class: {class}"))));
            lines.push(line(format!("Usage: {}", function.usage(name))));
            if is_extended {
                lines.push(line(extended_usage(name, &function.documentation)));
            }
            return rows(&column, lines);
        }
        let function = self.session.find_function(&parts, &self.database()).ok_or_else(|| {
            let facts = self.session.facts();
            SparkError::new("UNRESOLVED_ROUTINE").with("routineName", attribute::quote_parts(&parts)).with(
                "searchPath",
                format!(
                    "[`system`.`builtin`, `system`.`session`, {}.{}]",
                    attribute::quote(&facts.current_catalog),
                    attribute::quote(&facts.current_database)
                ),
            )
        })?;
        let full = match &function.database {
            Some(database) => format!("{SESSION_CATALOG}.{database}.{}", function.name),
            None => function.name.clone(),
        };
        if let FunctionBody::Sql { .. } = &function.body {
            let lines = function_text::lines(&function, &full, is_extended);
            return rows(&column, lines.into_iter().map(line).collect());
        }
        let class = function.class_name().unwrap_or_default();
        let mut lines =
            vec![line(format!("Function: {full}")), line(format!("Class: {class}")), line("Usage: N/A.".into())];
        if is_extended {
            lines.push(line(format!("Extended Usage:\n    No example/argument for {}.\n", function.name)));
        }
        rows(&column, lines)
    }
}

/// In a function that is made, another that is not there is looked for in the current database.
fn routine_not_found(error: SparkError, database: &str) -> SparkError {
    if !error.is("UNRESOLVED_ROUTINE") {
        return error;
    }
    let name = error.parameters().iter().find(|(n, _)| n == "routineName").map(|(_, v)| v.clone()).unwrap_or_default();
    let full = if name.contains("`.`") { name } else { format!("{}.{name}", attribute::quote(database)) };
    SparkError::new("ROUTINE_NOT_FOUND").with("routineName", full)
}

/// A built-in function by a name that may be qualified by `builtin`.
pub(crate) fn built_in(parts: &[String]) -> Option<(&'static str, &'static firesteel_functions::Function)> {
    let name = match parts {
        [one] => one,
        [builtin, one] if builtin.eq_ignore_ascii_case("builtin") => one,
        [system, builtin, one] if system.eq_ignore_ascii_case("system") && builtin.eq_ignore_ascii_case("builtin") => {
            one
        }
        _ => return None,
    };
    let key = name.to_lowercase();
    registry::all().into_iter().find(|(n, _)| *n == key)
}

/// The arguments, examples and notes of a function, a section each.
fn extended_usage(name: &str, documentation: &Documentation) -> String {
    let mut sections = Vec::new();
    if documentation.arguments.is_empty() && documentation.examples.is_empty() {
        sections.push(format!("    No example/argument for {name}.\n"));
    }
    if !documentation.arguments.is_empty() {
        let arguments = documentation.arguments.iter().map(|(name, about)| format!("      * {name} - {about}\n"));
        sections.push(format!("    Arguments:\n{}", arguments.collect::<String>()));
    }
    if !documentation.examples.is_empty() {
        let mut section = String::from("    Examples:\n");
        for (query, answer) in documentation.examples {
            section.push_str(&format!("      > {};\n", query.trim_end_matches(';')));
            answer.split('\n').for_each(|row| section.push_str(&format!("       {row}\n")));
        }
        sections.push(section);
    }
    if !documentation.note.is_empty() {
        sections.push(format!("    Note:\n      {}\n", documentation.note));
    }
    // What has no class is a word of the language, not of a version.
    if class_of(name).is_some() {
        sections.push(format!("    Since: {}\n", documentation.since));
    }
    format!("Extended Usage:\n{}", sections.join("  \n"))
}
