{{ config(materialized='incremental', incremental_strategy='append', on_schema_change='append_new_columns') }}

select
    order_id,
    status,
    amount,
    {{ cents('amount') }} as cents
from {{ ref('stg_orders') }}
{% if is_incremental() %}
where order_id > (select max(order_id) from {{ this }})
{% endif %}
