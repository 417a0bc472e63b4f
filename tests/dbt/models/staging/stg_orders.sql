with source as (
    select * from {{ ref('raw_orders') }}
)

select
    id as order_id,
    customer_id,
    ordered_on,
    status,
    coalesce(amount, 0) as amount
from source
