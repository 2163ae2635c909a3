import type postgres from 'postgres';
import type { Config } from '../config/schema.ts';
import type { CheckResult } from '../lib/check-result.ts';
import type { ConfiguredFeed } from '../recording/active-feed.ts';
import { createConfiguration, HEARTBEAT_TIMEOUT_SECONDS } from '../recording/configuration.ts';
import { OTHER_NETWORK_FIX } from '../recording/membership.ts';
import { findTakenTargets } from '../recording/register.ts';

interface Process {
  readonly process: string;
  readonly recorder: string;
  readonly network: string;
  readonly digest: string;
}

/**
 * Checks the running processes of `up` on this database: those of this recorder must have the same network
 * and configuration, and other recorders must not record the same targets.
 */
export async function checkProcesses(
  sql: postgres.Sql,
  config: Config,
  watched: readonly ConfiguredFeed[],
): Promise<CheckResult[]> {
  const { recorder, network, digest } = createConfiguration(config, watched);
  const living = await sql<Process[]>`
    select p.process, p.recorder, c.network, p.digest
    from recorder.processes p join recorder.configurations c using (recorder, digest)
    where p.left_at is null and p.seen_at > now() - make_interval(secs => ${HEARTBEAT_TIMEOUT_SECONDS}) order by p.started_at`;
  const own = living.filter((one) => one.recorder === recorder);
  const bad = (found: string, fix?: string): CheckResult => ({
    check: 'processes',
    ok: false,
    found,
    ...(fix === undefined ? {} : { fix: fix }),
  });
  const other = own.find((one) => one.network !== network);
  if (other)
    return [
      bad(
        `${other.process} records ${other.network} into this database as "${recorder}", and this configuration says ${network}`,
        OTHER_NETWORK_FIX,
      ),
    ];
  const older = own.find((one) => one.digest !== digest);
  const taken = await findTakenTargets(sql, watched, { recorder, digest });
  const problems = [
    ...(older
      ? [
          bad(
            `${older.process} runs with another configuration than this one`,
            'start it again with this recorder.yaml; if it is meant to be another recorder, give it a name of its own (name:)',
          ),
        ]
      : []),
    ...taken.map((problem) => bad(problem)),
  ];
  if (problems.length > 0) return problems;
  const found =
    own.length === 0
      ? 'nothing records now: "chain-recorder up" does'
      : `${own.map((one) => one.process).join(', ')} ${own.length === 1 ? 'records' : 'record'}`;
  return [{ check: 'processes', ok: true, found }];
}
