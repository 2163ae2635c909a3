import { gauge } from './family.ts';
import type { MetricPart } from './part.ts';

const limit = gauge(
  'chain_recorder_budget_limit_units',
  'Budget units that the configuration allows for the upstream in a minute or a day (UTC).',
  'upstream',
  'window',
);
const left = gauge(
  'chain_recorder_budget_left_units',
  'Of these, what is left of the minute or the day (UTC) under way.',
  'upstream',
  'window',
);

/** What may still be asked of the services. */
export const allowances: MetricPart = {
  name: 'budgets',
  about:
    'What may still be asked of the services, where `recorder.yaml` names a limit (`upstreams.*.budget`).',
  families: [limit, left],
  reader:
    ({ sql, budgets, upstreams }) =>
    async () => {
      const used = await sql<{ upstream: string; minute: number; day: number }[]>`
        select upstream, case when b.minute = date_trunc('minute', now()) then b.minute_units else 0 end::float8 as minute,
          case when b.day = (now() at time zone 'UTC')::date then b.day_units else 0 end::float8 as day
        from recorder.budgets b join unnest(${budgets.map(({ upstream }) => upstream)}::text[],
          ${budgets.map(({ endpoint }) => endpoint)}::text[]) as mine(upstream, endpoint) using (upstream, endpoint)`;
      const services = { chainData: upstreams.chainData, metrics: upstreams.metrics };
      return Object.entries(services).flatMap(([upstream, service]) => {
        const spent = used.find((one) => one.upstream === upstream);
        const windows = [
          ['minute', service?.budget?.perMinute, spent?.minute],
          ['day', service?.budget?.perDay, spent?.day],
        ] as const;
        return windows.flatMap(([window, most, units = 0]) =>
          most === undefined
            ? []
            : [limit.of(most, upstream, window), left.of(Math.max(0, most - units), upstream, window)],
        );
      });
    },
};
