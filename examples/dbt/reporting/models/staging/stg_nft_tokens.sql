-- Made by "npm run docs".
select chain_id, collection, token_id, erc_type, name, symbol, token_uri, owner_address, metadata_index_status, metadata_last_updated_timestamp, metadata_name, metadata_symbol, metadata_image_uri, metadata_description, metadata_animation_uri, metadata_external_url, metadata_background, metadata_attributes, metadata_decimals, metadata_properties, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'nft_tokens_history') }}
