//! The built-in functions, by Spark's names. Written by tools/functions.py.

use super::{IntoColumn, IntoColumns, IntoValue};
use crate::Column;

functions! {
    /// The magnitude of a number or an interval.
    fn abs = "abs"(col: IntoColumn);
    /// The angle whose cosine is `expr`, in radians; NaN outside -1 to 1.
    fn acos = "acos"(col: IntoColumn);
    /// The number whose hyperbolic cosine is `expr`.
    fn acosh = "acosh"(col: IntoColumn);
    /// The date that many months later; where the month is too short, its last day.
    fn add_months = "add_months"(start: IntoColumn, months: IntoColumn);
    /// What `aes_encrypt` made `expr` of.
    fn aes_decrypt = "aes_decrypt"(input: IntoColumn, key: IntoColumn);
    /// As [`aes_decrypt`], with any of these arguments, in this order: `mode`, `padding`, `aad`.
    fn aes_decrypt_with = "aes_decrypt"(input: IntoColumn, key: IntoColumn, ..arguments);
    /// `expr` encrypted by AES, after the initialisation vector.
    fn aes_encrypt = "aes_encrypt"(input: IntoColumn, key: IntoColumn);
    /// As [`aes_encrypt`], with any of these arguments, in this order: `mode`, `padding`, `iv`, `aad`.
    fn aes_encrypt_with = "aes_encrypt"(input: IntoColumn, key: IntoColumn, ..arguments);
    /// Returns some value of a group, nulls left out if asked to.
    fn any_value = "any_value"(col: IntoColumn);
    /// As [`any_value`], with `ignore_nulls`.
    fn any_value_with = "any_value"(col: IntoColumn, ignore_nulls: IntoValue);
    /// Returns about how many different values a group has, by HyperLogLog++.
    fn approx_count_distinct = "approx_count_distinct"(col: IntoColumn);
    /// As [`approx_count_distinct`], with `rsd`.
    fn approx_count_distinct_with = "approx_count_distinct"(col: IntoColumn, rsd: IntoValue);
    /// Returns a value of the group whose rank is near the percentage, by default within a ten-thousandth of the rows.
    fn approx_percentile = "approx_percentile"(col: IntoColumn, percentage: IntoValue);
    /// As [`approx_percentile`], with `accuracy`.
    fn approx_percentile_with = "approx_percentile"(col: IntoColumn, percentage: IntoValue, accuracy: IntoValue);
    /// An array of the values, which are brought to one type.
    fn array = "array"(..columns);
    /// Returns an array of the values of a group, without nulls.
    fn array_agg = "array_agg"(col: IntoColumn);
    /// The array with a value after its last element.
    fn array_append = "array_append"(col: IntoColumn, value: IntoValue);
    /// The array without its NULLs.
    fn array_compact = "array_compact"(col: IntoColumn);
    /// Whether an element equals a value; NULL if none does and one is NULL.
    fn array_contains = "array_contains"(col: IntoColumn, value: IntoValue);
    /// The array with each element once.
    fn array_distinct = "array_distinct"(col: IntoColumn);
    /// The elements of the first array that the second has not, each once.
    fn array_except = "array_except"(col1: IntoColumn, col2: IntoColumn);
    /// The array with a value at a position, counted from 1 or, if negative, from the end; the space between is filled with NULLs.
    fn array_insert = "array_insert"(arr: IntoColumn, pos: IntoColumn, value: IntoValue);
    /// The elements that both arrays have, each once.
    fn array_intersect = "array_intersect"(col1: IntoColumn, col2: IntoColumn);
    /// The texts of an array with a delimiter between them; NULLs are left out, or replaced.
    fn array_join = "array_join"(col: IntoColumn, delimiter: IntoValue);
    /// As [`array_join`], with `null_replacement`.
    fn array_join_with = "array_join"(col: IntoColumn, delimiter: IntoValue, null_replacement: IntoValue);
    /// The greatest element; NULLs do not count.
    fn array_max = "array_max"(col: IntoColumn);
    /// The least element; NULLs do not count.
    fn array_min = "array_min"(col: IntoColumn);
    /// The position of the first element that equals a value, counted from 1; 0 if none does.
    fn array_position = "array_position"(col: IntoColumn, value: IntoValue);
    /// The array with a value before its first element.
    fn array_prepend = "array_prepend"(col: IntoColumn, value: IntoValue);
    /// The array without the elements that equal a value.
    fn array_remove = "array_remove"(col: IntoColumn, element: IntoValue);
    /// An array of a value so many times.
    fn array_repeat = "array_repeat"(col: IntoColumn, count: IntoColumn);
    /// The number of elements of an array.
    fn array_size = "array_size"(col: IntoColumn);
    /// The elements of both arrays, each once.
    fn array_union = "array_union"(col1: IntoColumn, col2: IntoColumn);
    /// Whether two arrays share an element that is not NULL; NULL if they share none, both have elements and one has a NULL.
    fn arrays_overlap = "arrays_overlap"(a1: IntoColumn, a2: IntoColumn);
    /// An array of structs: the first has the first elements of all arrays, and so on; missing elements are NULL.
    fn arrays_zip = "arrays_zip"(..columns);
    /// The code of the first character; 0 for the empty text.
    fn ascii = "ascii"(col: IntoColumn);
    /// The angle whose sine is `expr`, in radians; NaN outside -1 to 1.
    fn asin = "asin"(col: IntoColumn);
    /// The number whose hyperbolic sine is `expr`.
    fn asinh = "asinh"(col: IntoColumn);
    /// Fails unless `expr` is true.
    fn assert_true = "assert_true"(col: IntoColumn);
    /// As [`assert_true`], with `err_msg`.
    fn assert_true_with = "assert_true"(col: IntoColumn, err_msg: IntoValue);
    /// The angle whose tangent is `expr`, in radians.
    fn atan = "atan"(col: IntoColumn);
    /// The angle between the positive x-axis and the point (`exprX`, `exprY`), in radians.
    fn atan2 = "atan2"(col1: IntoColumn, col2: IntoColumn);
    /// The number whose hyperbolic tangent is `expr`.
    fn atanh = "atanh"(col: IntoColumn);
    /// Returns the mean of the values of a group.
    fn avg = "avg"(col: IntoColumn);
    /// The bytes as Base64 text, in lines of 76 characters.
    fn base64 = "base64"(col: IntoColumn);
    /// The bits of a whole number as text.
    fn bin = "bin"(col: IntoColumn);
    /// Returns the bitwise AND of the values of a group.
    fn bit_and = "bit_and"(col: IntoColumn);
    /// The number of bits that are set in the number as one of 64 bits.
    fn bit_count = "bit_count"(col: IntoColumn);
    /// The bit at a position, counted from 0 at the right.
    fn bit_get = "bit_get"(col: IntoColumn, pos: IntoColumn);
    /// The number of bits of a string or a binary.
    fn bit_length = "bit_length"(col: IntoColumn);
    /// Returns the bitwise OR of the values of a group.
    fn bit_or = "bit_or"(col: IntoColumn);
    /// Returns the bitwise XOR of the values of a group.
    fn bit_xor = "bit_xor"(col: IntoColumn);
    /// Returns the bitwise AND of the bitmaps of a group.
    fn bitmap_and_agg = "bitmap_and_agg"(col: IntoColumn);
    /// The bit of a number in its bitmap.
    fn bitmap_bit_position = "bitmap_bit_position"(col: IntoColumn);
    /// The bitmap that a number is in.
    fn bitmap_bucket_number = "bitmap_bucket_number"(col: IntoColumn);
    /// Returns a bitmap with the bits of the positions of a group set.
    fn bitmap_construct_agg = "bitmap_construct_agg"(col: IntoColumn);
    /// The number of bits that are set in a bitmap.
    fn bitmap_count = "bitmap_count"(col: IntoColumn);
    /// Returns the bitwise OR of the bitmaps of a group.
    fn bitmap_or_agg = "bitmap_or_agg"(col: IntoColumn);
    /// The number with each bit the other way round.
    fn bitwise_not = "~"(col: IntoColumn);
    /// Returns true if all values of a group are true.
    fn bool_and = "bool_and"(col: IntoColumn);
    /// Returns true if some value of a group is true.
    fn bool_or = "bool_or"(col: IntoColumn);
    /// `expr` rounded to `d` digits after the point, halves to the even digit.
    fn bround = "bround"(col: IntoColumn);
    /// As [`bround`], with `scale`.
    fn bround_with = "bround"(col: IntoColumn, scale: IntoColumn);
    /// The text without blanks, or without characters of `trimStr`, at both ends.
    fn btrim = "btrim"(text: IntoColumn);
    /// As [`btrim`], with `trim`.
    fn btrim_with = "btrim"(text: IntoColumn, trim: IntoColumn);
    /// The number of elements of an array, or of entries of a map.
    fn cardinality = "cardinality"(col: IntoColumn);
    /// The cube root of `expr`.
    fn cbrt = "cbrt"(col: IntoColumn);
    /// The smallest whole number not below `expr`, or the smallest one with `scale` digits after the point.
    fn ceil = "ceil"(col: IntoColumn);
    /// As [`ceil`], with `scale`.
    fn ceil_with = "ceil"(col: IntoColumn, scale: IntoColumn);
    /// The smallest whole number not below `expr`, or the smallest one with `scale` digits after the point.
    fn ceiling = "ceiling"(col: IntoColumn);
    /// As [`ceiling`], with `scale`.
    fn ceiling_with = "ceiling"(col: IntoColumn, scale: IntoColumn);
    /// The character of a code modulo 256; nothing for codes below zero.
    fn char = "char"(col: IntoColumn);
    /// The number of characters of a string, or of bytes of a binary.
    fn char_length = "char_length"(text: IntoColumn);
    /// The number of characters of a string, or of bytes of a binary.
    fn character_length = "character_length"(text: IntoColumn);
    /// The character of a code modulo 256; nothing for codes below zero.
    fn chr = "chr"(n: IntoColumn);
    /// The first value that is not NULL.
    fn coalesce = "coalesce"(..columns);
    /// The text, compared by a collation from here on.
    fn collate = "collate"(col: IntoColumn, collation: IntoValue);
    /// The name of the collation of a text.
    fn collation = "collation"(col: IntoColumn);
    /// Returns an array of the values of a group, without nulls.
    fn collect_list = "collect_list"(col: IntoColumn);
    /// Returns an array of the different values of a group, without nulls.
    fn collect_set = "collect_set"(col: IntoColumn);
    /// The arguments put together: strings, binaries or arrays; null where one is null.
    fn concat = "concat"(..columns);
    /// The strings, and those in arrays of strings, with `sep` between them; nulls are left out.
    fn concat_ws = "concat_ws"(sep: IntoValue, ..columns);
    /// True where `left` holds `right`.
    fn contains = "contains"(left: IntoColumn, right: IntoColumn);
    /// A number written to one base, written to another; a negative base to write to gives a signed number.
    fn conv = "conv"(col: IntoColumn, from_base: IntoValue, to_base: IntoValue);
    /// Returns Pearson's coefficient of correlation of pairs of numbers.
    fn corr = "corr"(col1: IntoColumn, col2: IntoColumn);
    /// The cosine of an angle in radians.
    fn cos = "cos"(col: IntoColumn);
    /// The hyperbolic cosine of `expr`.
    fn cosh = "cosh"(col: IntoColumn);
    /// The cotangent of an angle in radians.
    fn cot = "cot"(col: IntoColumn);
    /// Returns the number of rows; count(\[DISTINCT\] expr\[, ...\]) - the number of rows, or of distinct ones, for which no expression is null.
    fn count = "count"(col: IntoColumn);
    /// Returns the number of rows for which the expression is true.
    fn count_if = "count_if"(col: IntoColumn);
    /// Returns a count-min sketch of the values of a group.
    fn count_min_sketch = "count_min_sketch"(col: IntoColumn, eps: IntoValue, confidence: IntoValue);
    /// As [`count_min_sketch`], with `seed`.
    fn count_min_sketch_with = "count_min_sketch"(col: IntoColumn, eps: IntoValue, confidence: IntoValue, seed: IntoValue);
    /// Returns the population covariance of pairs of numbers.
    fn covar_pop = "covar_pop"(col1: IntoColumn, col2: IntoColumn);
    /// Returns the sample covariance of pairs of numbers.
    fn covar_samp = "covar_samp"(col1: IntoColumn, col2: IntoColumn);
    /// The cyclic redundancy check of the bytes.
    fn crc32 = "crc32"(col: IntoColumn);
    /// A map of the keys to the values.
    fn create_map = "map"(..columns);
    /// The cosecant of an angle in radians.
    fn csc = "csc"(col: IntoColumn);
    /// The share of the partition's rows up to the row's peers.
    fn cume_dist = "cume_dist"();
    /// The date at the start of the query, in the session's time zone.
    fn curdate = "curdate"();
    /// The name of the current catalog.
    fn current_catalog = "current_catalog"();
    /// The name of the current schema.
    fn current_database = "current_database"();
    /// The date at the start of the query, in the session's time zone.
    fn current_date = "current_date"();
    /// The schemas in which functions are looked for, in their order.
    fn current_path = "current_path"();
    /// The name of the current schema.
    fn current_schema = "current_schema"();
    /// The time of day at the start of the query, in the session's time zone, with so many digits of a second.
    fn current_time = "current_time"();
    /// As [`current_time`], with `precision`.
    fn current_time_with = "current_time"(precision: IntoValue);
    /// The moment of the start of the query.
    fn current_timestamp = "current_timestamp"();
    /// The session's time zone.
    fn current_timezone = "current_timezone"();
    /// The name of the user who runs the query.
    fn current_user = "current_user"();
    /// The date that many days later.
    fn date_add = "date_add"(start: IntoColumn, days: IntoColumn);
    /// The number of days from the start to the end.
    fn date_diff = "date_diff"(end: IntoColumn, start: IntoColumn);
    /// A timestamp as text, by a pattern.
    fn date_format = "date_format"(date: IntoColumn, format: IntoValue);
    /// The date that many days after 1970-01-01.
    fn date_from_unix_date = "date_from_unix_date"(days: IntoColumn);
    /// A field of a date, a timestamp, a time or an interval, by its name.
    fn date_part = "date_part"(field: IntoColumn, source: IntoColumn);
    /// The date that many days before.
    fn date_sub = "date_sub"(start: IntoColumn, days: IntoColumn);
    /// The first moment of a timestamp's year, month, hour or other unit; NULL for unknown units.
    fn date_trunc = "date_trunc"(format: IntoValue, timestamp: IntoColumn);
    /// The date that many days later.
    fn dateadd = "dateadd"(start: IntoColumn, days: IntoColumn);
    /// The number of days from the start to the end.
    fn datediff = "datediff"(end: IntoColumn, start: IntoColumn);
    /// A field of a date, a timestamp, a time or an interval, by its name.
    fn datepart = "datepart"(field: IntoColumn, source: IntoColumn);
    /// The day of the month of a date.
    fn day = "day"(col: IntoColumn);
    /// The three-letter name of a date's day of the week.
    fn dayname = "dayname"(col: IntoColumn);
    /// The day of the month of a date.
    fn dayofmonth = "dayofmonth"(col: IntoColumn);
    /// The day of the week of a date: 1 is Sunday, 7 is Saturday.
    fn dayofweek = "dayofweek"(col: IntoColumn);
    /// The day of the year of a date, from 1.
    fn dayofyear = "dayofyear"(col: IntoColumn);
    /// Bytes of a character set as text; with more arguments, the result after the first `search` that equals `expr`.
    fn decode = "decode"(col: IntoColumn, charset: IntoValue);
    /// An angle in radians as degrees.
    fn degrees = "degrees"(col: IntoColumn);
    /// One plus the number of different values before the row's.
    fn dense_rank = "dense_rank"();
    /// Euler's number.
    fn e = "e"();
    /// The element at a position, counted from 1 or, if negative, from the end; the value of a map's key.
    fn element_at = "element_at"(col: IntoColumn, extraction: IntoValue);
    /// The `n`th input, counted from 1.
    fn elt = "elt"(..columns);
    /// The text as bytes of a character set.
    fn encode = "encode"(col: IntoColumn, charset: IntoValue);
    /// True where `left` ends with `right`.
    fn endswith = "endswith"(text: IntoColumn, suffix: IntoColumn);
    /// Like =, but NULL equals NULL and nothing else.
    fn equal_null = "equal_null"(col1: IntoColumn, col2: IntoColumn);
    /// Returns true if all values of a group are true.
    fn every = "every"(col: IntoColumn);
    /// Euler's number to the power of `expr`.
    fn exp = "exp"(col: IntoColumn);
    /// A row per element of an array, or per entry of a map.
    fn explode = "explode"(col: IntoColumn);
    /// As `explode`, but one row of NULL where there is no element.
    fn explode_outer = "explode_outer"(col: IntoColumn);
    /// Euler's number to the power of `expr`, less one.
    fn expm1 = "expm1"(col: IntoColumn);
    /// A field of a date, a timestamp, a time or an interval.
    fn extract = "extract"(field: IntoColumn, source: IntoColumn);
    /// The product of the whole numbers from 1 to `expr`; null outside 0 to 20.
    fn factorial = "factorial"(col: IntoColumn);
    /// The position of `str` in a list parted by commas, counted from 1; 0 where it is not in it.
    fn find_in_set = "find_in_set"(text: IntoColumn, str_array: IntoColumn);
    /// Returns the first value of a group, nulls left out if asked to.
    fn first = "first"(col: IntoColumn);
    /// As [`first`], with `ignorenulls`.
    fn first_with = "first"(col: IntoColumn, ignorenulls: IntoValue);
    /// Returns the first value of a group, nulls left out if asked to.
    fn first_value = "first_value"(col: IntoColumn);
    /// As [`first_value`], with `ignore_nulls`.
    fn first_value_with = "first_value"(col: IntoColumn, ignore_nulls: IntoValue);
    /// The elements of an array's arrays in one array; NULL if one of them is NULL.
    fn flatten = "flatten"(col: IntoColumn);
    /// The largest whole number not above `expr`, or the largest one with `scale` digits after the point.
    fn floor = "floor"(col: IntoColumn);
    /// As [`floor`], with `scale`.
    fn floor_with = "floor"(col: IntoColumn, scale: IntoColumn);
    /// A number with commas between thousands and `expr2` digits after the point, or by the pattern `expr2`.
    fn format_number = "format_number"(col: IntoColumn, d: IntoValue);
    /// A text from a format string such as C's `printf` takes.
    fn format_string = "format_string"(format: IntoValue, ..columns);
    /// The moment so many seconds after 1970-01-01 00:00:00 UTC as text, by a pattern.
    fn from_unixtime = "from_unixtime"(timestamp: IntoColumn);
    /// As [`from_unixtime`], with `format`.
    fn from_unixtime_with = "from_unixtime"(timestamp: IntoColumn, format: IntoValue);
    /// Reads a timestamp as one of UTC and shows it on the wall clock of a zone.
    fn from_utc_timestamp = "from_utc_timestamp"(timestamp: IntoColumn, tz: IntoValue);
    /// The element at a position, counted from 0; NULL where there is none.
    fn get = "get"(col: IntoColumn, index: IntoColumn);
    /// The part of a JSON text at a path such as `$.a\[0\].b`; null where there is none.
    fn get_json_object = "get_json_object"(col: IntoColumn, path: IntoValue);
    /// The bit at a position, counted from 0 at the right.
    fn getbit = "getbit"(col: IntoColumn, pos: IntoColumn);
    /// The greatest of the values that are not NULL; NaN is greater than any number.
    fn greatest = "greatest"(..columns);
    /// 1 where a row sums up over a column of grouping sets, else 0.
    fn grouping = "grouping"(col: IntoColumn);
    /// A number whose bits tell over which columns of grouping sets a row sums up.
    fn grouping_id = "grouping_id"(..columns);
    /// A hash of the arguments by Murmur3.
    fn hash = "hash"(..columns);
    /// A whole number, or the bytes of a string or a binary, in hexadecimal digits.
    fn hex = "hex"(col: IntoColumn);
    /// Returns a histogram of the values of a group: the centres and heights of nb bins.
    fn histogram_numeric = "histogram_numeric"(col: IntoColumn, n_bins: IntoColumn);
    /// Returns a HyperLogLog sketch of the values of a group, updatable.
    fn hll_sketch_agg = "hll_sketch_agg"(col: IntoColumn);
    /// As [`hll_sketch_agg`], with `lg_config_k`.
    fn hll_sketch_agg_with = "hll_sketch_agg"(col: IntoColumn, lg_config_k: IntoValue);
    /// Returns about how many different values a HyperLogLog sketch has seen.
    fn hll_sketch_estimate = "hll_sketch_estimate"(col: IntoColumn);
    /// Returns the union of two HyperLogLog sketches.
    fn hll_union = "hll_union"(col1: IntoColumn, col2: IntoColumn);
    /// As [`hll_union`], with `allow_different_lg_config_k`.
    fn hll_union_with = "hll_union"(col1: IntoColumn, col2: IntoColumn, allow_different_lg_config_k: IntoValue);
    /// Returns the union of the HyperLogLog sketches of a group.
    fn hll_union_agg = "hll_union_agg"(col: IntoColumn);
    /// As [`hll_union_agg`], with `allow_different_lg_config_k`.
    fn hll_union_agg_with = "hll_union_agg"(col: IntoColumn, allow_different_lg_config_k: IntoValue);
    /// The hour of a timestamp or a time.
    fn hour = "hour"(col: IntoColumn);
    /// The length of the hypotenuse of a right triangle with these legs.
    fn hypot = "hypot"(col1: IntoColumn, col2: IntoColumn);
    /// The second value if the first is NULL, else the first.
    fn ifnull = "ifnull"(col1: IntoColumn, col2: IntoColumn);
    /// LIKE, indifferent to the case of letters.
    fn ilike = "ilike"(text: IntoColumn, pattern: IntoColumn);
    /// As [`ilike`], with `escape_char`.
    fn ilike_with = "ilike"(text: IntoColumn, pattern: IntoColumn, escape_char: IntoColumn);
    /// The text with a capital first letter in each word and small letters otherwise; blanks part words.
    fn initcap = "initcap"(col: IntoColumn);
    /// A row per struct of an array, with its fields as columns.
    fn inline = "inline"(col: IntoColumn);
    /// As `inline`, but one row of NULL where there is no struct.
    fn inline_outer = "inline_outer"(col: IntoColumn);
    /// The length of the block that the row comes from; -1 where it comes from none.
    fn input_file_block_length = "input_file_block_length"();
    /// Where in its file the block starts that the row comes from; -1 where it comes from none.
    fn input_file_block_start = "input_file_block_start"();
    /// The file that the row comes from; empty where it comes from none.
    fn input_file_name = "input_file_name"();
    /// The position of the first `substr` in `str`, counted from 1; 0 where there is none.
    fn instr = "instr"(text: IntoColumn, substr: IntoValue);
    /// True where the bytes are valid UTF-8.
    fn is_valid_utf8 = "is_valid_utf8"(text: IntoColumn);
    /// Whether the bytes of a variant are well formed.
    fn is_valid_variant = "is_valid_variant"(v: IntoColumn);
    /// Whether a variant is the null of JSON; not so for NULL.
    fn is_variant_null = "is_variant_null"(v: IntoColumn);
    /// True if the value is NaN; false for NULL.
    fn isnan = "isnan"(col: IntoColumn);
    /// True if the value is not NULL.
    fn isnotnull = "isnotnull"(col: IntoColumn);
    /// True if the value is NULL.
    fn isnull = "isnull"(col: IntoColumn);
    /// Calls a Java method. This server cannot.
    fn java_method = "java_method"(..columns);
    /// The number of elements of a JSON array; null for other texts.
    fn json_array_length = "json_array_length"(col: IntoColumn);
    /// The keys of a JSON object; null for other texts.
    fn json_object_keys = "json_object_keys"(col: IntoColumn);
    /// Several fields of a JSON object as columns of text.
    fn json_tuple = "json_tuple"(col: IntoColumn, ..columns);
    /// Returns one KLL sketch of those of a group.
    fn kll_merge_agg_bigint = "kll_merge_agg_bigint"(col: IntoColumn);
    /// As [`kll_merge_agg_bigint`], with `k`.
    fn kll_merge_agg_bigint_with = "kll_merge_agg_bigint"(col: IntoColumn, k: IntoValue);
    /// Returns one KLL sketch of those of a group.
    fn kll_merge_agg_double = "kll_merge_agg_double"(col: IntoColumn);
    /// As [`kll_merge_agg_double`], with `k`.
    fn kll_merge_agg_double_with = "kll_merge_agg_double"(col: IntoColumn, k: IntoValue);
    /// Returns one KLL sketch of those of a group.
    fn kll_merge_agg_float = "kll_merge_agg_float"(col: IntoColumn);
    /// As [`kll_merge_agg_float`], with `k`.
    fn kll_merge_agg_float_with = "kll_merge_agg_float"(col: IntoColumn, k: IntoValue);
    /// Returns a KLL sketch of the values of a group, compact.
    fn kll_sketch_agg_bigint = "kll_sketch_agg_bigint"(col: IntoColumn);
    /// As [`kll_sketch_agg_bigint`], with `k`.
    fn kll_sketch_agg_bigint_with = "kll_sketch_agg_bigint"(col: IntoColumn, k: IntoValue);
    /// Returns a KLL sketch of the values of a group, compact.
    fn kll_sketch_agg_double = "kll_sketch_agg_double"(col: IntoColumn);
    /// As [`kll_sketch_agg_double`], with `k`.
    fn kll_sketch_agg_double_with = "kll_sketch_agg_double"(col: IntoColumn, k: IntoValue);
    /// Returns a KLL sketch of the values of a group, compact.
    fn kll_sketch_agg_float = "kll_sketch_agg_float"(col: IntoColumn);
    /// As [`kll_sketch_agg_float`], with `k`.
    fn kll_sketch_agg_float_with = "kll_sketch_agg_float"(col: IntoColumn, k: IntoValue);
    /// Returns how many values a KLL sketch has seen.
    fn kll_sketch_get_n_bigint = "kll_sketch_get_n_bigint"(col: IntoColumn);
    /// Returns how many values a KLL sketch has seen.
    fn kll_sketch_get_n_double = "kll_sketch_get_n_double"(col: IntoColumn);
    /// Returns how many values a KLL sketch has seen.
    fn kll_sketch_get_n_float = "kll_sketch_get_n_float"(col: IntoColumn);
    /// Returns the values at ranks between 0 and 1.
    fn kll_sketch_get_quantile_bigint = "kll_sketch_get_quantile_bigint"(sketch: IntoColumn, rank: IntoColumn);
    /// Returns the values at ranks between 0 and 1.
    fn kll_sketch_get_quantile_double = "kll_sketch_get_quantile_double"(sketch: IntoColumn, rank: IntoColumn);
    /// Returns the values at ranks between 0 and 1.
    fn kll_sketch_get_quantile_float = "kll_sketch_get_quantile_float"(sketch: IntoColumn, rank: IntoColumn);
    /// Returns the ranks of values, between 0 and 1.
    fn kll_sketch_get_rank_bigint = "kll_sketch_get_rank_bigint"(sketch: IntoColumn, quantile: IntoColumn);
    /// Returns the ranks of values, between 0 and 1.
    fn kll_sketch_get_rank_double = "kll_sketch_get_rank_double"(sketch: IntoColumn, quantile: IntoColumn);
    /// Returns the ranks of values, between 0 and 1.
    fn kll_sketch_get_rank_float = "kll_sketch_get_rank_float"(sketch: IntoColumn, quantile: IntoColumn);
    /// Returns one KLL sketch of two.
    fn kll_sketch_merge_bigint = "kll_sketch_merge_bigint"(left: IntoColumn, right: IntoColumn);
    /// Returns one KLL sketch of two.
    fn kll_sketch_merge_double = "kll_sketch_merge_double"(left: IntoColumn, right: IntoColumn);
    /// Returns one KLL sketch of two.
    fn kll_sketch_merge_float = "kll_sketch_merge_float"(left: IntoColumn, right: IntoColumn);
    /// Returns a description of a KLL sketch.
    fn kll_sketch_to_string_bigint = "kll_sketch_to_string_bigint"(col: IntoColumn);
    /// Returns a description of a KLL sketch.
    fn kll_sketch_to_string_double = "kll_sketch_to_string_double"(col: IntoColumn);
    /// Returns a description of a KLL sketch.
    fn kll_sketch_to_string_float = "kll_sketch_to_string_float"(col: IntoColumn);
    /// Returns the excess kurtosis of the values of a group.
    fn kurtosis = "kurtosis"(col: IntoColumn);
    /// The value of the row so many rows before, by default of the row before.
    fn lag = "lag"(col: IntoColumn);
    /// As [`lag`], with any of these arguments, in this order: `offset`, `default`.
    fn lag_with = "lag"(col: IntoColumn, ..arguments);
    /// Returns the last value of a group, nulls left out if asked to.
    fn last = "last"(col: IntoColumn);
    /// As [`last`], with `ignorenulls`.
    fn last_with = "last"(col: IntoColumn, ignorenulls: IntoValue);
    /// The last date of the month.
    fn last_day = "last_day"(date: IntoColumn);
    /// Returns the last value of a group, nulls left out if asked to.
    fn last_value = "last_value"(col: IntoColumn);
    /// As [`last_value`], with `ignore_nulls`.
    fn last_value_with = "last_value"(col: IntoColumn, ignore_nulls: IntoValue);
    /// The text in small letters.
    fn lcase = "lcase"(text: IntoColumn);
    /// The value of the row so many rows after, by default of the next row.
    fn lead = "lead"(col: IntoColumn);
    /// As [`lead`], with any of these arguments, in this order: `offset`, `default`.
    fn lead_with = "lead"(col: IntoColumn, ..arguments);
    /// The least of the values that are not NULL.
    fn least = "least"(..columns);
    /// The first `len` characters.
    fn left = "left"(text: IntoColumn, length: IntoColumn);
    /// The number of characters of a string, or of bytes of a binary.
    fn length = "length"(col: IntoColumn);
    /// How many characters to insert, delete or replace to make one text of the other; -1 above the threshold.
    fn levenshtein = "levenshtein"(left: IntoColumn, right: IntoColumn);
    /// As [`levenshtein`], with `threshold`.
    fn levenshtein_with = "levenshtein"(left: IntoColumn, right: IntoColumn, threshold: IntoValue);
    /// True if the whole text matches a pattern, where _ stands for a character and % for any number of them.
    fn like = "like"(text: IntoColumn, pattern: IntoColumn);
    /// As [`like`], with `escape_char`.
    fn like_with = "like"(text: IntoColumn, pattern: IntoColumn, escape_char: IntoColumn);
    /// listagg(expr\[, delimiter\]) \[WITHIN GROUP (ORDER BY key \[, ...\])\] - Returns the strings or binaries of a group joined, without nulls.
    fn listagg = "listagg"(col: IntoColumn);
    /// As [`listagg`], with `delimiter`.
    fn listagg_with = "listagg"(col: IntoColumn, delimiter: IntoValue);
    /// The natural logarithm; null where `expr` is not positive.
    fn ln = "ln"(col: IntoColumn);
    /// The wall clock's time at the start of the query, in the session's time zone.
    fn localtimestamp = "localtimestamp"();
    /// The position of the first `substr` in `str` from position `pos` on, counted from 1; 0 where there is none.
    fn locate = "locate"(substr: IntoValue, text: IntoColumn);
    /// As [`locate`], with `pos`.
    fn locate_with = "locate"(substr: IntoValue, text: IntoColumn, pos: IntoValue);
    /// The natural logarithm; null where `expr` is not positive.
    fn log = "ln"(col: IntoColumn);
    /// The logarithm to base 10; null where `expr` is not positive.
    fn log10 = "log10"(col: IntoColumn);
    /// The natural logarithm of one more than `expr`.
    fn log1p = "log1p"(col: IntoColumn);
    /// The logarithm to base 2; null where `expr` is not positive.
    fn log2 = "log2"(col: IntoColumn);
    /// The text in small letters.
    fn lower = "lower"(col: IntoColumn);
    /// The text cut or filled up at its start to `len` characters, with `pad` or else with blanks (binaries: zeros).
    fn lpad = "lpad"(col: IntoColumn, length: IntoValue, pad: IntoValue);
    /// The text without blanks, or without characters of `trimStr`, at its start.
    fn ltrim = "ltrim"(col: IntoColumn);
    /// As [`ltrim`], with `trim`.
    fn ltrim_with = "ltrim"(col: IntoColumn, trim: IntoColumn);
    /// The date of a year, month and day.
    fn make_date = "make_date"(year: IntoColumn, month: IntoColumn, day: IntoColumn);
    /// The interval of days, hours, minutes and seconds.
    fn make_dt_interval = "make_dt_interval"(..columns);
    /// The interval of the fields.
    fn make_interval = "make_interval"(..columns);
    /// The time of day of an hour, minute and second.
    fn make_time = "make_time"(hour: IntoColumn, minute: IntoColumn, second: IntoColumn);
    /// The timestamp of the fields, read in the session's or the given time zone.
    fn make_timestamp = "make_timestamp"(..columns);
    /// The moment of the fields, read in the session's or the given time zone.
    fn make_timestamp_ltz = "make_timestamp_ltz"(years: IntoColumn, months: IntoColumn, days: IntoColumn, hours: IntoColumn, mins: IntoColumn, secs: IntoColumn);
    /// As [`make_timestamp_ltz`], with `timezone`.
    fn make_timestamp_ltz_with = "make_timestamp_ltz"(years: IntoColumn, months: IntoColumn, days: IntoColumn, hours: IntoColumn, mins: IntoColumn, secs: IntoColumn, timezone: IntoColumn);
    /// The wall clock's time of the fields.
    fn make_timestamp_ntz = "make_timestamp_ntz"(..columns);
    /// The text with U+FFFD in the place of bytes that are not valid UTF-8.
    fn make_valid_utf8 = "make_valid_utf8"(text: IntoColumn);
    /// The interval of years and months.
    fn make_ym_interval = "make_ym_interval"(..columns);
    /// All entries of the maps in one.
    fn map_concat = "map_concat"(..columns);
    /// Whether a map has a key.
    fn map_contains_key = "map_contains_key"(col: IntoColumn, value: IntoValue);
    /// An array of the map's entries, as structs of a key and a value.
    fn map_entries = "map_entries"(col: IntoColumn);
    /// A map of an array of keys to an array of as many values.
    fn map_from_arrays = "map_from_arrays"(col1: IntoColumn, col2: IntoColumn);
    /// A map of an array of pairs.
    fn map_from_entries = "map_from_entries"(col: IntoColumn);
    /// An array of the map's keys.
    fn map_keys = "map_keys"(col: IntoColumn);
    /// An array of the map's values.
    fn map_values = "map_values"(col: IntoColumn);
    /// The text with capital letters, small letters, digits and others replaced by a character each; null keeps them.
    fn mask = "mask"(col: IntoColumn);
    /// As [`mask`], with any of these arguments, in this order: `upper_char`, `lower_char`, `digit_char`, `other_char`.
    fn mask_with = "mask"(col: IntoColumn, ..arguments);
    /// Returns the greatest value of a group.
    fn max = "max"(col: IntoColumn);
    /// Returns the value of x in the row with the greatest y, or an array of those of k rows.
    fn max_by = "max_by"(col: IntoColumn, ord: IntoColumn);
    /// As [`max_by`], with `k`.
    fn max_by_with = "max_by"(col: IntoColumn, ord: IntoColumn, k: IntoValue);
    /// The MD5 digest of the bytes in hexadecimal digits.
    fn md5 = "md5"(col: IntoColumn);
    /// Returns the mean of the values of a group.
    fn mean = "avg"(col: IntoColumn);
    /// Returns the median of numbers or ANSI intervals.
    fn median = "median"(col: IntoColumn);
    /// Returns the least value of a group.
    fn min = "min"(col: IntoColumn);
    /// Returns the value of x in the row with the least y, or an array of those of k rows.
    fn min_by = "min_by"(col: IntoColumn, ord: IntoColumn);
    /// As [`min_by`], with `k`.
    fn min_by_with = "min_by"(col: IntoColumn, ord: IntoColumn, k: IntoValue);
    /// The minute of a timestamp or a time.
    fn minute = "minute"(col: IntoColumn);
    /// Returns the most frequent value of a group, the least of several if it must be deterministic; mode() WITHIN GROUP (ORDER BY col) - the first of several in that order.
    fn mode = "mode"(col: IntoColumn);
    /// As [`mode`], with `deterministic`.
    fn mode_with = "mode"(col: IntoColumn, deterministic: IntoValue);
    /// Numbers that grow from row to row and are never the same.
    fn monotonically_increasing_id = "monotonically_increasing_id"();
    /// The month of a date, from 1 to 12.
    fn month = "month"(col: IntoColumn);
    /// The three-letter name of a date's month.
    fn monthname = "monthname"(col: IntoColumn);
    /// The number of months from the second to the first timestamp, a month's rest counted in 31st parts, rounded to 8 digits.
    fn months_between = "months_between"(date1: IntoColumn, date2: IntoColumn);
    /// As [`months_between`], with `round_off`.
    fn months_between_with = "months_between"(date1: IntoColumn, date2: IntoColumn, round_off: IntoValue);
    /// A struct of fields with the given names and values.
    fn named_struct = "named_struct"(..columns);
    /// The first value if it is not NaN, else the second.
    fn nanvl = "nanvl"(col1: IntoColumn, col2: IntoColumn);
    /// Turns the sign of a number or an interval round.
    fn negate = "negative"(col: IntoColumn);
    /// Turns the sign of a number or an interval round.
    fn negative = "negative"(col: IntoColumn);
    /// The first date after the given one that falls on a day of the week.
    fn next_day = "next_day"(date: IntoColumn, day_of_week: IntoValue);
    /// The moment of the start of the query.
    fn now = "now"();
    /// The value of the frame's row of that number, counted from 1; null where there is none.
    fn nth_value = "nth_value"(col: IntoColumn, offset: IntoValue);
    /// As [`nth_value`], with `ignore_nulls`.
    fn nth_value_with = "nth_value"(col: IntoColumn, offset: IntoValue, ignore_nulls: IntoValue);
    /// The number of the row's bucket, of n that are as equal in size as can be.
    fn ntile = "ntile"(n: IntoValue);
    /// NULL if both values are equal, else the first.
    fn nullif = "nullif"(col1: IntoColumn, col2: IntoColumn);
    /// NULL if the value is zero, else the value.
    fn nullifzero = "nullifzero"(col: IntoColumn);
    /// The second value if the first is NULL, else the first.
    fn nvl = "nvl"(col1: IntoColumn, col2: IntoColumn);
    /// The second value if the first is not NULL, else the third.
    fn nvl2 = "nvl2"(col1: IntoColumn, col2: IntoColumn, col3: IntoColumn);
    /// The number of bytes of a string or a binary.
    fn octet_length = "octet_length"(col: IntoColumn);
    /// The text with `replace` in the place of the `len` characters at `pos`.
    fn overlay = "overlay"(src: IntoColumn, replace: IntoColumn, pos: IntoColumn);
    /// As [`overlay`], with `len`.
    fn overlay_with = "overlay"(src: IntoColumn, replace: IntoColumn, pos: IntoColumn, length: IntoColumn);
    /// The variant that a JSON text says; fails for other texts.
    fn parse_json = "parse_json"(col: IntoColumn);
    /// A part of a URL: HOST, PATH, QUERY (or a parameter in it), REF, PROTOCOL, FILE, AUTHORITY or USERINFO.
    fn parse_url = "parse_url"(url: IntoColumn, part_to_extract: IntoColumn);
    /// As [`parse_url`], with `key`.
    fn parse_url_with = "parse_url"(url: IntoColumn, part_to_extract: IntoColumn, key: IntoColumn);
    /// The rank less one over the number of the partition's other rows.
    fn percent_rank = "percent_rank"();
    /// Returns the exact percentile of numbers or ANSI intervals, between two values the weighted mean of both.
    fn percentile = "percentile"(col: IntoColumn, percentage: IntoValue);
    /// As [`percentile`], with `frequency`.
    fn percentile_with = "percentile"(col: IntoColumn, percentage: IntoValue, frequency: IntoValue);
    /// Returns a value of the group whose rank is near the percentage, by default within a ten-thousandth of the rows.
    fn percentile_approx = "percentile_approx"(col: IntoColumn, percentage: IntoValue);
    /// As [`percentile_approx`], with `accuracy`.
    fn percentile_approx_with = "percentile_approx"(col: IntoColumn, percentage: IntoValue, accuracy: IntoValue);
    /// The ratio of a circle's circumference to its diameter.
    fn pi = "pi"();
    /// The rest of a division, not negative for a positive divisor.
    fn pmod = "pmod"(dividend: IntoColumn, divisor: IntoColumn);
    /// As `explode`, with the position of the element, counted from 0, before it.
    fn posexplode = "posexplode"(col: IntoColumn);
    /// As `posexplode`, but one row of NULL where there is no element.
    fn posexplode_outer = "posexplode_outer"(col: IntoColumn);
    /// The position of the first `substr` in `str` from position `pos` on, counted from 1; 0 where there is none.
    fn position = "position"(substr: IntoColumn, text: IntoColumn);
    /// As [`position`], with `start`.
    fn position_with = "position"(substr: IntoColumn, text: IntoColumn, start: IntoColumn);
    /// The number or interval itself.
    fn positive = "positive"(col: IntoColumn);
    /// `expr1` to the power of `expr2`.
    fn pow = "power"(col1: IntoColumn, col2: IntoColumn);
    /// `expr1` to the power of `expr2`.
    fn power = "power"(col1: IntoColumn, col2: IntoColumn);
    /// A text from a format string such as C's `printf` takes.
    fn printf = "printf"(format: IntoColumn, ..columns);
    /// Returns the product of the values of a group.
    fn product = "product"(col: IntoColumn);
    /// The quarter of the year of a date, from 1 to 4.
    fn quarter = "quarter"(col: IntoColumn);
    /// The text in single quotes, with a backslash before each single quote in it.
    fn quote = "quote"(col: IntoColumn);
    /// An angle in degrees as radians.
    fn radians = "radians"(col: IntoColumn);
    /// Fails with `expr` as message.
    fn raise_error = "raise_error"(err_msg: IntoValue);
    /// Random numbers from 0 up to 1, all as likely.
    fn rand = "rand"();
    /// As [`rand`], with `seed`.
    fn rand_with = "rand"(seed: IntoValue);
    /// Random numbers of the standard normal distribution.
    fn randn = "randn"();
    /// As [`randn`], with `seed`.
    fn randn_with = "randn"(seed: IntoValue);
    /// Random numbers from 0 up to 1, all as likely.
    fn random = "rand"();
    /// As [`random`], with `seed`.
    fn random_with = "rand"(seed: IntoValue);
    /// Texts of a length, of random letters and digits.
    fn randstr = "randstr"(length: IntoValue);
    /// As [`randstr`], with `seed`.
    fn randstr_with = "randstr"(length: IntoValue, seed: IntoValue);
    /// One plus the number of rows before the row's peers.
    fn rank = "rank"();
    /// Calls a Java method. This server cannot.
    fn reflect = "reflect"(..columns);
    /// True if a part of the text matches a regular expression of Java.
    fn regexp = "regexp"(text: IntoColumn, regexp: IntoColumn);
    /// How often a regular expression matches.
    fn regexp_count = "regexp_count"(text: IntoColumn, regexp: IntoColumn);
    /// A group (by default the first) of the first match of a regular expression; the empty text where nothing matches.
    fn regexp_extract = "regexp_extract"(text: IntoColumn, pattern: IntoValue, idx: IntoValue);
    /// A group (by default the first) of each match of a regular expression.
    fn regexp_extract_all = "regexp_extract_all"(text: IntoColumn, regexp: IntoColumn);
    /// As [`regexp_extract_all`], with `idx`.
    fn regexp_extract_all_with = "regexp_extract_all"(text: IntoColumn, regexp: IntoColumn, idx: IntoValue);
    /// The position of the first match of a regular expression, counted from 1; 0 where there is none.
    fn regexp_instr = "regexp_instr"(text: IntoColumn, regexp: IntoColumn);
    /// As [`regexp_instr`], with `idx`.
    fn regexp_instr_with = "regexp_instr"(text: IntoColumn, regexp: IntoColumn, idx: IntoValue);
    /// True if a part of the text matches a regular expression of Java.
    fn regexp_like = "regexp_like"(text: IntoColumn, regexp: IntoColumn);
    /// The text with each match of a regular expression replaced; `$1` in `rep` stands for the first group.
    fn regexp_replace = "regexp_replace"(string: IntoColumn, pattern: IntoValue, replacement: IntoValue);
    /// The first match of a regular expression; null where there is none.
    fn regexp_substr = "regexp_substr"(text: IntoColumn, regexp: IntoColumn);
    /// Returns the mean of x over pairs without nulls.
    fn regr_avgx = "regr_avgx"(y: IntoColumn, x: IntoColumn);
    /// Returns the mean of y over pairs without nulls.
    fn regr_avgy = "regr_avgy"(y: IntoColumn, x: IntoColumn);
    /// Returns the number of pairs without nulls.
    fn regr_count = "regr_count"(y: IntoColumn, x: IntoColumn);
    /// Returns the intercept of the regression line of pairs without nulls.
    fn regr_intercept = "regr_intercept"(y: IntoColumn, x: IntoColumn);
    /// Returns the coefficient of determination of pairs without nulls.
    fn regr_r2 = "regr_r2"(y: IntoColumn, x: IntoColumn);
    /// Returns the slope of the regression line of pairs without nulls.
    fn regr_slope = "regr_slope"(y: IntoColumn, x: IntoColumn);
    /// Returns count times population variance of x over pairs without nulls.
    fn regr_sxx = "regr_sxx"(y: IntoColumn, x: IntoColumn);
    /// Returns count times population covariance of pairs without nulls.
    fn regr_sxy = "regr_sxy"(y: IntoColumn, x: IntoColumn);
    /// Returns count times population variance of y over pairs without nulls.
    fn regr_syy = "regr_syy"(y: IntoColumn, x: IntoColumn);
    /// The text `n` times.
    fn repeat = "repeat"(col: IntoColumn, n: IntoColumn);
    /// The text with each `search` in it replaced.
    fn replace = "replace"(src: IntoColumn, search: IntoColumn);
    /// As [`replace`], with `replace`.
    fn replace_with = "replace"(src: IntoColumn, search: IntoColumn, replace: IntoColumn);
    /// The characters, bytes or elements from last to first.
    fn reverse = "reverse"(col: IntoColumn);
    /// The last `len` characters.
    fn right = "right"(text: IntoColumn, length: IntoColumn);
    /// The whole number nearest to `expr`; the even one of two.
    fn rint = "rint"(col: IntoColumn);
    /// True if a part of the text matches a regular expression of Java.
    fn rlike = "rlike"(text: IntoColumn, regexp: IntoColumn);
    /// `expr` rounded to `d` digits after the point, halves away from zero.
    fn round = "round"(col: IntoColumn);
    /// As [`round`], with `scale`.
    fn round_with = "round"(col: IntoColumn, scale: IntoColumn);
    /// Numbers the rows of a partition from 1, in the window's order.
    fn row_number = "row_number"();
    /// The text cut or filled up at its end to `len` characters, with `pad` or else with blanks (binaries: zeros).
    fn rpad = "rpad"(col: IntoColumn, length: IntoValue, pad: IntoValue);
    /// The text without blanks, or without characters of `trimStr`, at its end.
    fn rtrim = "rtrim"(col: IntoColumn);
    /// As [`rtrim`], with `trim`.
    fn rtrim_with = "rtrim"(col: IntoColumn, trim: IntoColumn);
    /// The type of a variant, as SQL text.
    fn schema_of_variant = "schema_of_variant"(v: IntoColumn);
    /// Returns the type, as SQL text, that the variants of a group have in common.
    fn schema_of_variant_agg = "schema_of_variant_agg"(v: IntoColumn);
    /// The secant of an angle in radians.
    fn sec = "sec"(col: IntoColumn);
    /// The second of a timestamp or a time.
    fn second = "second"(col: IntoColumn);
    /// The sentences of a text, each an array of its words. All languages are read as English is.
    fn sentences = "sentences"(string: IntoColumn);
    /// As [`sentences`], with any of these arguments, in this order: `language`, `country`.
    fn sentences_with = "sentences"(string: IntoColumn, ..arguments);
    /// The values from start to stop, both included, a step apart: by default 1 or -1, or a day.
    fn sequence = "sequence"(start: IntoColumn, stop: IntoColumn);
    /// As [`sequence`], with `step`.
    fn sequence_with = "sequence"(start: IntoColumn, stop: IntoColumn, step: IntoColumn);
    /// The name of the user who runs the query.
    fn session_user = "session_user"();
    /// The window of time that ends after a gap without rows.
    fn session_window = "session_window"(time_column: IntoColumn, gap_duration: IntoValue);
    /// The SHA-1 digest of the bytes in hexadecimal digits.
    fn sha = "sha"(col: IntoColumn);
    /// The SHA-1 digest of the bytes in hexadecimal digits.
    fn sha1 = "sha1"(col: IntoColumn);
    /// The SHA-2 digest of 224, 256 (or 0), 384 or 512 bits in hexadecimal digits; null for other lengths.
    fn sha2 = "sha2"(col: IntoColumn, num_bits: IntoValue);
    /// The bits of `base` moved to higher places.
    fn shiftleft = "shiftleft"(col: IntoColumn, num_bits: IntoValue);
    /// The bits of `base` moved to lower places; the sign stays.
    fn shiftright = "shiftright"(col: IntoColumn, num_bits: IntoValue);
    /// The bits of `base` moved to lower places; zeros come after them.
    fn shiftrightunsigned = "shiftrightunsigned"(col: IntoColumn, num_bits: IntoValue);
    /// The elements in an order of chance.
    fn shuffle = "shuffle"(col: IntoColumn);
    /// As [`shuffle`], with `seed`.
    fn shuffle_with = "shuffle"(col: IntoColumn, seed: IntoValue);
    /// -1, 0 or 1 as `expr` is negative, zero or positive.
    fn sign = "sign"(col: IntoColumn);
    /// -1, 0 or 1 as `expr` is negative, zero or positive.
    fn signum = "signum"(col: IntoColumn);
    /// The sine of an angle in radians.
    fn sin = "sin"(col: IntoColumn);
    /// The hyperbolic sine of `expr`.
    fn sinh = "sinh"(col: IntoColumn);
    /// The number of elements of an array, or of entries of a map.
    fn size = "size"(col: IntoColumn);
    /// Returns the skewness of the values of a group.
    fn skewness = "skewness"(col: IntoColumn);
    /// So many elements from a position on, counted from 1 or, if negative, from the end.
    fn slice = "slice"(x: IntoColumn, start: IntoColumn, length: IntoColumn);
    /// Returns true if some value of a group is true.
    fn some = "some"(col: IntoColumn);
    /// The elements in order, NULLs first; or in descending order, NULLs last.
    fn sort_array = "sort_array"(col: IntoColumn);
    /// As [`sort_array`], with `asc`.
    fn sort_array_with = "sort_array"(col: IntoColumn, asc: IntoValue);
    /// The Soundex code of a word.
    fn soundex = "soundex"(col: IntoColumn);
    /// The number of the row's partition.
    fn spark_partition_id = "spark_partition_id"();
    /// The parts of the text between the matches of a regular expression, at most `limit` of them if that is above 0.
    fn split = "split"(text: IntoColumn, pattern: IntoValue);
    /// As [`split`], with `limit`.
    fn split_with = "split"(text: IntoColumn, pattern: IntoValue, limit: IntoColumn);
    /// The part at `partNum` of the text split at `delimiter`, counted from 1 (below zero: from the end).
    fn split_part = "split_part"(src: IntoColumn, delimiter: IntoColumn, part_num: IntoColumn);
    /// The square root of `expr`; NaN below zero.
    fn sqrt = "sqrt"(col: IntoColumn);
    /// A shape as WKB, the lowest byte of numbers first unless the endianness is XDR.
    fn st_asbinary = "st_asbinary"(geo: IntoColumn);
    /// As [`st_asbinary`], with `endianness`.
    fn st_asbinary_with = "st_asbinary"(geo: IntoColumn, endianness: IntoValue);
    /// The geography of WKB.
    fn st_geogfromwkb = "st_geogfromwkb"(wkb: IntoColumn);
    /// The geometry of WKB, in a reference system.
    fn st_geomfromwkb = "st_geomfromwkb"(wkb: IntoColumn);
    /// As [`st_geomfromwkb`], with `srid`.
    fn st_geomfromwkb_with = "st_geomfromwkb"(wkb: IntoColumn, srid: IntoColumn);
    /// The same shape in another reference system; its coordinates stay.
    fn st_setsrid = "st_setsrid"(geo: IntoColumn, srid: IntoColumn);
    /// The number of a shape's reference system.
    fn st_srid = "st_srid"(geo: IntoColumn);
    /// The values, row by row, in `n` rows.
    fn stack = "stack"(..columns);
    /// True where `left` starts with `right`.
    fn startswith = "startswith"(text: IntoColumn, prefix: IntoColumn);
    /// Returns the sample standard deviation of a group.
    fn std = "std"(col: IntoColumn);
    /// Returns the sample standard deviation of a group.
    fn stddev = "stddev"(col: IntoColumn);
    /// Returns the population standard deviation of a group.
    fn stddev_pop = "stddev_pop"(col: IntoColumn);
    /// Returns the sample standard deviation of a group.
    fn stddev_samp = "stddev_samp"(col: IntoColumn);
    /// The map that a text says: its pairs are parted by one regular expression, key and value by another.
    fn str_to_map = "str_to_map"(text: IntoColumn);
    /// As [`str_to_map`], with any of these arguments, in this order: `pair_delim`, `key_value_delim`.
    fn str_to_map_with = "str_to_map"(text: IntoColumn, ..arguments);
    /// listagg(expr\[, delimiter\]) \[WITHIN GROUP (ORDER BY key \[, ...\])\] - Returns the strings or binaries of a group joined, without nulls.
    fn string_agg = "string_agg"(col: IntoColumn);
    /// As [`string_agg`], with `delimiter`.
    fn string_agg_with = "string_agg"(col: IntoColumn, delimiter: IntoValue);
    /// A struct of the values, its fields called after them.
    fn struct_ = "struct"(..columns);
    /// The part of the text from the character at `pos`, counted from 1 (below zero: from the end), `len` characters long.
    fn substr = "substr"(text: IntoColumn, pos: IntoColumn);
    /// As [`substr`], with `len`.
    fn substr_with = "substr"(text: IntoColumn, pos: IntoColumn, length: IntoColumn);
    /// The part of the text from the character at `pos`, counted from 1 (below zero: from the end), `len` characters long.
    fn substring = "substring"(text: IntoColumn, pos: IntoColumn, length: IntoColumn);
    /// The text before the `count`th `delim`; with a negative count, the text after that one from the end.
    fn substring_index = "substring_index"(text: IntoColumn, delim: IntoValue, count: IntoValue);
    /// Returns the sum of the values of a group.
    fn sum = "sum"(col: IntoColumn);
    /// The tangent of an angle in radians.
    fn tan = "tan"(col: IntoColumn);
    /// The hyperbolic tangent of `expr`.
    fn tanh = "tanh"(col: IntoColumn);
    /// Returns what the first theta sketch has and the second has not.
    fn theta_difference = "theta_difference"(col1: IntoColumn, col2: IntoColumn);
    /// Returns the intersection of two theta sketches.
    fn theta_intersection = "theta_intersection"(col1: IntoColumn, col2: IntoColumn);
    /// Returns the intersection of the theta sketches of a group.
    fn theta_intersection_agg = "theta_intersection_agg"(col: IntoColumn);
    /// Returns a theta sketch of the values of a group, compact.
    fn theta_sketch_agg = "theta_sketch_agg"(col: IntoColumn);
    /// As [`theta_sketch_agg`], with `lg_nom_entries`.
    fn theta_sketch_agg_with = "theta_sketch_agg"(col: IntoColumn, lg_nom_entries: IntoValue);
    /// Returns about how many different values a theta sketch has seen.
    fn theta_sketch_estimate = "theta_sketch_estimate"(col: IntoColumn);
    /// Returns the union of two theta sketches.
    fn theta_union = "theta_union"(col1: IntoColumn, col2: IntoColumn);
    /// As [`theta_union`], with `lg_nom_entries`.
    fn theta_union_with = "theta_union"(col1: IntoColumn, col2: IntoColumn, lg_nom_entries: IntoValue);
    /// Returns the union of the theta sketches of a group.
    fn theta_union_agg = "theta_union_agg"(col: IntoColumn);
    /// As [`theta_union_agg`], with `lg_nom_entries`.
    fn theta_union_agg_with = "theta_union_agg"(col: IntoColumn, lg_nom_entries: IntoValue);
    /// The start of the bucket that a timestamp falls into; buckets are an interval long and one of them starts at the origin.
    fn time_bucket = "time_bucket"(bucket_size: IntoColumn, ts: IntoColumn);
    /// As [`time_bucket`], with `origin`.
    fn time_bucket_with = "time_bucket"(bucket_size: IntoColumn, ts: IntoColumn, origin: IntoColumn);
    /// The number of whole units between two times of day.
    fn time_diff = "time_diff"(unit: IntoColumn, start: IntoColumn, end: IntoColumn);
    /// The time of day so many microseconds after midnight.
    fn time_from_micros = "time_from_micros"(col: IntoColumn);
    /// The time of day so many milliseconds after midnight.
    fn time_from_millis = "time_from_millis"(col: IntoColumn);
    /// The time of day so many seconds after midnight.
    fn time_from_seconds = "time_from_seconds"(col: IntoColumn);
    /// The microseconds from midnight to a time of day.
    fn time_to_micros = "time_to_micros"(col: IntoColumn);
    /// The milliseconds from midnight to a time of day.
    fn time_to_millis = "time_to_millis"(col: IntoColumn);
    /// The seconds from midnight to a time of day.
    fn time_to_seconds = "time_to_seconds"(col: IntoColumn);
    /// The first moment of a time's hour, minute or other unit.
    fn time_trunc = "time_trunc"(unit: IntoColumn, time: IntoColumn);
    /// The timestamp so many units later; the unit is a text such as `HOUR`.
    fn timestamp_add = "timestampadd"(unit: IntoValue, quantity: IntoColumn, ts: IntoColumn);
    /// How many whole units lie between two timestamps; the unit is a text such as `HOUR`.
    fn timestamp_diff = "timestampdiff"(unit: IntoValue, start: IntoColumn, end: IntoColumn);
    /// The timestamp so many microseconds after 1970-01-01 00:00:00 UTC.
    fn timestamp_micros = "timestamp_micros"(col: IntoColumn);
    /// The timestamp so many milliseconds after 1970-01-01 00:00:00 UTC.
    fn timestamp_millis = "timestamp_millis"(col: IntoColumn);
    /// The timestamp so many seconds, possibly with a fraction, after 1970-01-01 00:00:00 UTC.
    fn timestamp_seconds = "timestamp_seconds"(col: IntoColumn);
    /// The bytes of a text in the format `hex` (the default), `utf-8`, `utf8` or `base64`.
    fn to_binary = "to_binary"(col: IntoColumn);
    /// As [`to_binary`], with `format`.
    fn to_binary_with = "to_binary"(col: IntoColumn, format: IntoColumn);
    /// A number, a date, a timestamp or a binary as text in a format.
    fn to_char = "to_char"(col: IntoColumn, format: IntoColumn);
    /// The date that text says, by a pattern or as in a cast.
    fn to_date = "to_date"(col: IntoColumn);
    /// As [`to_date`], with `format`.
    fn to_date_with = "to_date"(col: IntoColumn, format: IntoValue);
    /// The number that a text stands for by a pattern such as `99,999.00`; fails where it does not match.
    fn to_number = "to_number"(col: IntoColumn, format: IntoColumn);
    /// The time of day that text says, by a pattern or as in a cast.
    fn to_time = "to_time"(text: IntoColumn);
    /// As [`to_time`], with `format`.
    fn to_time_with = "to_time"(text: IntoColumn, format: IntoColumn);
    /// The timestamp that text says, by a pattern or as in a cast.
    fn to_timestamp = "to_timestamp"(col: IntoColumn);
    /// As [`to_timestamp`], with `format`.
    fn to_timestamp_with = "to_timestamp"(col: IntoColumn, format: IntoValue);
    /// The moment that text says, by a pattern or as in a cast.
    fn to_timestamp_ltz = "to_timestamp_ltz"(timestamp: IntoColumn);
    /// As [`to_timestamp_ltz`], with `format`.
    fn to_timestamp_ltz_with = "to_timestamp_ltz"(timestamp: IntoColumn, format: IntoColumn);
    /// The wall clock's time that text says, by a pattern or as in a cast.
    fn to_timestamp_ntz = "to_timestamp_ntz"(timestamp: IntoColumn);
    /// As [`to_timestamp_ntz`], with `format`.
    fn to_timestamp_ntz_with = "to_timestamp_ntz"(timestamp: IntoColumn, format: IntoColumn);
    /// The seconds since 1970-01-01 00:00:00 UTC of a time.
    fn to_unix_timestamp = "to_unix_timestamp"(timestamp: IntoColumn);
    /// As [`to_unix_timestamp`], with `format`.
    fn to_unix_timestamp_with = "to_unix_timestamp"(timestamp: IntoColumn, format: IntoColumn);
    /// Reads a timestamp as one of a zone and shows it as one of UTC.
    fn to_utc_timestamp = "to_utc_timestamp"(timestamp: IntoColumn, tz: IntoValue);
    /// A number, a date, a timestamp or a binary as text in a format.
    fn to_varchar = "to_varchar"(col: IntoColumn, format: IntoColumn);
    /// A struct, a map or an array of them as a variant: structs and maps become objects.
    fn to_variant_object = "to_variant_object"(col: IntoColumn);
    /// The text with the characters of `from` replaced by those of `to`, and left out where `to` is shorter.
    fn translate = "translate"(src_col: IntoColumn, matching: IntoValue, replace: IntoValue);
    /// The text without blanks, or without characters of `trimStr`, at both ends.
    fn trim = "trim"(col: IntoColumn);
    /// As [`trim`], with `trim`.
    fn trim_with = "trim"(col: IntoColumn, trim: IntoColumn);
    /// The first date of the year, quarter, month or week of a date; NULL for other units.
    fn trunc = "trunc"(date: IntoColumn, format: IntoValue);
    /// The sum, or NULL when it overflows.
    fn try_add = "try_add"(left: IntoColumn, right: IntoColumn);
    /// What `aes_encrypt` made `expr` of; NULL where it cannot be decrypted.
    fn try_aes_decrypt = "try_aes_decrypt"(input: IntoColumn, key: IntoColumn);
    /// As [`try_aes_decrypt`], with any of these arguments, in this order: `mode`, `padding`, `aad`.
    fn try_aes_decrypt_with = "try_aes_decrypt"(input: IntoColumn, key: IntoColumn, ..arguments);
    /// Returns the mean of the values of a group, and null when the sum overflows.
    fn try_avg = "try_avg"(col: IntoColumn);
    /// The quotient, or NULL for a division by zero.
    fn try_divide = "try_divide"(left: IntoColumn, right: IntoColumn);
    /// As `element_at`, but NULL where there is no such element.
    fn try_element_at = "try_element_at"(col: IntoColumn, extraction: IntoColumn);
    /// As `make_interval`, but NULL where a field overflows.
    fn try_make_interval = "try_make_interval"(..columns);
    /// As `make_timestamp`, but NULL where a field is out of its range.
    fn try_make_timestamp = "try_make_timestamp"(..columns);
    /// As `make_timestamp_ltz`, but NULL where a field is out of its range.
    fn try_make_timestamp_ltz = "try_make_timestamp_ltz"(years: IntoColumn, months: IntoColumn, days: IntoColumn, hours: IntoColumn, mins: IntoColumn, secs: IntoColumn);
    /// As [`try_make_timestamp_ltz`], with `timezone`.
    fn try_make_timestamp_ltz_with = "try_make_timestamp_ltz"(years: IntoColumn, months: IntoColumn, days: IntoColumn, hours: IntoColumn, mins: IntoColumn, secs: IntoColumn, timezone: IntoColumn);
    /// As `make_timestamp_ntz`, but NULL where a field is out of its range.
    fn try_make_timestamp_ntz = "try_make_timestamp_ntz"(..columns);
    /// The rest of a division, or NULL for a division by zero.
    fn try_mod = "try_mod"(left: IntoColumn, right: IntoColumn);
    /// The product, or NULL when it overflows.
    fn try_multiply = "try_multiply"(left: IntoColumn, right: IntoColumn);
    /// The variant that a JSON text says, or NULL for other texts.
    fn try_parse_json = "try_parse_json"(col: IntoColumn);
    /// As `parse_url`, but null where the URL is malformed.
    fn try_parse_url = "try_parse_url"(url: IntoColumn, part_to_extract: IntoColumn);
    /// As [`try_parse_url`], with `key`.
    fn try_parse_url_with = "try_parse_url"(url: IntoColumn, part_to_extract: IntoColumn, key: IntoColumn);
    /// Calls a Java method. This server cannot.
    fn try_reflect = "try_reflect"(..columns);
    /// The difference, or NULL when it overflows.
    fn try_subtract = "try_subtract"(left: IntoColumn, right: IntoColumn);
    /// Returns the sum of the values of a group, and null when it overflows.
    fn try_sum = "try_sum"(col: IntoColumn);
    /// As `to_binary`, but null where the text is not in the format.
    fn try_to_binary = "try_to_binary"(col: IntoColumn);
    /// As [`try_to_binary`], with `format`.
    fn try_to_binary_with = "try_to_binary"(col: IntoColumn, format: IntoColumn);
    /// As `to_date`, but NULL where the text says no date.
    fn try_to_date = "try_to_date"(col: IntoColumn);
    /// As [`try_to_date`], with `format`.
    fn try_to_date_with = "try_to_date"(col: IntoColumn, format: IntoValue);
    /// As `to_number`, but null where the text does not match.
    fn try_to_number = "try_to_number"(col: IntoColumn, format: IntoColumn);
    /// As `to_time`, but NULL where the text says no time.
    fn try_to_time = "try_to_time"(text: IntoColumn);
    /// As [`try_to_time`], with `format`.
    fn try_to_time_with = "try_to_time"(text: IntoColumn, format: IntoColumn);
    /// As `to_timestamp`, but NULL where the text says no timestamp.
    fn try_to_timestamp = "try_to_timestamp"(col: IntoColumn);
    /// As [`try_to_timestamp`], with `format`.
    fn try_to_timestamp_with = "try_to_timestamp"(col: IntoColumn, format: IntoColumn);
    /// As `url_decode`, but null where the data are malformed.
    fn try_url_decode = "try_url_decode"(text: IntoColumn);
    /// The text itself; null where it is not valid UTF-8.
    fn try_validate_utf8 = "try_validate_utf8"(text: IntoColumn);
    /// The part of a variant that a path leads to, as a type; NULL where there is no such part or it is not of the type.
    fn try_variant_get = "try_variant_get"(v: IntoColumn, path: IntoValue, target_type: IntoValue);
    /// Returns what the first tuple sketch has and the second has not.
    fn tuple_difference_double = "tuple_difference_double"(col1: IntoColumn, col2: IntoColumn);
    /// Returns what the first tuple sketch has and the second has not.
    fn tuple_difference_integer = "tuple_difference_integer"(col1: IntoColumn, col2: IntoColumn);
    /// Returns what a tuple sketch has and a theta sketch has not.
    fn tuple_difference_theta_double = "tuple_difference_theta_double"(col1: IntoColumn, col2: IntoColumn);
    /// Returns what a tuple sketch has and a theta sketch has not.
    fn tuple_difference_theta_integer = "tuple_difference_theta_integer"(col1: IntoColumn, col2: IntoColumn);
    /// Returns the intersection of the tuple sketches of a group.
    fn tuple_intersection_agg_double = "tuple_intersection_agg_double"(col: IntoColumn);
    /// As [`tuple_intersection_agg_double`], with `mode`.
    fn tuple_intersection_agg_double_with = "tuple_intersection_agg_double"(col: IntoColumn, mode: IntoValue);
    /// Returns the intersection of the tuple sketches of a group.
    fn tuple_intersection_agg_integer = "tuple_intersection_agg_integer"(col: IntoColumn);
    /// As [`tuple_intersection_agg_integer`], with `mode`.
    fn tuple_intersection_agg_integer_with = "tuple_intersection_agg_integer"(col: IntoColumn, mode: IntoValue);
    /// Returns the intersection of two tuple sketches.
    fn tuple_intersection_double = "tuple_intersection_double"(col1: IntoColumn, col2: IntoColumn);
    /// As [`tuple_intersection_double`], with `mode`.
    fn tuple_intersection_double_with = "tuple_intersection_double"(col1: IntoColumn, col2: IntoColumn, mode: IntoValue);
    /// Returns the intersection of two tuple sketches.
    fn tuple_intersection_integer = "tuple_intersection_integer"(col1: IntoColumn, col2: IntoColumn);
    /// As [`tuple_intersection_integer`], with `mode`.
    fn tuple_intersection_integer_with = "tuple_intersection_integer"(col1: IntoColumn, col2: IntoColumn, mode: IntoValue);
    /// Returns the intersection of a tuple sketch and a theta sketch.
    fn tuple_intersection_theta_double = "tuple_intersection_theta_double"(col1: IntoColumn, col2: IntoColumn);
    /// As [`tuple_intersection_theta_double`], with `mode`.
    fn tuple_intersection_theta_double_with = "tuple_intersection_theta_double"(col1: IntoColumn, col2: IntoColumn, mode: IntoValue);
    /// Returns the intersection of a tuple sketch and a theta sketch.
    fn tuple_intersection_theta_integer = "tuple_intersection_theta_integer"(col1: IntoColumn, col2: IntoColumn);
    /// As [`tuple_intersection_theta_integer`], with `mode`.
    fn tuple_intersection_theta_integer_with = "tuple_intersection_theta_integer"(col1: IntoColumn, col2: IntoColumn, mode: IntoValue);
    /// Returns a tuple sketch of the keys of a group with their numbers, compact.
    fn tuple_sketch_agg_double = "tuple_sketch_agg_double"(key: IntoColumn, summary: IntoColumn);
    /// As [`tuple_sketch_agg_double`], with any of these arguments, in this order: `lg_nom_entries`, `mode`.
    fn tuple_sketch_agg_double_with = "tuple_sketch_agg_double"(key: IntoColumn, summary: IntoColumn, ..arguments);
    /// Returns a tuple sketch of the keys of a group with their numbers, compact.
    fn tuple_sketch_agg_integer = "tuple_sketch_agg_integer"(key: IntoColumn, summary: IntoColumn);
    /// As [`tuple_sketch_agg_integer`], with any of these arguments, in this order: `lg_nom_entries`, `mode`.
    fn tuple_sketch_agg_integer_with = "tuple_sketch_agg_integer"(key: IntoColumn, summary: IntoColumn, ..arguments);
    /// Returns about how many different keys a tuple sketch has seen.
    fn tuple_sketch_estimate_double = "tuple_sketch_estimate_double"(col: IntoColumn);
    /// Returns about how many different keys a tuple sketch has seen.
    fn tuple_sketch_estimate_integer = "tuple_sketch_estimate_integer"(col: IntoColumn);
    /// Returns one number of all numbers of a tuple sketch.
    fn tuple_sketch_summary_double = "tuple_sketch_summary_double"(col: IntoColumn);
    /// As [`tuple_sketch_summary_double`], with `mode`.
    fn tuple_sketch_summary_double_with = "tuple_sketch_summary_double"(col: IntoColumn, mode: IntoValue);
    /// Returns one number of all numbers of a tuple sketch.
    fn tuple_sketch_summary_integer = "tuple_sketch_summary_integer"(col: IntoColumn);
    /// As [`tuple_sketch_summary_integer`], with `mode`.
    fn tuple_sketch_summary_integer_with = "tuple_sketch_summary_integer"(col: IntoColumn, mode: IntoValue);
    /// Returns the part of the keys that a tuple sketch keeps.
    fn tuple_sketch_theta_double = "tuple_sketch_theta_double"(col: IntoColumn);
    /// Returns the part of the keys that a tuple sketch keeps.
    fn tuple_sketch_theta_integer = "tuple_sketch_theta_integer"(col: IntoColumn);
    /// Returns the union of the tuple sketches of a group.
    fn tuple_union_agg_double = "tuple_union_agg_double"(col: IntoColumn);
    /// As [`tuple_union_agg_double`], with any of these arguments, in this order: `lg_nom_entries`, `mode`.
    fn tuple_union_agg_double_with = "tuple_union_agg_double"(col: IntoColumn, ..arguments);
    /// Returns the union of the tuple sketches of a group.
    fn tuple_union_agg_integer = "tuple_union_agg_integer"(col: IntoColumn);
    /// As [`tuple_union_agg_integer`], with any of these arguments, in this order: `lg_nom_entries`, `mode`.
    fn tuple_union_agg_integer_with = "tuple_union_agg_integer"(col: IntoColumn, ..arguments);
    /// Returns the union of two tuple sketches.
    fn tuple_union_double = "tuple_union_double"(col1: IntoColumn, col2: IntoColumn);
    /// As [`tuple_union_double`], with any of these arguments, in this order: `lg_nom_entries`, `mode`.
    fn tuple_union_double_with = "tuple_union_double"(col1: IntoColumn, col2: IntoColumn, ..arguments);
    /// Returns the union of two tuple sketches.
    fn tuple_union_integer = "tuple_union_integer"(col1: IntoColumn, col2: IntoColumn);
    /// As [`tuple_union_integer`], with any of these arguments, in this order: `lg_nom_entries`, `mode`.
    fn tuple_union_integer_with = "tuple_union_integer"(col1: IntoColumn, col2: IntoColumn, ..arguments);
    /// Returns the union of a tuple sketch and a theta sketch.
    fn tuple_union_theta_double = "tuple_union_theta_double"(col1: IntoColumn, col2: IntoColumn);
    /// As [`tuple_union_theta_double`], with any of these arguments, in this order: `lg_nom_entries`, `mode`.
    fn tuple_union_theta_double_with = "tuple_union_theta_double"(col1: IntoColumn, col2: IntoColumn, ..arguments);
    /// Returns the union of a tuple sketch and a theta sketch.
    fn tuple_union_theta_integer = "tuple_union_theta_integer"(col1: IntoColumn, col2: IntoColumn);
    /// As [`tuple_union_theta_integer`], with any of these arguments, in this order: `lg_nom_entries`, `mode`.
    fn tuple_union_theta_integer_with = "tuple_union_theta_integer"(col1: IntoColumn, col2: IntoColumn, ..arguments);
    /// The type of an expression as text.
    fn typeof_ = "typeof"(col: IntoColumn);
    /// The text in capital letters.
    fn ucase = "ucase"(text: IntoColumn);
    /// The bytes that Base64 text stands for.
    fn unbase64 = "unbase64"(col: IntoColumn);
    /// The bytes that hexadecimal digits stand for; null where there are other characters.
    fn unhex = "unhex"(col: IntoColumn);
    /// Random numbers from `min` up to `max`, all as likely.
    fn uniform = "uniform"(min: IntoValue, max: IntoValue);
    /// As [`uniform`], with `seed`.
    fn uniform_with = "uniform"(min: IntoValue, max: IntoValue, seed: IntoValue);
    /// The number of days since 1970-01-01.
    fn unix_date = "unix_date"(col: IntoColumn);
    /// The microseconds since 1970-01-01 00:00:00 UTC.
    fn unix_micros = "unix_micros"(col: IntoColumn);
    /// The whole milliseconds since 1970-01-01 00:00:00 UTC.
    fn unix_millis = "unix_millis"(col: IntoColumn);
    /// The whole seconds since 1970-01-01 00:00:00 UTC.
    fn unix_seconds = "unix_seconds"(col: IntoColumn);
    /// The seconds since 1970-01-01 00:00:00 UTC of a time, or of now.
    fn unix_timestamp = "unix_timestamp"();
    /// As [`unix_timestamp`], with any of these arguments, in this order: `timestamp`, `format`.
    fn unix_timestamp_with = "unix_timestamp"(..arguments);
    /// The text in capital letters.
    fn upper = "upper"(col: IntoColumn);
    /// The text that `application/x-www-form-urlencoded` data stands for.
    fn url_decode = "url_decode"(text: IntoColumn);
    /// The text as `application/x-www-form-urlencoded`.
    fn url_encode = "url_encode"(text: IntoColumn);
    /// The name of the user who runs the query.
    fn user = "user"();
    /// A random UUID in each row.
    fn uuid = "uuid"();
    /// As [`uuid`], with `seed`.
    fn uuid_with = "uuid"(seed: IntoValue);
    /// The text itself; fails where it is not valid UTF-8.
    fn validate_utf8 = "validate_utf8"(text: IntoColumn);
    /// Returns the population variance of a group.
    fn var_pop = "var_pop"(col: IntoColumn);
    /// Returns the sample variance of a group.
    fn var_samp = "var_samp"(col: IntoColumn);
    /// Returns the sample variance of a group.
    fn variance = "variance"(col: IntoColumn);
    /// The part of a variant that a path leads to, as a type; NULL where there is no such part, a failure where it is not of the type.
    fn variant_get = "variant_get"(v: IntoColumn, path: IntoValue, target_type: IntoValue);
    /// The version of the server: a release and a revision.
    fn version = "version"();
    /// The day of the week of a date: 0 is Monday, 6 is Sunday.
    fn weekday = "weekday"(col: IntoColumn);
    /// The week of the year of a date. Weeks start on Monday, and the first has more than 3 days of the year.
    fn weekofyear = "weekofyear"(col: IntoColumn);
    /// The bucket of `value` in a histogram of `num_bucket` buckets of the same width.
    fn width_bucket = "width_bucket"(v: IntoColumn, min: IntoColumn, max: IntoColumn, num_bucket: IntoColumn);
    /// The last microsecond of a window.
    fn window_time = "window_time"(window_column: IntoColumn);
    /// The texts of the nodes that a path leads to; NULL for nodes that are no text.
    fn xpath = "xpath"(xml: IntoColumn, path: IntoColumn);
    /// Whether a path is true, or leads to a node.
    fn xpath_boolean = "xpath_boolean"(xml: IntoColumn, path: IntoColumn);
    /// The number that a path leads to; NaN for what is none.
    fn xpath_double = "xpath_double"(xml: IntoColumn, path: IntoColumn);
    /// The number that a path leads to; NaN for what is none.
    fn xpath_float = "xpath_float"(xml: IntoColumn, path: IntoColumn);
    /// The whole number that a path leads to; 0 for what is none.
    fn xpath_int = "xpath_int"(xml: IntoColumn, path: IntoColumn);
    /// The whole number that a path leads to; 0 for what is none.
    fn xpath_long = "xpath_long"(xml: IntoColumn, path: IntoColumn);
    /// The number that a path leads to; NaN for what is none.
    fn xpath_number = "xpath_number"(xml: IntoColumn, path: IntoColumn);
    /// The whole number that a path leads to; 0 for what is none.
    fn xpath_short = "xpath_short"(xml: IntoColumn, path: IntoColumn);
    /// The text of the first node that a path leads to.
    fn xpath_string = "xpath_string"(xml: IntoColumn, path: IntoColumn);
    /// A hash of 64 bits of the arguments by xxHash.
    fn xxhash64 = "xxhash64"(..columns);
    /// The year of a date.
    fn year = "year"(col: IntoColumn);
    /// Zero if the value is NULL, else the value.
    fn zeroifnull = "zeroifnull"(col: IntoColumn);
}
