/** Requests of a client before its first message: to encrypt the connection (SSLRequest, GSSENCRequest). */
const ENCRYPTION: ReadonlySet<number> = new Set([80_877_103, 80_877_104]);

/**
 * Parses the messages of a client to PostgreSQL (protocol 3.0), as far as needed to identify its statements: a prepared
 * statement is sent once with its text and then only named.
 */
export class PostgresMessages {
  readonly #statements = new Map<string, string>();
  #rest = Buffer.alloc(0);
  #started = false;

  /** Parses received bytes. @returns the texts of the statements that were executed in them */
  read(chunk: Buffer): string[] {
    const executed: string[] = [];
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const head = this.#started ? 1 : 0; // the first message has no type
      if (this.#rest.length < head + 4) return executed;
      const length = this.#rest.readInt32BE(head);
      if (this.#rest.length < head + length) return executed;
      const type = this.#started ? String.fromCharCode(this.#rest[0] ?? 0) : '';
      const body = this.#rest.subarray(head + 4, head + length);
      this.#rest = this.#rest.subarray(head + length);
      // A standby requests encryption first. The next message has no type either.
      if (!this.#started) this.#started = !ENCRYPTION.has(body.readInt32BE(0));
      if (type === 'P') {
        const [name = '', text = ''] = strings(body, 2);
        this.#statements.set(name, text);
      }
      if (type === 'B') executed.push(this.#statements.get(strings(body, 2)[1] ?? '') ?? '');
      if (type === 'Q') executed.push(strings(body, 1)[0] ?? '');
    }
  }
}

/** The first zero-terminated strings of a message. */
function strings(body: Buffer, count: number): string[] {
  const found: string[] = [];
  let at = 0;
  while (found.length < count) {
    const end = body.indexOf(0, at);
    if (end < 0) return found;
    found.push(body.toString('utf8', at, end));
    at = end + 1;
  }
  return found;
}
