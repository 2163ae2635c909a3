import { createHash } from 'node:crypto';
import { jsonText } from '../../upstreams/json.ts';
import { entriesOf, memberOf } from '../sources/answer.ts';

/** The name under which a genesis is stored once, for all blockchains: the SHA-256 of its JSON text, in hexadecimal. */
export function genesisHash(genesis: unknown): string {
  return createHash('sha256').update(jsonText(genesis)).digest('hex');
}

/** The genesis of a blockchain, an object or a virtual machine's own text; undefined where none is shown. */
export function genesisOf(blockchain: unknown): unknown {
  return memberOf(blockchain, 'genesisData') ?? undefined;
}

/** A blockchain with its genesis by name only. */
export function withGenesisHash(blockchain: unknown): unknown {
  const genesis = genesisOf(blockchain);
  if (genesis === undefined) return blockchain;
  const others = entriesOf(blockchain).filter(([name]) => name !== 'genesisData');
  return { ...Object.fromEntries(others), genesisHash: genesisHash(genesis) };
}
