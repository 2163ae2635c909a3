-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
select md5('erc1155_balances ' || length(chain_id) || ':' || chain_id || length(address) || ':' || address || length(contract) || ':' || contract || token_id || ',' || epoch_us(valid_from) || ',')::uuid as version_id, chain_id, address, contract, erc_type, token_id, token_uri, metadata_index_status, metadata_last_updated_timestamp, metadata_name, metadata_symbol, metadata_image_uri, metadata_description, metadata_animation_uri, metadata_external_url, metadata_background, metadata_attributes, metadata_decimals, metadata_properties, balance, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'erc1155_balances') }}
qualify row_number() over (partition by chain_id, address, contract, token_id, valid_from order by exported_at desc) = 1
