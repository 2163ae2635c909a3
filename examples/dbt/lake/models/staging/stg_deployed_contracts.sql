-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
select md5('deployed_contracts ' || length(chain_id) || ':' || chain_id || length(deployer) || ':' || deployer || length(address) || ':' || address || epoch_us(valid_from) || ',')::uuid as version_id, chain_id, deployer, address, erc_type, name, symbol, decimals, description, official_site, email, logo_asset_asset_id, logo_asset_image_uri, banner_asset_asset_id, banner_asset_image_uri, color, resource_links, tags, deployment_details_tx_hash, deployment_details_deployer_address, deployment_details_deployer_contract_address, pricing_providers_coingecko_coin_id, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'deployed_contracts') }}
qualify row_number() over (partition by chain_id, deployer, address, valid_from order by exported_at desc) = 1
