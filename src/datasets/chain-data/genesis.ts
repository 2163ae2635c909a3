import { createHash } from 'node:crypto';
import { jsonText } from '../../upstreams/json.ts';
import { getEntries, getMember } from '../sources/answer.ts';

/**
 * Returns the key of a genesis, which is stored once for all blockchains: the SHA-256 of its JSON text, in
 * hexadecimal.
 */
export function genesisHash(genesis: unknown): string {
  return createHash('sha256').update(jsonText(genesis)).digest('hex');
}

/**
 * Returns the genesis of a blockchain, an object or a text in the format of its virtual machine. Returns
 * undefined if the response has none.
 */
export function genesisOf(blockchain: unknown): unknown {
  return getMember(blockchain, 'genesisData') ?? undefined;
}

/** Returns a blockchain with its genesis replaced by the key. */
export function withGenesisHash(blockchain: unknown): unknown {
  const genesis = genesisOf(blockchain);
  if (genesis === undefined) return blockchain;
  const others = getEntries(blockchain).filter(([name]) => name !== 'genesisData');
  return { ...Object.fromEntries(others), genesisHash: genesisHash(genesis) };
}
