import type { ProbeQueryResult } from '../../src/health/prober-context.ts';
import { answeringServer, cases, some } from '../upstreams/answer-table.ts';
import { closeFailing, failing } from '../upstreams/failing-upstreams.ts';
import { look } from './probe-once.ts';

/** A behaviour of a node: its response as the recorder reads it, and the state that the table of responses requires. */
export interface Cause {
  readonly name: string;
  readonly state: 'up' | 'down' | 'unknown';
  readonly look: ProbeQueryResult;
}

/** Gives each check the time of the probe: a timestamp that does not change is stale. */
export const lookAt = (seen: ProbeQueryResult, now: number): ProbeQueryResult => ({
  ...seen,
  checks: seen.checks?.map((check) => ({ ...check, timestamp: `${now}` })) ?? null,
});

/** Causes of which the network may be at fault. */
const OF_THE_NETWORK = /^silence/;

/**
 * Repeats the probe while a busy machine misses the recorder's own deadline. A case with its own deadline has less than
 * 1 s.
 */
async function lookInTime(...asked: Parameters<typeof look>): Promise<ProbeQueryResult> {
  for (;;) {
    const seen = await look(...asked);
    if (!/no complete response within \d{4} ms/.test(seen.error ?? '')) return seen;
  }
}

/** Probes each response of the table and each failure without a response once, over HTTP. */
export async function gatherCauses() {
  const server = await answeringServer();
  const [answers, failures] = await Promise.all([
    some(async (at): Promise<Cause[]> => {
      const one = cases[at];
      return one ? [{ ...one, look: await lookInTime(`${server.url}/${at}`) }] : [];
    }),
    Promise.all(
      failing.map(
        async ({
          name,
          state,
          url,
          deadline = 20_000,
        }): Promise<Cause & { readonly cutOff: ProbeQueryResult }> => {
          const at = await url();
          const [seen, cutOff] = await Promise.all([
            lookInTime(at, false, deadline),
            lookInTime(at, true, deadline),
          ]);
          return { name, state, look: seen, cutOff };
        },
      ),
    ),
  ]);
  await server.close();
  await closeFailing();
  const cutOff = failures.flatMap(({ name, cutOff: seen }): Cause[] =>
    OF_THE_NETWORK.test(name) ? [{ name: `${name} of everything`, state: 'unknown', look: seen }] : [],
  );
  return { causes: [...failures, ...answers.flat()], cutOff };
}
