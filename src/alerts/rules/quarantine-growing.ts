import { truncate } from '../message-texts.ts';
import type { AlertRule } from '../rule.ts';

/** Fires when new items cannot be decoded. */
export const quarantineGrowing: AlertRule = {
  name: 'quarantine-growing',
  about: 'Items could not be decoded or stored: an upstream changed its format or sent invalid data.',
  severity: 'warning',
  for: 0,
  every: 60_000,
  // After a change of an upstream, each poll may add an item. All these items are one alert.
  clear: 6 * 3_600_000,
  limits: { threshold: 1, minutes: 60 },
  dependsOn: ({ subject }) => [subject],
  evaluate: async ({ sql, at, limits }) => {
    const rows = await sql<{ dataset: string; items: number; since: Date; reason: string }[]>`
      select dataset, count(*)::int as items, min(first_seen) as since,
        (array_agg(reason order by first_seen desc, id desc))[1] as reason
      from reporting.quarantine
      where first_seen <= ${at}::timestamptz
        and first_seen > ${at}::timestamptz - make_interval(secs => ${limits.minutes * 60}::float8)
      group by dataset having count(*) >= ${limits.threshold} order by dataset`;
    return rows.map(({ dataset, items, since, reason }) => ({
      subject: dataset,
      summary: `${items} new ${items === 1 ? 'item' : 'items'} of ${dataset} in the quarantine, such as: ${truncate(reason, 300)}`,
      since,
      details: { items },
    }));
  },
};
