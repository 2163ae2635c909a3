import { mintedBy, token, tokenNumber } from '../evm/collections.ts';
import { contractAt } from '../evm/contracts.ts';
import { type Answer, Refusal } from '../http/answer.ts';
import { type Call, nowSec } from '../http/call.ts';
import { type Operation, type PathParts, part } from '../http/operation.ts';
import { readPage, slice, sortKey } from '../http/paging.ts';
import { Query } from '../http/query.ts';
import type { DataService } from './data-service.ts';
import { addressOf, evmNetworkOf } from './evm-request.ts';

/** Returns the operations for the tokens of an NFT contract (ERC-721 or ERC-1155) and for a single token. */
export function nftTokens({ evm: networks, tokens }: DataService): Operation[] {
  function list(call: Call, parts: PathParts): Answer {
    const network = evmNetworkOf(networks, parts);
    const sec = nowSec(call);
    const contract = contractAt(network, addressOf(parts), sec);
    const page = readPage(call, new Query(call.query), tokens, { max: 100, standard: 10 });
    const count = contract === undefined ? 0 : mintedBy(contract, sec);
    const numbers = Array.from({ length: count }, (_, i) => i);
    const { items, nextPageToken } = slice(numbers, page, 'desc', (i) => sortKey(i, ''));
    const found = contract === undefined ? [] : items.map((i) => token(network, contract, i, sec));
    return { status: 200, document: { nextPageToken, tokens: found } };
  }

  function one(call: Call, parts: PathParts): Answer {
    const network = evmNetworkOf(networks, parts);
    const sec = nowSec(call);
    const contract = contractAt(network, addressOf(parts), sec);
    const id = part(parts, 'tokenId');
    const i = contract === undefined ? undefined : tokenNumber(contract, id, sec);
    if (contract === undefined || i === undefined) throw new Refusal(404, `Token ${id} not found`);
    return { status: 200, document: token(network, contract, i, sec) };
  }

  const path = '/v1/chains/{chainId}/nfts/collections/{address}/tokens';
  const shared = { service: 'data', units: 20, method: 'GET' } as const;
  return [
    { ...shared, name: 'listTokens', path, answer: list },
    { ...shared, name: 'getTokenDetails', path: `${path}/{tokenId}`, answer: one },
  ];
}
