-- Made by "npm run docs".
select chain_id, deployer, address, erc_type, name, symbol, decimals, description, official_site, email, logo_asset_asset_id, logo_asset_image_uri, banner_asset_asset_id, banner_asset_image_uri, color, resource_links, tags, deployment_details_tx_hash, deployment_details_deployer_address, deployment_details_deployer_contract_address, pricing_providers_coingecko_coin_id, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'deployed_contracts_history') }}
