/**
 * Undocumented behaviour that was observed in services and nodes, and a faulty node. Each fact can be
 * switched on.
 */
export const FACTS = {
  'health-moving-errors':
    'errors of failing checks contain durations, percentages and ids that differ at every probe',
  'health-error-object': 'the error of a failing check is an object with a message, as of old releases',
  'health-did-not-run':
    'a check that has not run reports "didn\'t run yet" with a real timestamp, as of 2020',
  'health-text-plain': 'the health report has the type text/plain',
  'peers-subnet-uptimes': 'each peer has observedSubnetUptimes, as of releases 1.9 and 1.10',
  'peers-ephemeral-ports': 'ip of inbound peers has another port after each reconnect',
  'balance-2021': 'platform.getBalance without the maps by asset',
  'validators-return':
    'every seventh validator leaves within hours and returns within a day, with a new start',
  'genesis-data-encoded': 'genesisData of chains that are no EVM is {encoding, data}',
  'balances-other-members': 'balances have members that are no list: numbers, texts and a flag',
  'node-few-members': 'no validators and peers for five minutes, few for five more, also while bootstrapping',
  'locktime-forever': 'locktime of the owners of subnets and validators is 2^64-1',
  'names-with-nul': 'names and symbols of tokens, contracts and assets contain NUL and lone surrogates',
  'token-ids-padded': 'token ids below ten are "1" in one hour and "01" in the next',
  'staking-new-types': 'the staking list has the transactions of auto-renewed validators',
  'supply-apart': 'a node counts one nAVAX of supply more than there is at its height',
} as const;

export type Fact = keyof typeof FACTS;

/** Returns the fact with a name. Returns undefined if there is no such fact. */
export function factOf(name: string): Fact | undefined {
  return Object.keys(FACTS).find((fact): fact is Fact => fact === name);
}

interface Switched {
  /** Start of the fact, in Unix seconds. */
  readonly since: number;
  /** Name of the only node to which the fact applies. Undefined: all nodes. */
  readonly node: string | undefined;
}

/** The facts that are switched on. */
export class Facts {
  readonly #on = new Map<Fact, Switched>();

  /**
   * Switches a fact on from a time (Unix seconds). A fact of nodes may be limited to the node with this name.
   */
  on(fact: Fact, since: number, node?: string): void {
    this.#on.set(fact, { since, node });
  }

  /** Switches a fact off. */
  off(fact: Fact): void {
    this.#on.delete(fact);
  }

  /**
   * Returns the start (Unix seconds) of a fact that applies at a time, for a node. Returns undefined if the
   * fact does not apply.
   */
  since(fact: Fact, sec: number, node?: string): number | undefined {
    const found = this.#on.get(fact);
    const meant = found !== undefined && (found.node ?? node) === node;
    return meant && found.since <= sec ? found.since : undefined;
  }

  /** Returns whether a fact applies at a time (Unix seconds), for a node. */
  has(fact: Fact, sec: number, node?: string): boolean {
    return this.since(fact, sec, node) !== undefined;
  }

  /**
   * Returns a name in the form of responses at a time (Unix seconds). While `names-with-nul` applies, the
   * name contains characters that PostgreSQL cannot store.
   */
  nameAt(name: string, sec: number): string {
    return this.has('names-with-nul', sec) ? `${name}\u0000\ud83d` : name;
  }

  /** Returns every fact with its description and, if it applies, its start. */
  list(): { readonly fact: Fact; readonly what: string; readonly since?: number; readonly node?: string }[] {
    return Object.entries(FACTS).flatMap(([name, what]) => {
      const fact = factOf(name);
      if (fact === undefined) return [];
      const on = this.#on.get(fact);
      if (on === undefined) return [{ fact, what }];
      return [{ fact, what, since: on.since, ...(on.node === undefined ? {} : { node: on.node }) }];
    });
  }
}
