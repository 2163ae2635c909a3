import { gauge } from './family.ts';
import type { MetricPart } from './part.ts';
import { watchedProbes } from './watched-probes.ts';

const lag = gauge(
  'chain_recorder_ledger_lag_seconds',
  'How far the settled health ledger of the observer is behind. A minute and more: it stands still.',
  'observer',
);
const kept = gauge('chain_recorder_ledger_active', '1 while a process watches for the observer.', 'observer');
const refused = gauge(
  'chain_recorder_ledger_refused_probes',
  'Probes whose rows the database refuses: their ledgers stand still.',
  'observer',
);

/** How the health ledgers are kept. */
export const ledgers: MetricPart = {
  name: 'ledgers',
  about: 'How the health ledger of each observer is kept.',
  families: [lag, kept, refused],
  reader:
    ({ sql }) =>
    async () => {
      const rows = await sql<{ observer: string; lag: number; kept: boolean; refused: number }[]>`
        with watched as (${watchedProbes(sql)}),
        wanted as (select observer, min(wanted_at) as wanted_at from watched group by observer)
        select w.observer, greatest(0, extract(epoch from now() - greatest(o.settled_until, w.wanted_at)))::float8 as lag,
          coalesce(o.watching, false) as kept, coalesce(jsonb_array_length(o.refused), 0) as refused
        from wanted w left join reporting.node_observers o using (observer)
        order by 1`;
      return rows.flatMap((one) => [
        lag.of(one.lag, one.observer),
        kept.of(one.kept ? 1 : 0, one.observer),
        refused.of(one.refused, one.observer),
      ]);
    },
};
