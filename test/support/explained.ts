import pg from 'pg';
import postgres from 'postgres';
import { type BulkClient, COMMITTING, type Prepared, queryOf } from '../../src/db/bulk-client.ts';
import { sessionConfig } from '../../src/db/session.ts';
import { type Step, stepsIn } from './plan-steps.ts';

/** A connection that tells how PostgreSQL carried out what it was asked. */
export interface Explained {
  readonly sql: postgres.Sql;
  /** Another connection that tells it, too, for commits. */
  readonly bulk: BulkClient;
  /** The steps of all statements since the last call. */
  steps(): Step[];
}

/**
 * Opens a connection for statements and one for commits to a database, which explain themselves (auto_explain).
 * @param settings of their sessions, beyond those that sessions of commits have
 */
export async function explained(url: string, settings: Record<string, string> = {}): Promise<Explained> {
  let plans: unknown[] = [];
  const heard = ({ message = '' }: { readonly message?: string | undefined }) => {
    const [, plan] = /plan:\s*(\{.*\})/s.exec(message) ?? [];
    if (plan !== undefined) plans.push(JSON.parse(plan));
  };
  const sql = postgres(url, {
    max: 1,
    connection: settings,
    onnotice: heard,
  });
  const client = new pg.Client({
    connectionString: url,
    ...sessionConfig({ ...COMMITTING, ...settings }),
  });
  client.on('notice', heard);
  client.on('error', () => {});
  await client.connect();
  await sql`load 'auto_explain'`;
  await client.query(`load 'auto_explain'`);
  for (const [setting, value] of Object.entries({
    log_min_duration: '0',
    log_analyze: 'on',
    log_timing: 'off',
    log_format: 'json',
    log_level: 'notice',
    log_parameter_max_length: '0',
  })) {
    await sql`select set_config(${`auto_explain.${setting}`}, ${value}, false)`;
    await client.query('select set_config($1, $2, false)', [`auto_explain.${setting}`, value]);
  }
  return {
    sql,
    bulk: {
      isIdle: () => true,
      ask: async <Row extends pg.QueryResultRow>(
        statement: Prepared<Row>,
        values: readonly unknown[],
        keepsPlan = true,
      ) => (await client.query<Row>(queryOf(statement, values, keepsPlan))).rows,
      end: () => client.end(),
    },
    steps: () => {
      const steps = plans.flatMap(stepsIn);
      plans = [];
      return steps;
    },
  };
}
