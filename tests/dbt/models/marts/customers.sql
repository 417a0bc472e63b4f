with orders as (
    select
        customer_id,
        min(ordered_on) as first_order,
        max(ordered_on) as latest_order,
        count(*) as orders,
        sum(amount) as spent
    from {{ ref('stg_orders') }}
    where status <> 'returned'
    group by customer_id
)

select
    c.customer_id,
    c.full_name,
    o.first_order,
    o.latest_order,
    coalesce(o.orders, 0) as orders,
    cast(coalesce(o.spent, 0) as decimal(20,2)) as spent,
    rank() over (order by coalesce(o.spent, 0) desc) as place
from {{ ref('stg_customers') }} c
left join orders o using (customer_id)
