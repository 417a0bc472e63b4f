//! `freqItems`: values that are in at least a share of the rows, with false positives.

use super::statistic::local;
use crate::analyzer::Analyzer;
use crate::resolved::Resolved;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_functions::scalar::hash::murmur3_of;
use firesteel_plan::{Expr, Relation, RelationKind};
use firesteel_types::{DataType, Literal, StructField, StructType, number_text};

/// One row with an array of values for each column.
pub(super) fn frequent_items(
    a: &mut Analyzer<'_>,
    input: &Relation,
    columns: &[String],
    support: f64,
) -> Result<Resolved> {
    if !(1e-4..=1.0).contains(&support) {
        return Err(SparkError::plain(
            ExceptionClass::IllegalArgument,
            format!("requirement failed: Support must be in [1e-4, 1], but got {}.", number_text::double_text(support)),
        ));
    }
    let resolved = a.relation(input)?;
    let scope = a.scope(&[&resolved]);
    let mut outputs = Vec::with_capacity(columns.len());
    for name in columns {
        let parts = firesteel_sql::parse_attribute_name(name)?;
        a.expression(&Expr::attribute(parts.clone()), &scope)?;
        outputs.push(Expr::attribute(parts));
    }
    let values = Relation::new(RelationKind::Project { input: input.clone(), expressions: outputs });
    let values = a.relation(&values)?;
    if columns.is_empty() {
        return Ok(values);
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let size = (1.0 / support) as usize;
    let mut counters = vec![Counter { size, counts: Vec::new() }; columns.len()];
    for batch in a.env.run(&values)? {
        for row in 0..batch.num_rows() {
            for ((counter, column), attribute) in counters.iter_mut().zip(batch.columns()).zip(&values.output) {
                counter.add(Literal::from_array(column, row, &attribute.data_type)?);
            }
        }
    }
    let mut fields = Vec::with_capacity(columns.len());
    let mut row = Vec::with_capacity(columns.len());
    for ((name, counter), attribute) in columns.iter().zip(counters).zip(&values.output) {
        let data_type = DataType::array(attribute.data_type.clone(), true);
        fields.push(StructField::new(format!("{name}_freqItems"), data_type, false));
        row.push(vec![Literal::Array(counter.items(), attribute.data_type.clone())]);
    }
    local(StructType::new(fields), row)
}

/// The algorithm of Karp, Schenker and Papadimitriou: at most `size` values are counted at a time.
#[derive(Clone)]
struct Counter {
    size: usize,
    counts: Vec<(Literal, i64)>,
}

impl Counter {
    fn add(&mut self, value: Literal) {
        if let Some((_, count)) = self.counts.iter_mut().find(|(v, _)| *v == value) {
            *count += 1;
            return;
        }
        if self.counts.len() < self.size {
            self.counts.push((value, 1));
            return;
        }
        let least = self.counts.iter().map(|(_, count)| *count).min().unwrap_or(0);
        if least <= 1 {
            self.counts.push((value, 1));
            self.counts.retain(|(_, count)| *count > least);
            self.counts.iter_mut().for_each(|(_, count)| *count -= least);
        } else {
            self.counts.iter_mut().for_each(|(_, count)| *count -= 1);
        }
    }

    /// The values in the order of Scala's hash table.
    fn items(self) -> Vec<Literal> {
        let mut capacity = 16usize;
        while self.counts.len() + 1 > capacity * 3 / 4 {
            capacity *= 2;
        }
        let mut items: Vec<(usize, u32, Literal)> = self
            .counts
            .into_iter()
            .map(|(value, _)| {
                let hash = scala_hash(&value);
                let hash = hash ^ (hash >> 16);
                (hash as usize & (capacity - 1), hash, value)
            })
            .collect();
        items.sort_by_key(|(bucket, hash, _)| (*bucket, (*hash).cast_signed()));
        items.into_iter().map(|(_, _, value)| value).collect()
    }
}

/// The hash code that Scala gives a value.
fn scala_hash(value: &Literal) -> u32 {
    let long = |n: i64| match i32::try_from(n) {
        Ok(n) => n.cast_unsigned(),
        Err(_) => (n ^ (n >> 32)) as u32,
    };
    #[allow(clippy::cast_possible_truncation)]
    let double = |d: f64| {
        if f64::from(d as i32) == d {
            (d as i32).cast_unsigned()
        } else if (d as i64) as f64 == d {
            long(d as i64)
        } else if f64::from(d as f32) == d {
            (d as f32).to_bits()
        } else {
            let bits = d.to_bits();
            (bits ^ (bits >> 32)) as u32
        }
    };
    match value {
        Literal::Boolean(b) => {
            if *b {
                1231
            } else {
                1237
            }
        }
        Literal::Byte(n) => long(i64::from(*n)),
        Literal::Short(n) => long(i64::from(*n)),
        Literal::Integer(n) | Literal::Date(n) => long(i64::from(*n)),
        Literal::Long(n) => long(*n),
        Literal::Float(f) => double(f64::from(*f)),
        Literal::Double(d) => double(*d),
        Literal::String(text) => murmur3_of(text.as_bytes()).cast_unsigned(),
        _ => 0,
    }
}
