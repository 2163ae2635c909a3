import pg from 'pg';

/** The longest time that a query is held, ms: PostgreSQL counts it as time of the statement, which has a limit. */
const LONGEST = 5_000;

/**
 * A query that PostgreSQL is sent with its values, and carries out once it is told to. The values of a commit are a megabyte, which it reads
 * meanwhile.
 */
export class HeldQuery<Row extends pg.QueryResultRow> extends pg.Query<Row> {
  #isBegun = false;

  /**
   * @param after the query is carried out once this has resolved, and not at all where it rejects, or takes longer than `longest`
   * @param longest ms
   */
  constructor(config: pg.QueryConfig, after: Promise<unknown>, longest = LONGEST) {
    super(config);
    const submit = this.submit;
    this.submit = (connection) => {
      // What ends the messages of a query is sent later: to carry it out, and that nothing follows.
      const held: pg.Connection = Object.create(connection);
      const since = performance.now();
      let carryOut = () => {};
      held.execute = (...asked) => {
        carryOut = () => connection.execute(...asked);
        connection.flush();
      };
      held.sync = () => {
        const end = (begins: boolean) => {
          this.#isBegun = begins;
          connection.stream.cork();
          if (begins) carryOut();
          connection.sync();
          connection.stream.uncork();
        };
        after.then(
          () => end(performance.now() - since < longest),
          () => end(false),
        );
      };
      return submit.call(this, held);
    };
  }

  /** Whether PostgreSQL was told to carry it out. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** Asks it. @returns its rows; null: it was not carried out @throws what PostgreSQL refuses, or that the connection is lost */
  askOn(client: pg.ClientBase): Promise<Row[] | null> {
    return new Promise((resolve, reject) => {
      this.on('end', ({ rows }) => resolve(this.#isBegun ? rows : null));
      this.on('error', reject);
      client.query(this);
    });
  }
}
