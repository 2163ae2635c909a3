import postgres from 'postgres';
import { type Step, stepsIn } from './plan-steps.ts';

/** A connection that tells how PostgreSQL carried out what it was asked. */
export interface Explained {
  readonly sql: postgres.Sql;
  /** The steps of all statements since the last call. */
  steps(): Step[];
}

/** Opens one connection to a database whose statements explain themselves (auto_explain). @param settings of its session */
export async function explained(url: string, settings: Record<string, string> = {}): Promise<Explained> {
  let plans: unknown[] = [];
  const sql = postgres(url, {
    max: 1,
    connection: settings,
    onnotice: ({ message = '' }) => {
      const [, plan] = /plan:\s*(\{.*\})/s.exec(message) ?? [];
      if (plan !== undefined) plans.push(JSON.parse(plan));
    },
  });
  await sql`load 'auto_explain'`;
  for (const [setting, value] of Object.entries({
    log_min_duration: '0',
    log_analyze: 'on',
    log_timing: 'off',
    log_format: 'json',
    log_level: 'notice',
    log_parameter_max_length: '0',
  }))
    await sql`select set_config(${`auto_explain.${setting}`}, ${value}, false)`;
  return {
    sql,
    steps: () => {
      const steps = plans.flatMap(stepsIn);
      plans = [];
      return steps;
    },
  };
}
