import type postgres from 'postgres';
import { COMMIT_SETTINGS } from '../../src/db/client.ts';
import { connect } from '../../src/db/connect.ts';
import { type Step, stepsIn } from './plan-steps.ts';

/** A connection that returns the plans of its statements. */
export interface Explained {
  readonly sql: postgres.Sql;
  /** Another such connection, for commits. */
  readonly commits: postgres.Sql;
  /** The steps of all statements since the last call. */
  steps(): Step[];
}

/**
 * Opens a connection for statements and one for commits to a database, which log their plans (auto_explain).
 * @param settings of their sessions, beyond those of commits
 */
export async function openExplained(url: string, settings: Record<string, string> = {}): Promise<Explained> {
  let plans: unknown[] = [];
  const open = async (connection: Record<string, string>) => {
    const sql = connect(url, 0, {
      max: 1,
      connection,
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
    return sql;
  };
  return {
    sql: await open(settings),
    commits: await open({ ...COMMIT_SETTINGS, ...settings }),
    steps: () => {
      const steps = plans.flatMap(stepsIn);
      plans = [];
      return steps;
    },
  };
}
