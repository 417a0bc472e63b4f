-- All sales are in the table of days.
select o.total, d.total as by_day
from (select sum(amount) as total from {{ ref('stg_orders') }}) o
cross join (select sum(amount) as total from {{ ref('daily_sales') }}) d
where o.total <> d.total
