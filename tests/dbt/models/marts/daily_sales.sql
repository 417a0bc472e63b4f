{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by=['ordered_on'],
    file_format='parquet'
) }}

select
    count(*) as orders,
    sum(amount) as amount,
    ordered_on
from {{ ref('stg_orders') }}
{% if is_incremental() %}
where ordered_on >= date'{{ var("since", "2024-01-01") }}'
{% endif %}
group by ordered_on
