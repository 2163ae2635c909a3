import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { z } from 'zod';
import { migrate } from '../../src/reporting/views/migrate.ts';
import { chromiumPath } from '../../test/support/browser.ts';
import { Child } from '../child.ts';
import { startDatabase } from '../database.ts';
import { apiKinds, type Kind, mainPages, pageKinds } from './addresses.ts';
import { fill, register } from './fill.ts';
import { measurePaints } from './measure-paints.ts';
import { fetchText, type MeasuredServer, measureAll } from './measure-requests.ts';
import { ProcessorMeter } from './processor.ts';
import {
  type KindComparison,
  kindTable,
  MAX_LIST_MS,
  MAX_PAINT_MS,
  paintTable,
  slowTable,
} from './report.ts';

/**
 * Measures pages and lists on a record of ten million points, a million revisions and a year of health, and on an empty
 * one. By hand: `npx tsx bench/pages/main.ts [--points 10000000] [--times 20] [--only WORDS]`. With `--empty URL --full
 * URL` it uses the given databases, and fills them if they are empty.
 */
const { values } = parseArgs({
  options: {
    points: { type: 'string', default: '10000000' },
    times: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
    empty: { type: 'string' },
    full: { type: 'string' },
  },
});
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
const log = (line: string) => process.stderr.write(`${line}\n`);
const closers: (() => Promise<void>)[] = [];

async function recordAt(url: string | undefined): Promise<string> {
  if (url === undefined) {
    const database = await startDatabase();
    closers.push(database.close);
    return database.url;
  }
  await migrate(url);
  return url;
}

async function prepare(url: string, points: number): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const [target] = await sql`select from recorder.targets limit 1`;
    if (!target) await register(sql);
    const [filled] = await sql`select from recorder.metric_points limit 1`;
    if (points > 0 && !filled) log(JSON.stringify(await fill({ sql, url }, points, log)));
  } finally {
    await sql.end();
  }
}

async function serve(url: string): Promise<MeasuredServer> {
  const schema = z.object({ address: z.string(), pid: z.int() });
  const { child, first } = await Child.start('./pages/serve-process.ts', [url], schema, stop.signal);
  closers.push(() => child.stop());
  const meter = new ProcessorMeter(url, first.pid);
  closers.push(() => meter.close());
  return { address: first.address, meter };
}

const isSelected = ({ name }: Kind) => name.includes(values.only);
const times = Number(values.times);

async function compare(
  kinds: readonly Kind[],
  empty: MeasuredServer,
  full: MeasuredServer,
): Promise<KindComparison[]> {
  const compared: KindComparison[] = [];
  for (const kind of kinds.filter(isSelected)) {
    compared.push({
      name: kind.name,
      empty: await measureAll(empty, kind, times),
      full: await measureAll(full, kind, times),
    });
    log(`${kind.name}: done`);
  }
  return compared;
}

try {
  const [emptyUrl, fullUrl] = [await recordAt(values.empty), await recordAt(values.full)];
  await prepare(emptyUrl, 0);
  await prepare(fullUrl, Number(values.points));
  const [empty, full] = [await serve(emptyUrl), await serve(fullUrl)];
  const load = () =>
    `load ${loadavg()
      .map((one) => one.toFixed(1))
      .join(' ')}`;
  log(load());
  const get = async (path: string) => JSON.parse((await fetchText(full.address + path)).text);
  // The URLs of lists are found by requests, which take time.
  const ofPages = ['first paint', ...pageKinds.map(({ name }) => name)].includes(values.only);
  const lists = ofPages ? [] : await compare(await apiKinds(get), empty, full);
  const pages = await compare(pageKinds, empty, full);
  console.log(`${kindTable([...lists, ...pages])}\n`);
  console.log(`longer than promised (${MAX_LIST_MS} ms):\n\n${slowTable(lists, MAX_LIST_MS)}\n`);
  console.log(`longer than promised (${MAX_PAINT_MS} ms):\n\n${slowTable(pages, MAX_PAINT_MS)}\n`);
  if (chromiumPath && 'first paint'.includes(values.only))
    console.log(
      paintTable(
        await measurePaints(empty.address, mainPages, Math.min(times, 3)),
        await measurePaints(full.address, mainPages, Math.min(times, 3)),
      ),
    );
  console.log(load());
} catch (error) {
  // A stop ends the servers too, and open requests fail.
  if (!stop.signal.aborted) throw error;
  log('stopped before the end');
  process.exitCode = 130;
} finally {
  for (const close of closers.reverse()) await close();
}
