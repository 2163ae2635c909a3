import { pino } from 'pino';
import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { changesSchema } from '../../src/config/changes-schema.ts';
import { collectTexts, readReferencedSecrets } from '../../src/config/named-secrets.ts';
import { nativeTransactions } from '../../src/datasets/chain-data/native-transactions.ts';
import { subnets } from '../../src/datasets/chain-data/subnets.ts';
import { removeOldChanges } from '../../src/warehouse/change-sinks.ts';
import { sendChanges } from '../../src/warehouse/send-changes.ts';
import { withDatabase } from '../support/fixture.ts';
import {
  onlyPage,
  recordingContext,
  run,
  type ScriptedFeed,
  scriptedFeed,
} from '../support/scripted-feed.ts';
import { type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';

const SECRET = 'a-secret-of-the-sink';
const { it, sql } = withDatabase();
let server: UpstreamServer;
/** Status of the sink's responses. Default: it accepts. */
const answers: number[] = [];
const never = new AbortController().signal;
const lines: string[] = [];

beforeAll(async () => {
  server = await upstreamServer((_, response) => {
    const status = answers.shift() ?? 204;
    response
      .writeHead(status, status === 429 ? { 'retry-after': '60' } : {})
      .end(status > 299 ? `no: ${SECRET}` : '');
  });
});
afterAll(async () => {
  await server.close();
});

const events = z.array(
  z.object({
    specversion: z.literal('1.0'),
    id: z.string(),
    source: z.literal('/chain-recorder/recorder'),
    type: z.string(),
    subject: z.string().optional(),
    data: z.object({ key: z.object({ tx_hash: z.string() }).optional() }).optional(),
  }),
);
/** The requests to the sink from the Nth on. */
const postedEvents = (from = 0) =>
  server.received.slice(from).map(({ body }) => events.parse(JSON.parse(body)));
const hashes = (batches: readonly z.infer<typeof events>[]) =>
  batches.map((batch) => batch.map((one) => one.data?.key?.tx_hash));

function sinkOf(more: object) {
  const { sinks } = changesSchema(['native_transactions', 'subnets']).parse({
    sinks: [
      { type: 'webhook', url: server.url, headers: [{ name: 'X-Key', value: `\${SINK_KEY}` }], ...more },
    ],
  });
  const [sink] = sinks;
  if (!sink) throw new Error('no sink');
  const secrets = readReferencedSecrets(collectTexts(sinks), { SINK_KEY: SECRET });
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const context = { sql, recorder: 'recorder', secrets, log };
  const send = () => sendChanges(context, sink, never);
  /** Its pause has ended. */
  const later = () => sql`update recorder.change_sinks set next_try_at = now() where sink = ${sink.name}`;
  const storedState = async () =>
    (await sql`select * from reporting_internal.change_sinks where sink = ${sink.name}`)[0];
  return { send, later, storedState };
}

let round = 0;
async function runOf(feed: ScriptedFeed, body: unknown): Promise<void> {
  round += 1;
  feed.script = () => onlyPage(body);
  await run(
    recordingContext(sql, () => Date.UTC(2026, 0, 1) + round * 1000),
    feed,
  );
}
/** Records transactions. @param more of each */
const recordWith = (more: object, ...txHashes: readonly string[]) =>
  runOf(scriptedFeed(nativeTransactions, { chainId: '1', address: '0xa' }), {
    transactions: txHashes.map((txHash) => ({
      txHash,
      blockNumber: '900719925474099312345',
      blockTimestamp: 1,
      ...more,
    })),
  });
const record = (...txHashes: readonly string[]) => recordWith({}, ...txHashes);

it('receives every change in order as CloudEvents, until it accepts it, and reports failures meanwhile', async () => {
  await record('0x1', '0x2', '0x3');
  const sink = sinkOf({ name: 'one', batchSize: 2 });
  expect(await sink.send(), 'the first call creates the position').toBe(0);
  expect(await sink.send()).toBe(3);
  expect(hashes(postedEvents())).toEqual([['0x1', '0x2'], ['0x3']]);
  const [first] = server.received;
  expect(first?.headers).toMatchObject({
    'content-type': 'application/cloudevents-batch+json; charset=utf-8',
    'x-key': SECRET,
  });
  expect(first?.body, 'every digit').toContain('"block_number": "900719925474099312345"');
  expect(await sink.send(), 'nothing waits').toBe(0);
  const before = server.received.length;
  answers.push(503);
  await record('0x4', '0x5');
  expect(await sink.send()).toBe(0);
  expect(await sink.storedState()).toMatchObject({
    sent: '3',
    failures: 1,
    error: 'HTTP 503: no: [redacted]',
  });
  expect((await sink.storedState())?.waiting_since).toBeInstanceOf(Date);
  expect(await sink.send(), 'it has a pause').toBe(0);
  await record('0x6');
  await sink.later();
  expect(await sink.send()).toBe(3);
  expect(hashes(postedEvents(before))).toEqual([['0x4', '0x5'], ['0x4', '0x5'], ['0x6']]);
  const [failed, again] = postedEvents(before).map((batch) => batch.map(({ id }) => id));
  expect(again, 'ids by which a reader deduplicates them').toEqual(failed);
  expect(await sink.storedState()).toMatchObject({
    sent: '6',
    failures: 0,
    error: null,
    waiting_since: null,
  });
  expect(lines.join('')).not.toContain(SECRET);
});

it('receives batches from one worker at a time, and again from the next if the first one died before it stored the position', async () => {
  const sink = sinkOf({ name: 'two', batchSize: 10 });
  await sink.send();
  await sql`update recorder.change_sinks set holder = 7, lease_until = now() + interval '20 seconds' where sink = 'two'`;
  const before = server.received.length;
  expect(await sink.send(), 'another worker has it').toBe(0);
  await sql`update recorder.change_sinks set lease_until = now() - interval '1 second' where sink = 'two'`;
  expect(await sink.send()).toBe(6);
  expect(hashes(postedEvents(before))).toEqual([['0x1', '0x2', '0x3', '0x4', '0x5', '0x6']]);
});

it('starts at its configured position, has its selected changes, and delays their removal', async () => {
  const before = server.received.length;
  const now = sinkOf({ name: 'now', startAt: 'now' });
  const other = sinkOf({ name: 'other', startAt: 'now', datasets: ['subnets'] });
  for (const one of [now, other]) await one.send();
  await record('0x7');
  expect(await now.send()).toBe(1);
  expect(await other.send()).toBe(0);
  expect((await other.storedState())?.waiting_since, 'what is not for it does not wait').toBeNull();
  expect(hashes(postedEvents(before))).toEqual([['0x7']]);
  const countChanges = async () => (await sql`select from recorder.changes`).length;
  await sql`update recorder.changes set made_at = made_at - interval '8 days' where commit_number < (select max(commit_number) from recorder.changes)`;
  await removeOldChanges(sql, 'recorder', ['one', 'two', 'now', 'other'], 7 * 86_400_000, never);
  expect(await countChanges(), 'the slowest has not received the last one').toBe(2);
  const found = await sql`select state, subject, reason from reporting.findings where component = 'changes'`;
  expect(found, 'no process of this recorder runs, and the changes of a week wait').toMatchObject([
    { state: 'stalled', subject: 'the sink one of the recorder recorder' },
    { state: 'stalled', subject: 'the sink two of the recorder recorder' },
  ]);
  await removeOldChanges(sql, 'recorder', ['now', 'other'], 7 * 86_400_000, never);
  expect(await countChanges(), 'the newest stays').toBe(1);
  const [sinks] =
    await sql`select array_agg(sink order by sink) as names from reporting_internal.change_sinks`;
  expect(sinks).toEqual({ names: ['now', 'other'] });
});

it('receives a notice that the feed restarts if it cannot continue, and continues', async () => {
  const before = server.received.length;
  const sink = sinkOf({ name: 'now', startAt: 'now' });
  await sql`update recorder.change_sinks set cursor = '1.1.abc', commit_number = 1 where sink = 'now'`;
  expect(await sink.send()).toBe(2);
  const [batch] = postedEvents(before);
  expect(batch?.map(({ type }) => type)).toEqual(['chain-recorder.restarted', 'chain-recorder.appeared']);
  expect(lines.at(-1)).toContain('was removed from the feed');
});

it('receives what does not fit into a batch with the next one, whatever else changed after it', async () => {
  const sink = sinkOf({ name: 'long', startAt: 'now', datasets: ['native_transactions'], batchSize: 10 });
  await sink.send();
  const before = server.received.length;
  await recordWith({ note: 'x'.repeat(2_500_000) }, '0x8', '0x9', '0xa');
  await runOf(scriptedFeed(subnets, { network: 'mainnet' }), { subnets: [{ subnetId: 'S' }] });
  expect(await sink.send()).toBe(3);
  expect(hashes(postedEvents(before))).toEqual([['0x8', '0x9'], ['0xa']]);
});
