import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import type { SinkConfig } from '../config/changes-schema.ts';
import type { NamedSecrets } from '../config/named-secrets.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { createRedactor } from '../lib/redaction.ts';
import { callChannel, describeDeliveryError } from '../upstreams/deliver.ts';
import { DeliveryFailure } from '../upstreams/delivery-failure.ts';
import { quoteInexactNumbers } from '../upstreams/json.ts';
import {
  acquireSink,
  releaseSink,
  type SinkLease,
  storeSinkFailure,
  storeSinkProgress,
} from './change-sinks.ts';

/** Approximate maximum size of a batch, in characters. A longer change is sent alone. */
const MAX_BATCH_CHARACTERS = 4_000_000;
/** SQLSTATE for a cursor that `reporting.changes` rejects. */
const CURSOR_REJECTED = '22023';

/** Context for sending changes. */
export interface SendingContext {
  readonly sql: postgres.Sql;
  /** Name of the recorder. */
  readonly recorder: string;
  readonly secrets: NamedSecrets;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** A batch of changes as CloudEvents, each as JSON. */
interface Batch {
  readonly events: readonly string[];
  /** Cursor of the last change that was read; null if there is none. */
  readonly last: string | null;
}

/**
 * Sends pending changes to a sink in the order of the feed, one batch at a time. The next batch is sent after
 * the sink has accepted the previous batch and the cursor of that batch is stored. Delivery is at least once:
 * a batch whose response was lost is sent again under the same ids.
 * @returns the number of accepted changes
 */
export async function sendChanges(
  context: SendingContext,
  settings: SinkConfig,
  signal: AbortSignal,
): Promise<number> {
  const { sql, recorder, secrets, log } = context;
  let holding = await acquireSink(sql, recorder, settings.name, settings.startAt);
  if (!holding) return 0;
  const redact = createRedactor(secrets.values);
  for (let sent = 0; ; ) {
    try {
      const { events, last } = await nextBatch(context, holding, settings);
      if (last === null || signal.aborted) {
        await releaseSink(sql, holding);
        return sent;
      }
      if (events.length > 0) await post(settings, secrets, events, signal);
      if (!(await storeSinkProgress(sql, holding, last, events.length))) return sent;
      sent += events.length;
      holding = { ...holding, cursor: last };
    } catch (error) {
      const cause = describeDeliveryError(error, redact);
      if (!signal.aborted) {
        await storeSinkFailure(sql, holding, cause, error instanceof DeliveryFailure ? error.wait : null);
        log.warn(
          { sink: settings.name, cause },
          'changes could not be delivered to a sink: they are retried',
        );
      } else await releaseSink(sql, holding);
      return sent;
    }
  }
}

/**
 * Reads the next batch. If the feed rejects the cursor, the sink receives an event about this, and the feed
 * restarts with the oldest change that is kept.
 */
async function nextBatch(context: SendingContext, holding: SinkLease, settings: SinkConfig): Promise<Batch> {
  try {
    return await read(context, holding.cursor, settings);
  } catch (error) {
    if (holding.cursor === null || !isRefusal(error)) throw error;
    const reason = toErrorMessage(error);
    context.log.warn({ sink: settings.name, cause: reason }, 'the feed restarts for a sink');
    const { events, last } = await read(context, null, settings);
    return { events: [createRestartEvent(context.recorder, holding.cursor, reason), ...events], last };
  }
}

const isRefusal = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === CURSOR_REJECTED;

/**
 * Reads a batch.
 * @param after cursor of the last accepted change; null: from the oldest change
 */
async function read(
  { sql, recorder }: SendingContext,
  after: string | null,
  { batchSize, datasets }: SinkConfig,
): Promise<Batch> {
  // PostgreSQL formats the JSON, so that no digit is lost. Changes of other datasets also count for the
  // batch: the next batch continues after the last row.
  const rows = await sql<{ cursor: string; event: string | null }[]>`
    select cursor, event from (
      select c.number, c.cursor, c.event,
        coalesce(sum(length(c.event)) over (order by c.number rows between unbounded preceding and 1 preceding), 0) as before from (
        select row_number() over () as number, f.cursor, case when ${datasets === undefined} or f.dataset = any(${[...(datasets ?? [])]}::text[]) then
          jsonb_build_object('specversion', '1.0', 'id', f.cursor, 'source', ${sourceOf(recorder)}::text, 'type', 'chain-recorder.' || f.change,
            'subject', f.dataset, 'time', f.recorded_at, 'datacontenttype', 'application/json', 'data', jsonb_build_object(
              'dataset', f.dataset, 'change', f.change, 'happened_at', f.happened_at, 'version_id', f.version_id, 'run_id', f.run_id::text, 'key', f.key, 'content', f.content))::text end as event
        from reporting.changes(${after}, ${batchSize}) f) c) counted
    where before < ${MAX_BATCH_CHARACTERS} order by number`;
  return {
    events: rows.flatMap(({ event }) => (event === null ? [] : quoteInexactNumbers(event))),
    last: rows.at(-1)?.cursor ?? null,
  };
}

const sourceOf = (recorder: string) => `/chain-recorder/${encodeURIComponent(recorder)}`;

const createRestartEvent = (recorder: string, cursor: string, reason: string) =>
  JSON.stringify({
    specversion: '1.0',
    id: `${cursor}.restarted`,
    source: sourceOf(recorder),
    type: 'chain-recorder.restarted',
    datacontenttype: 'application/json',
    data: { after: cursor, reason },
  });

/** Sends changes. If the sink rejects the changes as too large, sends two halves one after the other. */
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
