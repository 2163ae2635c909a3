-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as block_number_exact) absent, lateral (
select md5('erc1155_transfers ' || length(chain_id) || ':' || chain_id || length(address) || ':' || address || length(tx_hash) || ':' || tx_hash || log_index || ',' || token_id || ',' || epoch_us(valid_from) || ',')::uuid as version_id, chain_id, address, tx_hash, block_number, block_timestamp, block_timestamp_milliseconds, block_hash, log_index, from_address, from_name, from_symbol, from_decimals, from_logo_uri, to_address, to_name, to_symbol, to_decimals, to_logo_uri, value, erc1155_token_address, erc1155_token_erc_type, token_id, erc1155_token_token_uri, erc1155_token_metadata_index_status, erc1155_token_metadata_last_updated_timestamp, erc1155_token_metadata_name, erc1155_token_metadata_symbol, erc1155_token_metadata_image_uri, erc1155_token_metadata_description, erc1155_token_metadata_animation_uri, erc1155_token_metadata_external_url, erc1155_token_metadata_background, erc1155_token_metadata_attributes, erc1155_token_metadata_decimals, erc1155_token_metadata_properties, extra, valid_from, valid_to, run_id, block_number_exact
from {{ source('lake', 'erc1155_transfers') }}
qualify row_number() over (partition by chain_id, address, tx_hash, log_index, token_id, valid_from order by exported_at desc) = 1
) versions
