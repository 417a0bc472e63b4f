{{ config(
    materialized='table',
    file_format='json',
    partition_by=['country'],
    tblproperties={'owner_team': 'sales'},
    post_hook="analyze table {{ this }} compute statistics"
) }}

select b.full_name, b.spent, c.country
from {{ ref('big_spenders') }} b
join {{ ref('stg_customers') }} c on b.customer_id = c.customer_id
