import type { ProbeQueryResult } from '../../src/health/prober-context.ts';
import { cases, mapCases, startCaseServer } from '../upstreams/answer-table.ts';
import { closeFailingUpstreams, failingUpstreams } from '../upstreams/failing-upstreams.ts';
import { probeOnce } from './probe-once.ts';

/** A behaviour of a node: its response as the recorder reads it, and the state that the table of responses requires. */
export interface Cause {
  readonly name: string;
  readonly state: 'up' | 'down' | 'unknown';
  readonly result: ProbeQueryResult;
}

/** Gives each check the time of the probe: a timestamp that does not change is stale. */
export const withProbeTime = (result: ProbeQueryResult, now: number): ProbeQueryResult => ({
  ...result,
  checks: result.checks?.map((check) => ({ ...check, timestamp: `${now}` })) ?? null,
});

/** Causes of which the network may be at fault. */
const NETWORK_CAUSES = /^silence/;

/**
 * Repeats the probe while a busy machine misses the recorder's own deadline. A case with its own deadline has less than
 * 1 s.
 */
async function probeWithRetry(...parameters: Parameters<typeof probeOnce>): Promise<ProbeQueryResult> {
  for (;;) {
    const result = await probeOnce(...parameters);
    if (!/no complete response within \d{4} ms/.test(result.error ?? '')) return result;
  }
}

/** Probes each response of the table and each failure without a response once, over HTTP. */
export async function gatherCauses() {
  const server = await startCaseServer();
  const [answers, failures] = await Promise.all([
    mapCases(async (at): Promise<Cause[]> => {
      const responseCase = cases[at];
      return responseCase ? [{ ...responseCase, result: await probeWithRetry(`${server.url}/${at}`) }] : [];
    }),
    Promise.all(
      failingUpstreams.map(
        async ({
          name,
          state,
          url,
          deadline = 20_000,
        }): Promise<Cause & { readonly cutOff: ProbeQueryResult }> => {
          const nodeUrl = await url();
          const [result, cutOff] = await Promise.all([
            probeWithRetry(nodeUrl, false, deadline),
            probeWithRetry(nodeUrl, true, deadline),
          ]);
          return { name, state, result, cutOff };
        },
      ),
    ),
  ]);
  await server.close();
  await closeFailingUpstreams();
  const cutOff = failures.flatMap(({ name, cutOff: result }): Cause[] =>
    NETWORK_CAUSES.test(name) ? [{ name: `${name} of everything`, state: 'unknown', result }] : [],
  );
  return { causes: [...failures, ...answers.flat()], cutOff };
}
