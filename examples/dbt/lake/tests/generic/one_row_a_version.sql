{% test one_row_a_version(model, key) %}
select {{ key }} from {{ model }} group by {{ key }} having count(*) > 1
{% endtest %}
