/** Addresses of the services and the database, and the number of blocks. */
export interface Setup {
  readonly serviceUrl: string;
  readonly databaseUrl: string;
  readonly rows: number;
  /** The lists, for contenders that use lists. */
  readonly list?: string | undefined;
}

/** A timed task: from `run` to its end, any number of times. */
export interface Contender {
  /**
   *
   * @param round version of the requested lists
   * @returns the number of rows that it read or wrote
   */
  run(round: number): Promise<number>;
}

/** Creates a contender; its preparation is not timed. */
export type OpenContender = (setup: Setup) => Promise<Contender>;
