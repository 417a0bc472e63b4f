//! The classes by which Spark's descriptions and catalog call the functions.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Where most classes lie.
const PACKAGE: &str = "org.apache.spark.sql.catalyst.expressions.";
/// Where the others lie: those with a dot before them.
const OTHER_PACKAGE: &str = "org.apache.spark.sql.catalyst";

/// Functions with their classes.
const CLASSES: &str = "!=Not %=Remainder &=BitwiseAnd *=Multiply +=Add -=Subtract /=Divide <=LessThan <<=ShiftLeft \
    <==LessThanOrEqual <=>=EqualNullSafe ==EqualTo ===EqualTo >=GreaterThan >==GreaterThanOrEqual \
    >>=ShiftRight >>>=ShiftRightUnsigned ^=BitwiseXor abs=Abs acos=Acos acosh=Acosh add_months=AddMonths \
    aes_decrypt=AesDecrypt aes_encrypt=AesEncrypt aggregate=ArrayAggregate and=And any=aggregate.BoolOr \
    any_value=aggregate.AnyValue approx_count_distinct=aggregate.HyperLogLogPlusPlus \
    approx_percentile=aggregate.ApproximatePercentile approx_top_k=aggregate.ApproxTopK \
    approx_top_k_accumulate=aggregate.ApproxTopKAccumulate approx_top_k_combine=aggregate.ApproxTopKCombine \
    approx_top_k_estimate=ApproxTopKEstimate array=CreateArray array_agg=aggregate.CollectList \
    array_append=ArrayAppend array_compact=ArrayCompact array_contains=ArrayContains \
    array_distinct=ArrayDistinct array_except=ArrayExcept array_insert=ArrayInsert \
    array_intersect=ArrayIntersect array_join=ArrayJoin array_max=ArrayMax array_min=ArrayMin \
    array_position=ArrayPosition array_prepend=ArrayPrepend array_remove=ArrayRemove \
    array_repeat=ArrayRepeat array_size=ArraySize array_sort=ArraySort array_union=ArrayUnion \
    arrays_overlap=ArraysOverlap arrays_zip=ArraysZip ascii=Ascii asin=Asin asinh=Asinh \
    assert_true=AssertTrue atan=Atan atan2=Atan2 atanh=Atanh avg=aggregate.Average base64=Base64 \
    between=Between bigint=Cast bin=Bin binary=Cast bit_and=aggregate.BitAndAgg bit_count=BitwiseCount \
    bit_get=BitwiseGet bit_length=BitLength bit_or=aggregate.BitOrAgg bit_xor=aggregate.BitXorAgg \
    bitmap_and_agg=BitmapAndAgg bitmap_bit_position=BitmapBitPosition \
    bitmap_bucket_number=BitmapBucketNumber bitmap_construct_agg=BitmapConstructAgg bitmap_count=BitmapCount \
    bitmap_or_agg=BitmapOrAgg bool_and=aggregate.BoolAnd bool_or=aggregate.BoolOr boolean=Cast bround=BRound \
    btrim=StringTrimBoth cardinality=Size cast=Cast cbrt=Cbrt ceil=CeilExpressionBuilder \
    ceiling=CeilExpressionBuilder char=Chr char_length=Length character_length=Length chr=Chr \
    coalesce=Coalesce collate=CollateExpressionBuilder collation=Collation collations=Collations \
    collect_list=aggregate.CollectList collect_set=aggregate.CollectSet concat=Concat concat_ws=ConcatWs \
    contains=ContainsExpressionBuilder conv=Conv convert_timezone=ConvertTimezone corr=aggregate.Corr \
    cos=Cos cosh=Cosh cot=Cot count=aggregate.Count count_if=aggregate.CountIf \
    count_min_sketch=aggregate.CountMinSketchAggExpressionBuilder covar_pop=aggregate.CovPopulation \
    covar_samp=aggregate.CovSample crc32=Crc32 csc=Csc cume_dist=CumeDist curdate=CurDateExpressionBuilder \
    current_catalog=CurrentCatalog current_database=CurrentDatabase current_date=CurrentDate \
    current_path=CurrentPath current_schema=CurrentDatabase current_time=CurrentTime \
    current_timestamp=CurrentTimestamp current_timezone=CurrentTimeZone current_user=CurrentUser date=Cast \
    date_add=DateAdd date_diff=DateDiff date_format=DateFormatClass date_from_unix_date=DateFromUnixDate \
    date_part=DatePartExpressionBuilder date_sub=DateSub date_trunc=TruncTimestamp dateadd=DateAdd \
    datediff=DateDiff datepart=DatePartExpressionBuilder day=DayOfMonth dayname=DayName \
    dayofmonth=DayOfMonth dayofweek=DayOfWeek dayofyear=DayOfYear decimal=Cast decode=Decode \
    degrees=ToDegrees dense_rank=DenseRank div=IntegralDivide double=Cast e=EulerNumber element_at=ElementAt \
    elt=Elt encode=Encode endswith=EndsWithExpressionBuilder equal_null=EqualNull every=aggregate.BoolAnd \
    exists=ArrayExists exp=Exp explode=ExplodeExpressionBuilder explode_outer=ExplodeExpressionBuilder \
    expm1=Expm1 extract=Extract factorial=Factorial filter=ArrayFilter find_in_set=FindInSet \
    first=aggregate.First first_value=aggregate.First flatten=Flatten float=Cast \
    floor=FloorExpressionBuilder forall=ArrayForAll format_number=FormatNumber format_string=FormatString \
    from_avro=FromAvro from_csv=CsvToStructs from_json=JsonToStructs from_protobuf=FromProtobuf \
    from_unixtime=FromUnixTime from_utc_timestamp=FromUTCTimestamp from_xml=XmlToStructs get=Get \
    get_json_object=GetJsonObject getbit=BitwiseGet greatest=Greatest grouping=Grouping \
    grouping_id=GroupingID hash=Murmur3Hash hex=Hex histogram_numeric=aggregate.HistogramNumeric \
    hll_sketch_agg=aggregate.HllSketchAgg hll_sketch_estimate=HllSketchEstimate hll_union=HllUnion \
    hll_union_agg=aggregate.HllUnionAgg hour=HourExpressionBuilder hypot=Hypot if=If ifnull=Nvl ilike=ILike \
    in=In initcap=InitCap inline=InlineExpressionBuilder inline_outer=InlineExpressionBuilder \
    input_file_block_length=InputFileBlockLength input_file_block_start=InputFileBlockStart \
    input_file_name=InputFileName instr=StringInstr int=Cast is_valid_utf8=IsValidUTF8 \
    is_valid_variant=variant.IsValidVariant is_variant_null=variant.IsVariantNull isnan=IsNaN \
    isnotnull=IsNotNull isnull=IsNull java_method=CallMethodViaReflection \
    json_array_length=LengthOfJsonArray json_object_keys=JsonObjectKeys json_tuple=JsonTuple \
    kll_merge_agg_bigint=aggregate.KllMergeAggBigint kll_merge_agg_double=aggregate.KllMergeAggDouble \
    kll_merge_agg_float=aggregate.KllMergeAggFloat kll_sketch_agg_bigint=aggregate.KllSketchAggBigint \
    kll_sketch_agg_double=aggregate.KllSketchAggDouble kll_sketch_agg_float=aggregate.KllSketchAggFloat \
    kll_sketch_get_n_bigint=KllSketchGetNBigint kll_sketch_get_n_double=KllSketchGetNDouble \
    kll_sketch_get_n_float=KllSketchGetNFloat kll_sketch_get_quantile_bigint=KllSketchGetQuantileBigint \
    kll_sketch_get_quantile_double=KllSketchGetQuantileDouble \
    kll_sketch_get_quantile_float=KllSketchGetQuantileFloat \
    kll_sketch_get_rank_bigint=KllSketchGetRankBigint kll_sketch_get_rank_double=KllSketchGetRankDouble \
    kll_sketch_get_rank_float=KllSketchGetRankFloat kll_sketch_merge_bigint=KllSketchMergeBigint \
    kll_sketch_merge_double=KllSketchMergeDouble kll_sketch_merge_float=KllSketchMergeFloat \
    kll_sketch_to_string_bigint=KllSketchToStringBigint kll_sketch_to_string_double=KllSketchToStringDouble \
    kll_sketch_to_string_float=KllSketchToStringFloat kurtosis=aggregate.Kurtosis lag=Lag \
    last=aggregate.Last last_day=LastDay last_value=aggregate.Last lcase=Lower lead=Lead least=Least \
    left=Left len=Length length=Length levenshtein=Levenshtein like=Like listagg=aggregate.ListAgg ln=Log \
    localtimestamp=LocalTimestamp locate=StringLocate log=Logarithm log10=Log10 log1p=Log1p log2=Log2 \
    lower=Lower lpad=LPadExpressionBuilder ltrim=StringTrimLeft luhn_check=Luhncheck make_date=MakeDate \
    make_dt_interval=MakeDTInterval make_interval=MakeInterval make_time=MakeTime \
    make_timestamp=MakeTimestampExpressionBuilder make_timestamp_ltz=MakeTimestampLTZExpressionBuilder \
    make_timestamp_ntz=MakeTimestampNTZExpressionBuilder make_valid_utf8=MakeValidUTF8 \
    make_ym_interval=MakeYMInterval map=CreateMap map_concat=MapConcat map_contains_key=MapContainsKey \
    map_entries=MapEntries map_filter=MapFilter map_from_arrays=MapFromArrays \
    map_from_entries=MapFromEntries map_keys=MapKeys map_values=MapValues map_zip_with=MapZipWith \
    mask=MaskExpressionBuilder max=aggregate.Max max_by=aggregate.MaxByBuilder md5=Md5 \
    mean=aggregate.Average measure=aggregate.Measure median=aggregate.Median min=aggregate.Min \
    min_by=aggregate.MinByBuilder minute=MinuteExpressionBuilder mod=Remainder mode=aggregate.ModeBuilder \
    monotonically_increasing_id=MonotonicallyIncreasingID month=Month monthname=MonthName \
    months_between=MonthsBetween named_struct=CreateNamedStruct nanvl=NaNvl negative=UnaryMinus \
    next_day=NextDay not=Not now=Now nth_value=NthValue ntile=NTile nullif=NullIf nullifzero=NullIfZero \
    nvl=Nvl nvl2=Nvl2 octet_length=OctetLength or=Or overlay=Overlay \
    parse_json=variant.ParseJsonExpressionBuilder parse_url=ParseUrl percent_rank=PercentRank \
    percentile=aggregate.Percentile percentile_approx=aggregate.ApproximatePercentile \
    percentile_cont=aggregate.PercentileContBuilder percentile_disc=aggregate.PercentileDiscBuilder pi=Pi \
    pmod=Pmod posexplode=PosExplodeExpressionBuilder posexplode_outer=PosExplodeExpressionBuilder \
    position=StringLocate positive=UnaryPositive pow=Pow power=Pow printf=FormatString \
    python_worker_logs=.plans.logical.PythonWorkerLogs quarter=Quarter quote=Quote radians=ToRadians \
    raise_error=RaiseErrorExpressionBuilder rand=Rand randn=Randn random=Rand randstr=RandStr \
    range=.plans.logical.Range rank=Rank reduce=ArrayAggregate reflect=CallMethodViaReflection regexp=RLike \
    regexp_count=RegExpCount regexp_extract=RegExpExtract regexp_extract_all=RegExpExtractAll \
    regexp_instr=RegExpInStr regexp_like=RLike regexp_replace=RegExpReplace regexp_substr=RegExpSubStr \
    regr_avgx=aggregate.RegrAvgX regr_avgy=aggregate.RegrAvgY regr_count=aggregate.RegrCount \
    regr_intercept=aggregate.RegrIntercept regr_r2=aggregate.RegrR2 regr_slope=aggregate.RegrSlope \
    regr_sxx=aggregate.RegrSXX regr_sxy=aggregate.RegrSXY regr_syy=aggregate.RegrSYY repeat=StringRepeat \
    replace=StringReplace reverse=Reverse right=Right rint=Rint rlike=RLike round=Round row_number=RowNumber \
    rpad=RPadExpressionBuilder rtrim=StringTrimRight schema_of_avro=SchemaOfAvro schema_of_csv=SchemaOfCsv \
    schema_of_json=SchemaOfJson schema_of_variant=variant.SchemaOfVariant \
    schema_of_variant_agg=variant.SchemaOfVariantAgg schema_of_xml=SchemaOfXml sec=Sec \
    second=SecondExpressionBuilder sentences=Sentences sequence=Sequence session_user=CurrentUser \
    session_window=SessionWindow sha=Sha1 sha1=Sha1 sha2=Sha2 shiftleft=ShiftLeft shiftright=ShiftRight \
    shiftrightunsigned=ShiftRightUnsigned shuffle=Shuffle sign=Signum signum=Signum sin=Sin sinh=Sinh \
    size=Size skewness=aggregate.Skewness slice=Slice smallint=Cast some=aggregate.BoolOr \
    sort_array=SortArray soundex=SoundEx space=StringSpace spark_partition_id=SparkPartitionID \
    split=StringSplit split_part=SplitPart sql_keywords=SQLKeywords sqrt=Sqrt st_asbinary=st.ST_AsBinary \
    st_geogfromwkb=st.ST_GeogFromWKB st_geomfromwkb=st.ST_GeomFromWKB st_setsrid=st.ST_SetSrid \
    st_srid=st.ST_Srid stack=Stack startswith=StartsWithExpressionBuilder std=aggregate.StddevSamp \
    stddev=aggregate.StddevSamp stddev_pop=aggregate.StddevPop stddev_samp=aggregate.StddevSamp \
    str_to_map=StringToMap string=Cast string_agg=aggregate.ListAgg struct=CreateNamedStruct \
    substr=Substring substring=Substring substring_index=SubstringIndex sum=aggregate.Sum tan=Tan tanh=Tanh \
    theta_difference=ThetaDifference theta_intersection=ThetaIntersection \
    theta_intersection_agg=aggregate.ThetaIntersectionAgg theta_sketch_agg=aggregate.ThetaSketchAgg \
    theta_sketch_estimate=ThetaSketchEstimate theta_union=ThetaUnion theta_union_agg=aggregate.ThetaUnionAgg \
    time=Cast time_bucket=TimeBucketExpressionBuilder time_diff=TimeDiff time_from_micros=TimeFromMicros \
    time_from_millis=TimeFromMillis time_from_seconds=TimeFromSeconds time_to_micros=TimeToMicros \
    time_to_millis=TimeToMillis time_to_seconds=TimeToSeconds time_trunc=TimeTrunc timestamp=Cast \
    timestamp_micros=MicrosToTimestamp timestamp_millis=MillisToTimestamp \
    timestamp_seconds=SecondsToTimestamp tinyint=Cast to_avro=ToAvro to_binary=ToBinary \
    to_char=ToCharacterBuilder to_csv=StructsToCsv to_date=ParseToDate to_json=StructsToJson \
    to_number=ToNumber to_protobuf=ToProtobuf to_time=ToTime to_timestamp=ParseToTimestamp \
    to_timestamp_ltz=ParseToTimestampLTZExpressionBuilder \
    to_timestamp_ntz=ParseToTimestampNTZExpressionBuilder to_unix_timestamp=ToUnixTimestamp \
    to_utc_timestamp=ToUTCTimestamp to_varchar=ToCharacterBuilder to_variant_object=variant.ToVariantObject \
    to_xml=StructsToXml transform=ArrayTransform transform_keys=TransformKeys \
    transform_values=TransformValues translate=StringTranslate trim=StringTrim trunc=TruncDate \
    try_add=TryAdd try_aes_decrypt=TryAesDecrypt try_avg=aggregate.TryAverageExpressionBuilder \
    try_divide=TryDivide try_element_at=TryElementAt try_make_interval=TryMakeInterval \
    try_make_timestamp=TryMakeTimestampExpressionBuilder \
    try_make_timestamp_ltz=TryMakeTimestampLTZExpressionBuilder \
    try_make_timestamp_ntz=TryMakeTimestampNTZExpressionBuilder try_mod=TryMod try_multiply=TryMultiply \
    try_parse_json=variant.TryParseJsonExpressionBuilder try_parse_url=TryParseUrl try_reflect=TryReflect \
    try_subtract=TrySubtract try_sum=aggregate.TrySumExpressionBuilder try_to_binary=TryToBinary \
    try_to_date=TryToDateExpressionBuilder try_to_number=TryToNumber try_to_time=TryToTimeExpressionBuilder \
    try_to_timestamp=TryToTimestampExpressionBuilder try_url_decode=TryUrlDecode \
    try_validate_utf8=TryValidateUTF8 try_variant_get=variant.TryVariantGetExpressionBuilder \
    tuple_difference_double=TupleDifferenceDouble tuple_difference_integer=TupleDifferenceInteger \
    tuple_difference_theta_double=TupleDifferenceThetaDouble \
    tuple_difference_theta_integer=TupleDifferenceThetaInteger \
    tuple_intersection_agg_double=aggregate.TupleIntersectionAggDouble \
    tuple_intersection_agg_integer=aggregate.TupleIntersectionAggInteger \
    tuple_intersection_double=TupleIntersectionDouble tuple_intersection_integer=TupleIntersectionInteger \
    tuple_intersection_theta_double=TupleIntersectionThetaDouble \
    tuple_intersection_theta_integer=TupleIntersectionThetaInteger \
    tuple_sketch_agg_double=aggregate.TupleSketchAggDoubleExpressionBuilder \
    tuple_sketch_agg_integer=aggregate.TupleSketchAggIntegerExpressionBuilder \
    tuple_sketch_estimate_double=TupleSketchEstimateDouble \
    tuple_sketch_estimate_integer=TupleSketchEstimateInteger \
    tuple_sketch_summary_double=TupleSketchSummaryDouble \
    tuple_sketch_summary_integer=TupleSketchSummaryInteger tuple_sketch_theta_double=TupleSketchThetaDouble \
    tuple_sketch_theta_integer=TupleSketchThetaInteger \
    tuple_union_agg_double=aggregate.TupleUnionAggDoubleExpressionBuilder \
    tuple_union_agg_integer=aggregate.TupleUnionAggIntegerExpressionBuilder \
    tuple_union_double=TupleUnionDoubleExpressionBuilder \
    tuple_union_integer=TupleUnionIntegerExpressionBuilder \
    tuple_union_theta_double=TupleUnionThetaDoubleExpressionBuilder \
    tuple_union_theta_integer=TupleUnionThetaIntegerExpressionBuilder typeof=TypeOf ucase=Upper \
    unbase64=UnBase64 unhex=Unhex uniform=Uniform unix_date=UnixDate unix_micros=UnixMicros \
    unix_millis=UnixMillis unix_seconds=UnixSeconds unix_timestamp=UnixTimestamp upper=Upper \
    url_decode=UrlDecode url_encode=UrlEncode user=CurrentUser uuid=Uuid validate_utf8=ValidateUTF8 \
    var_pop=aggregate.VariancePop var_samp=aggregate.VarianceSamp variance=aggregate.VarianceSamp \
    variant_explode=variant.VariantExplodeGeneratorBuilder \
    variant_explode_outer=variant.VariantExplodeOuterGeneratorBuilder \
    variant_get=variant.VariantGetExpressionBuilder vector_avg=VectorAvg \
    vector_cosine_similarity=VectorCosineSimilarity vector_inner_product=VectorInnerProduct \
    vector_l2_distance=VectorL2Distance vector_norm=VectorNorm vector_normalize=VectorNormalize \
    vector_sum=VectorSum version=SparkVersion weekday=WeekDay weekofyear=WeekOfYear when=CaseWhen \
    width_bucket=WidthBucket window=TimeWindow window_time=WindowTime xpath=xml.XPathList \
    xpath_boolean=xml.XPathBoolean xpath_double=xml.XPathDouble xpath_float=xml.XPathFloat \
    xpath_int=xml.XPathInt xpath_long=xml.XPathLong xpath_number=xml.XPathDouble xpath_short=xml.XPathShort \
    xpath_string=xml.XPathString xxhash64=XxHash64 year=Year zeroifnull=ZeroIfNull zip_with=ZipWith \
    |=BitwiseOr ~=BitwiseNot";

/// The class of a function; None where Spark has none, as for `case`.
///
/// ```
/// use firesteel_functions::class::class_of;
/// assert_eq!(class_of("abs").as_deref(), Some("org.apache.spark.sql.catalyst.expressions.Abs"));
/// assert_eq!(class_of("case"), None);
/// ```
pub fn class_of(name: &str) -> Option<String> {
    static BY_NAME: OnceLock<HashMap<&str, &str>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| CLASSES.split_whitespace().filter_map(|word| word.rsplit_once('=')).collect());
    let class = by_name.get(name)?;
    let package = if class.starts_with('.') { OTHER_PACKAGE } else { PACKAGE };
    Some(format!("{package}{class}"))
}

#[cfg(test)]
mod tests {
    use super::class_of;
    use crate::registry;

    #[test]
    fn functions_without_a_class_are_the_words_of_the_language() {
        let without: Vec<&str> =
            registry::all().into_iter().map(|(name, _)| name).filter(|name| class_of(name).is_none()).collect();
        assert_eq!(without, ["!=", "<>", "case", "||"]);
    }

    #[test]
    fn operators_have_classes() {
        assert_eq!(class_of("==").as_deref(), Some("org.apache.spark.sql.catalyst.expressions.EqualTo"));
        assert_eq!(class_of("range").as_deref(), Some("org.apache.spark.sql.catalyst.plans.logical.Range"));
    }
}
