-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
select md5('nft_tokens ' || length(chain_id) || ':' || chain_id || length(collection) || ':' || collection || token_id || ',' || epoch_us(valid_from) || ',')::uuid as version_id, chain_id, collection, token_id, erc_type, name, symbol, token_uri, owner_address, metadata_index_status, metadata_last_updated_timestamp, metadata_name, metadata_symbol, metadata_image_uri, metadata_description, metadata_animation_uri, metadata_external_url, metadata_background, metadata_attributes, metadata_decimals, metadata_properties, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'nft_tokens') }}
qualify row_number() over (partition by chain_id, collection, token_id, valid_from order by exported_at desc) = 1
