import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

/** The part of a seal about one dataset. */
export interface DatasetSeal {
  readonly seal: number;
  readonly dataset: string;
  readonly form: string;
  readonly rows: number;
  readonly ends: number;
  readonly late: number;
  readonly changes: readonly string[];
  readonly root: string;
  readonly before: string | null;
}

/**
 * Returns the head of a dataset's chain: the SHA-256, in hexadecimal, of the part of the seal about the
 * dataset. This part contains the previous head.
 */
export function datasetHead(one: DatasetSeal): string {
  const changes = one.changes.map((change) => `change ${JSON.stringify(change)}\n`).join('');
  return hash(
    `chain-recorder dataset seal 1\nnumber ${one.seal}\ndataset ${one.dataset}\nform ${one.form}\nrows ${one.rows}\n` +
      `ends ${one.ends}\nlate ${one.late}\n${changes}root ${one.root}\nbefore ${one.before ?? 'none'}\n`,
  );
}

/** The content of a seal over all datasets. */
export interface SealStatement {
  readonly seal: number;
  readonly until: Date;
  readonly madeAt: Date;
  /** The head of the previous seal; null for the first seal. */
  readonly before: string | null;
  /** The newest head of each dataset. */
  readonly heads: readonly { readonly dataset: string; readonly head: string }[];
}

/** Renders the statement as text. This text is signed. Readers can store the text outside of the database. */
export function statementText({ seal, until, madeAt, before, heads }: SealStatement): string {
  const sorted = [...heads].sort((one, other) => (one.dataset < other.dataset ? -1 : 1));
  return (
    `chain-recorder seal 1\nnumber ${seal}\nuntil ${until.toISOString()}\nmade ${madeAt.toISOString()}\n` +
    `before ${before ?? 'none'}\n${sorted.map(({ dataset, head }) => `${dataset} ${head}\n`).join('')}`
  );
}

/**
 * Returns the head of the chain: the SHA-256 of the text of a statement in hexadecimal, equal to the output
 * of `sha256sum`.
 */
export const hashStatement = (statement: string): string => hash(statement);

/** Signs a statement. @returns the signature, and the public key as SPKI in base64 */
export function signStatement(statement: string, key: KeyObject): { signature: Buffer; publicKey: string } {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
  return { signature: sign(null, Buffer.from(statement), key), publicKey };
}

/**
 * Returns true if a signature is valid for a statement and a key (SPKI in base64). Returns false if the text
 * is not a key.
 */
export function isSigned(statement: string, signature: Buffer, publicKey: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
    return verify(null, Buffer.from(statement), key, signature);
  } catch {
    return false;
  }
}
