import { splitIntoChunks } from '../../lib/chunk.ts';
import { callChannel } from '../../upstreams/deliver.ts';
import type { MakeChannel } from '../channel.ts';
import type { AlertItem, MessageBody } from '../message.ts';

/**
 * Time until an alert expires in Alertmanager unless it is sent again, in ms. The time is longer than several
 * rounds, so that a few missed rounds have no effect.
 */
const EXPIRY_MS = 5 * 60_000;
const TEST_EXPIRY_MS = 60_000;
/** Maximum number of alerts in one request. Alertmanager deduplicates alerts, so parts can be repeated. */
const MAX_ALERTS_PER_REQUEST = 50;

/**
 * Channel for Alertmanager's API v2. Alertmanager deduplicates alerts by their labels. Alertmanager expires
 * alerts that are not sent again, so the firing alerts are repeatedly sent with a later end. A message may
 * have waited for hours, and the clocks may differ. The ends are therefore computed from the `Date` header of
 * a response of Alertmanager.
 */
export const alertmanager: MakeChannel<'alertmanager'> = ({ url, headers }) => {
  const address = `${url.replace(/\/$/, '')}/api/v2/alerts`;
  const named = Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value]));
  const post = async (bodies: readonly MessageBody[], signal: AbortSignal) => {
    const call = (body: unknown) => callChannel({ url: address, headers: named, body }, signal);
    const { headers: responseHeaders } = await call([]);
    const there = Date.parse(String(responseHeaders.date));
    const alerts = bodies.flatMap((body) => {
      const now = Number.isNaN(there) ? Date.parse(body.at) : there;
      return body.items.map((item) => alertOf(body, item, now));
    });
    for (const part of splitIntoChunks(alerts, MAX_ALERTS_PER_REQUEST)) await call(part);
  };
  return { send: (message, signal) => post([message], signal), refresh: post };
};

/**
 * Returns an alert in the format of Alertmanager.
 * @param now time of the Alertmanager server, in ms since 1970
 */
function alertOf(body: MessageBody, item: AlertItem, now: number) {
  const { kind, rule, recorder, network, runbook, at } = body;
  const lasts = kind === 'test' ? TEST_EXPIRY_MS : EXPIRY_MS;
  const ends = item.resolvedAt === null ? now + lasts : Math.min(Date.parse(item.resolvedAt), now);
  return {
    labels: { alertname: rule, severity: item.severity, subject: item.subject, recorder, network },
    annotations: {
      summary: item.summary,
      description: `${body.about} ${body.advice}`,
      ...(item.since !== null && { since: item.since }),
      ...(runbook !== null && { runbook_url: runbook }),
    },
    ...(body.page !== null && { generatorURL: body.page }),
    // Alertmanager rejects alerts that end before they start, which can happen after a clock was set back.
    startsAt: new Date(Math.min(Date.parse(item.firedAt ?? at), ends)).toISOString(),
    endsAt: new Date(ends).toISOString(),
  };
}
