import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { z } from 'zod';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { numbers } from '../chance.ts';
import type { ProbeResult } from './health-truth.ts';
import { Program, runProgram, waitFor } from './programs.ts';

/** A series: its name, its labels, and its value at a probe. */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  value(probe: ProbeResult): number | string;
}

const vectorShape = z.object({
  data: z.object({
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        value: z.tuple([z.number(), z.string()]),
      }),
    ),
  }),
});
export type Vector = z.infer<typeof vectorShape>['data']['result'];

/** Block length after compaction, so that blocks are as small as in the long run. */
const BLOCK = '744h';

/**
 * Creates blocks of samples, one a minute, by promtool, as its manual describes it for history.
 * @param nodes the series of each node, and its probes, read again at every call
 */
export async function makeBlocks(
  promtool: string,
  storage: string,
  nodes: readonly { readonly series: readonly Series[]; probes(): Iterable<ProbeResult> }[],
  signal: AbortSignal,
): Promise<void> {
  const file = `${storage}.txt`;
  const out = createWriteStream(file);
  const names = [...new Set(nodes.flatMap(({ series }) => series.map(({ name }) => name)))];
  for (const name of names) {
    out.write(`# TYPE ${name} gauge\n`);
    for (const { series, probes } of nodes)
      for (const one of series.filter((each) => each.name === name)) {
        const labels = Object.entries(one.labels).map(
          ([label, value]) => `${label}=${JSON.stringify(value)}`,
        );
        let text = '';
        for (const probe of probes())
          text += `${name}{${labels.join(',')}} ${one.value(probe)} ${probe.at / 1000}\n`;
        if (!out.write(text)) await once(out, 'drain', { signal });
      }
  }
  out.end('# EOF\n');
  await once(out, 'finish', { signal });
  const args = ['tsdb', 'create-blocks-from', '--max-block-duration', BLOCK, 'openmetrics', file, storage];
  await runProgram(promtool, args, signal);
  await rm(file);
}

/** Bytes of the files below a folder. */
export async function bytesBelow(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    files.filter((one) => one.isFile()).map(async (one) => (await stat(join(one.parentPath, one.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Samples of blackbox_exporter for a probe of a node, from one real scrape: times vary, the rest stays. */
export function scrapedSeries(live: Vector, node: string): Series[] {
  const random = numbers(3);
  return live.map(({ metric: { __name__: name = '', ...labels }, value: [, sample] }) => ({
    name,
    labels: { ...labels, instance: node },
    value: ({ answer }) =>
      name === 'probe_success'
        ? Number(answer === 'up')
        : /duration|lookup_time/.test(name) && Number(sample) > 0
          ? (Number(sample) * (0.5 + random())).toFixed(9)
          : sample,
  }));
}

/** The two series that are needed for the state and the response time of a node. */
export function minimalSeries(node: string): Series[] {
  const random = numbers(5);
  const labels = { instance: node, job: 'health' };
  return [
    { name: 'probe_success', labels, value: ({ answer }) => Number(answer === 'up') },
    { name: 'probe_duration_seconds', labels, value: () => (0.012 + 0.01 * random()).toFixed(9) },
  ];
}

/** A Prometheus server of the comparison. */
export class Prometheus {
  private constructor(
    readonly program: Program,
    readonly url: string,
  ) {}

  static async start(
    path: string,
    storage: string,
    config: unknown,
    signal: AbortSignal,
  ): Promise<Prometheus> {
    const file = join(await mkdtemp(join(tmpdir(), 'chain-recorder-bench-')), 'prometheus.json');
    await writeFile(file, JSON.stringify(config));
    const address = `127.0.0.1:${await findFreePort()}`;
    const args = [
      `--config.file=${file}`,
      `--storage.tsdb.path=${storage}`,
      '--storage.tsdb.retention.time=100y',
      `--web.listen-address=${address}`,
    ];
    const started = new Prometheus(new Program(path, args, signal), `http://${address}`);
    await waitFor('Prometheus', async () => ((await started.#get('/-/ready')).ok ? true : null), signal);
    await rm(join(file, '..'), { recursive: true });
    return started;
  }

  /** An instant query. @param at seconds since 1970. Default: now */
  async query(query: string, at?: number): Promise<Vector> {
    const parameters = new URLSearchParams({ query, ...(at === undefined ? {} : { time: String(at) }) });
    const { text } = await this.#get(`/api/v1/query?${parameters}`);
    return vectorShape.parse(JSON.parse(text)).data.result;
  }

  async #get(path: string): Promise<{ ok: boolean; text: string }> {
    const { statusCode, body } = await request(`${this.url}${path}`);
    return { ok: statusCode === 200, text: await body.text() };
  }
}
