import pg from 'pg';
import postgres from 'postgres';
import type { BulkClient, Prepared } from '../../src/db/bulk-client.ts';
import { type Step, stepsIn } from './plan-steps.ts';

/** A connection that tells how PostgreSQL carried out what it was asked. */
export interface Explained {
  readonly sql: postgres.Sql;
  /** Another connection that tells it, too, for commits. */
  readonly bulk: BulkClient;
  /** The steps of all statements since the last call. */
  steps(): Step[];
}

/** Opens one connection to a database whose statements explain themselves (auto_explain). @param settings of its session */
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
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const client = new pg.Client({ connectionString: url, options: options.join(' ') });
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
      ask: async <Row extends pg.QueryResultRow>({ name, text }: Prepared<Row>, values: readonly unknown[]) =>
        (await client.query<Row>({ name, text, values: [...values] })).rows,
      end: () => client.end(),
    },
    steps: () => {
      const steps = plans.flatMap(stepsIn);
      plans = [];
      return steps;
    },
  };
}
