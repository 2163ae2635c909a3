import type { JsonObject } from '../json.ts';
import { DAY } from '../network/periods.ts';
import { between, mix } from '../random.ts';
import type { Contract } from './contracts.ts';
import type { EvmNetwork } from './evm-network.ts';
import { lowerBound } from './sequence.ts';

/** Number of token ids of an ERC-1155 collection. */
export const CARDS = 6;

/** Maximum number of tokens of an ERC-721 collection, which mints a token every day and a half. */
const MAX_ERC721_TOKENS = 400;
/** Base of the token ids of more than 64 bits, which every seventh ERC-721 token has. */
const BEYOND = 2n ** 200n;

const STATUSES = ['INDEXED', 'INDEXED', 'INDEXED', 'UNREACHABLE_TOKEN_URI', 'UNINDEXED'];

/** Returns the number of tokens of a collection at a time (Unix seconds). */
export function mintedBy(contract: Contract, sec: number): number {
  if (contract.type === 'ERC-1155') return CARDS;
  if (contract.type !== 'ERC-721') return 0;
  return lowerBound(MAX_ERC721_TOKENS, (i) => contract.deployedAt + i * 1.5 * DAY <= sec);
}

/** Returns the id of a token in responses at a time (Unix seconds). */
function tokenId(network: EvmNetwork, contract: Contract, i: number, sec: number): string {
  const id = plainId(contract, i);
  const padded = network.facts.has('token-ids-padded', sec) && Math.floor(sec / 3600) % 2 === 1;
  return padded && id.length === 1 ? `0${id}` : id;
}

function plainId(contract: Contract, i: number): string {
  const id = BigInt(i + 1);
  return String(contract.type === 'ERC-721' && i % 7 === 6 ? BEYOND + id : id);
}

/** Returns the number of a token by its id; undefined if it has not been minted by a time (Unix seconds). */
export function tokenNumber(contract: Contract, id: string, sec: number): number | undefined {
  if (!/^\d{1,78}$/.test(id)) return undefined;
  const value = BigInt(id);
  const i = Number((value > BEYOND ? value - BEYOND : value) - 1n);
  return i >= 0 && i < mintedBy(contract, sec) && plainId(contract, i) === String(value) ? i : undefined;
}

/** Returns the metadata of a token, which is indexed again every 60 days. */
function metadata(network: EvmNetwork, contract: Contract, i: number, sec: number): JsonObject {
  const round = Math.floor((sec - contract.deployedAt) / (60 * DAY));
  const indexStatus = STATUSES[mix(network.seed, contract.number, i, round) % STATUSES.length] ?? 'UNKNOWN';
  if (indexStatus === 'UNINDEXED') return { indexStatus };
  const last = { metadataLastUpdatedTimestamp: contract.deployedAt + Math.max(0, round) * 60 * DAY };
  if (indexStatus !== 'INDEXED') return { indexStatus, ...last };
  const more =
    contract.type === 'ERC-721'
      ? { attributes: '[{"trait_type":"Mood","value":"calm"}]' }
      : { decimals: 0, properties: '{"rarity":"common"}' };
  return {
    indexStatus,
    ...last,
    name: network.facts.nameAt(`${contract.name} #${i + 1}`, sec),
    symbol: contract.symbol,
    imageUri: `ipfs://sandbox/${contract.number}/${i + 1}.png`,
    description: 'Simulated by the sandbox',
    animationUri: '',
    externalUrl: 'https://example.org/',
    background: 'ffffff',
    ...more,
  };
}

/** Returns an Erc721Token with its owner, who may change every 30 days, or an Erc1155Token. */
export function token(network: EvmNetwork, contract: Contract, i: number, sec: number): JsonObject {
  const shared = {
    address: contract.address,
    ercType: contract.type,
    tokenId: tokenId(network, contract, i, sec),
  };
  const rest = {
    tokenUri: `ipfs://sandbox/${contract.number}/${i + 1}`,
    metadata: metadata(network, contract, i, sec),
  };
  if (contract.type !== 'ERC-721') return { ...shared, ...rest };
  const month = Math.floor((sec + between(network.seed, 0, 29, i, 5) * DAY) / (30 * DAY));
  const holder = mix(network.seed, contract.number, i, month) % 12;
  const ownerAddress = holder < network.accounts ? network.address(holder) : network.counterparty(holder);
  const { address, ercType, tokenId: id } = shared;
  return {
    address,
    name: network.facts.nameAt(contract.name, sec),
    symbol: network.facts.nameAt(contract.symbol, sec),
    ercType,
    tokenId: id,
    ...rest,
    ownerAddress,
  };
}
