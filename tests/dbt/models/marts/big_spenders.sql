{{ config(materialized='ephemeral') }}

select customer_id, full_name, spent from {{ ref('customers') }} where spent > 10
