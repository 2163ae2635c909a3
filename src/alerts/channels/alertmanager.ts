import { callChannel } from '../../upstreams/deliver.ts';
import type { MakeChannel } from '../channel.ts';
import type { Body, Item } from '../message.ts';
import { linkOf } from '../texts.ts';

/** What is not told again for so long, ms, counts as over there: some rounds may be missed. */
const LASTS = 5 * 60_000;

/**
 * Alertmanager's API v2. Its labels make what is sent twice one alert. It forgets what is not told again, so what fires is told
 * with every round, each time with a later end.
 */
export const alertmanager: MakeChannel<'alertmanager'> = ({ url, headers }) => {
  const address = `${url.replace(/\/$/, '')}/api/v2/alerts`;
  const named = Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value]));
  const post = async (bodies: readonly Body[], signal: AbortSignal) => {
    await callChannel({ url: address, headers: named, body: bodies.flatMap(alertsOf) }, signal);
  };
  return { send: (message, signal) => post([message], signal), refresh: post };
};

const alertsOf = (body: Body) => body.items.map((item) => alertOf(body, item));

function alertOf(body: Body, item: Item) {
  const { rule, recorder, network, at } = body;
  const link = linkOf(body);
  const lasts = body.kind === 'test' ? 60_000 : LASTS;
  return {
    labels: { alertname: rule, severity: item.severity, subject: item.subject, recorder, network },
    annotations: {
      summary: item.summary,
      description: body.about,
      ...(item.since !== null && { since: item.since }),
      ...(link !== null && { runbook_url: link }),
    },
    startsAt: item.firedAt ?? at,
    endsAt: item.resolvedAt ?? new Date(Date.parse(at) + lasts).toISOString(),
  };
}
