import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import type { SinkConfig } from '../config/changes-schema.ts';
import type { NamedSecrets } from '../config/named-secrets.ts';
import { messageOf } from '../lib/errors.ts';
import { redactor } from '../lib/redaction.ts';
import { callChannel, causeOf } from '../upstreams/deliver.ts';
import { DeliveryFailure } from '../upstreams/delivery-failure.ts';
import { quoteInexactNumbers } from '../upstreams/json.ts';
import { holdSink, noteNotTaken, noteTaken, releaseSink, type SinkHolding } from './change-sinks.ts';

/** The most characters of one batch, about; a change that is longer goes alone. */
const MOST_CHARACTERS = 4_000_000;
/** PostgreSQL's code for a cursor that `reporting.changes` refuses. */
const REFUSED = '22023';

/** What changes are sent with. */
export interface SendingContext {
  readonly sql: postgres.Sql;
  /** The recorder's name. */
  readonly recorder: string;
  readonly secrets: NamedSecrets;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Some changes as CloudEvents, each as JSON. */
interface Batch {
  readonly events: readonly string[];
  /** The last change that was looked at; null: there is none. */
  readonly last: string | null;
}

/**
 * Sends a sink what waits for it, in the order of the feed, a batch at a time: the next one goes once the sink took the one before, and
 * that is noted. What may have arrived although its end is not known is sent again under the same ids.
 * @returns how many changes it took
 */
export async function sendChanges(
  context: SendingContext,
  settings: SinkConfig,
  signal: AbortSignal,
): Promise<number> {
  const { sql, recorder, secrets, log } = context;
  let holding = await holdSink(sql, recorder, settings.name, settings.startAt);
  if (!holding) return 0;
  const redact = redactor(secrets.values);
  for (let sent = 0; ; ) {
    try {
      const { events, last } = await nextBatch(context, holding, settings);
      if (last === null || signal.aborted) {
        await releaseSink(sql, holding);
        return sent;
      }
      if (events.length > 0) await post(settings, secrets, events, signal);
      if (!(await noteTaken(sql, holding, last, events.length))) return sent;
      sent += events.length;
      holding = { ...holding, cursor: last };
    } catch (error) {
      const cause = causeOf(error, redact);
      if (!signal.aborted) {
        await noteNotTaken(sql, holding, cause, error instanceof DeliveryFailure ? error.wait : null);
        log.warn({ sink: settings.name, cause }, 'a sink did not take changes: it is tried again');
      } else await releaseSink(sql, holding);
      return sent;
    }
  }
}

/** The next changes. Where the feed does not go on after the last one, the sink is told so, and begins anew with the oldest that is kept. */
async function nextBatch(
  context: SendingContext,
  holding: SinkHolding,
  settings: SinkConfig,
): Promise<Batch> {
  try {
    return await read(context, holding.cursor, settings);
  } catch (error) {
    if (holding.cursor === null || !isRefusal(error)) throw error;
    const reason = messageOf(error);
    context.log.warn({ sink: settings.name, cause: reason }, 'the feed begins anew for a sink');
    const { events, last } = await read(context, null, settings);
    return { events: [begunAnew(context.recorder, holding.cursor, reason), ...events], last };
  }
}

const isRefusal = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === REFUSED;

/** @param after the last change that was taken; null: from the oldest */
async function read(
  { sql, recorder }: SendingContext,
  after: string | null,
  { batch, datasets }: SinkConfig,
): Promise<Batch> {
  // JSON is made by PostgreSQL, so that no digit is lost. Changes that the sink does not ask for end with the batch as well: the next one
  // goes on after the last row.
  const rows = await sql<{ cursor: string; event: string | null }[]>`
    select cursor, event from (
      select c.number, c.cursor, c.event,
        coalesce(sum(length(c.event)) over (order by c.number rows between unbounded preceding and 1 preceding), 0) as before from (
        select row_number() over () as number, f.cursor, case when ${datasets === undefined} or f.dataset = any(${[...(datasets ?? [])]}::text[]) then
          jsonb_build_object('specversion', '1.0', 'id', f.cursor, 'source', ${sourceOf(recorder)}::text, 'type', 'chain-recorder.' || f.change,
            'subject', f.dataset, 'time', f.recorded_at, 'datacontenttype', 'application/json', 'data', jsonb_build_object(
              'dataset', f.dataset, 'change', f.change, 'happened_at', f.happened_at, 'run_id', f.run_id::text, 'key', f.key, 'content', f.content))::text end as event
        from reporting.changes(${after}, ${batch}) f) c) counted
    where before < ${MOST_CHARACTERS} order by number`;
  return {
    events: rows.flatMap(({ event }) => (event === null ? [] : quoteInexactNumbers(event))),
    last: rows.at(-1)?.cursor ?? null,
  };
}

const sourceOf = (recorder: string) => `/chain-recorder/${encodeURIComponent(recorder)}`;

const begunAnew = (recorder: string, cursor: string, reason: string) =>
  JSON.stringify({
    specversion: '1.0',
    id: `${cursor}.begun-anew`,
    source: sourceOf(recorder),
    type: 'chain-recorder.begun-anew',
    datacontenttype: 'application/json',
    data: { after: cursor, reason },
  });

/** Sends changes, in halves if the sink refuses them as too large. */
async function post(
  settings: SinkConfig,
  secrets: NamedSecrets,
  events: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  try {
    await postOnce(settings, secrets, events, signal);
  } catch (error) {
    const isTooLarge = error instanceof DeliveryFailure && error.kind === 'too-large';
    if (!isTooLarge || events.length < 2) throw error;
    const middle = Math.ceil(events.length / 2);
    await post(settings, secrets, events.slice(0, middle), signal);
    await post(settings, secrets, events.slice(middle), signal);
  }
}

async function postOnce(
  { url, headers }: SinkConfig,
  secrets: NamedSecrets,
  events: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await callChannel(
    {
      url: secrets.fill(url),
      headers: {
        'content-type': 'application/cloudevents-batch+json; charset=utf-8',
        ...Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), secrets.fill(value)])),
      },
      body: `[${events.join(',')}]`,
    },
    signal,
  );
}
