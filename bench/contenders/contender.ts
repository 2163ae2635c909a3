/** Where a contender finds the services and the database, and how many blocks there are. */
export interface Setup {
  readonly serviceUrl: string;
  readonly databaseUrl: string;
  readonly rows: number;
  /** Which lists, for contenders that take lists. */
  readonly list?: string | undefined;
}

/** Something that is timed: from `run` to its end, as often as it is asked. */
export interface Contender {
  /**
   * @param round which version of the lists is asked for
   * @returns the rows it took or wrote
   */
  run(round: number): Promise<number>;
}

/** Makes a contender; what it prepares is not timed. */
export type OpenContender = (setup: Setup) => Promise<Contender>;
