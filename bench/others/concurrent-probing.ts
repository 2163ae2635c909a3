import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { z } from 'zod';
import { Closers } from '../../chaos/closers.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { createConfiguration } from '../../src/recording/configuration.ts';
import { ProcessRegistration } from '../../src/recording/process-registration.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { Child } from '../child.ts';
import { startDatabase } from '../database.ts';
import { PROBE_INTERVAL_MS, probingConfig } from '../probing/configuration.ts';
import { averages, filesOf, startCollectd } from './collectd.ts';
import { programsTime, serverTime } from './measurement.ts';
import { Program } from './programs.ts';
import { Prometheus, type Vector } from './prometheus.ts';

/** The programs that are installed. */
export interface Tools {
  readonly prometheus: {
    readonly server: string;
    readonly blackbox: string;
    readonly promtool: string;
  } | null;
  readonly collectd: { readonly daemon: string; readonly rrdtool: string } | null;
}

/** Processor time of a probe, ms; null: not measured. */
export interface ProbingUsage {
  readonly recorder: { readonly processMs: number; readonly server: number };
  readonly prometheus: { readonly server: number; readonly blackbox: number; readonly live: Vector } | null;
  readonly collectd: number | null;
}

export const NODES = 120;
export const MINUTES = 2;

/**
 * Lets all programs probe the same nodes at once, at the same interval, for some minutes. @param folder for the files
 * of the others
 */
export async function probeTogether(
  tools: Tools,
  folder: string,
  signal: AbortSignal,
): Promise<ProbingUsage> {
  const closers = new Closers();
  try {
    const served = await Child.start('service/nodes-process.ts', [], z.object({ port: z.number() }), signal);
    closers.add(() => served.child.stop());
    const { port } = served.first;
    const recorder = await startRecorder(port, closers, signal);
    const { prometheus, collectd } = tools;
    const scraping = prometheus && (await startPrometheus(prometheus, folder, port, closers, signal));
    const nodes = Array.from({ length: NODES }, (_, n) => ({ name: `node-${n}`, url: address(port, n) }));
    const collector =
      collectd &&
      (await startCollectd(collectd.daemon, `${folder}/collectd`, nodes, PROBE_INTERVAL_MS / 1000, signal));
    if (collector) closers.add(() => collector.stop());
    await delay(2 * PROBE_INTERVAL_MS, undefined, { signal }); // the first round probes all nodes at once
    const read = async () => ({
      at: Date.now(),
      recorder: await recorder(),
      server: scraping ? await programsTime([scraping.prometheus.program.pid]) : 0,
      blackbox: scraping ? await programsTime([scraping.blackbox.pid]) : 0,
      scrapes: scraping ? await scrapesOf(scraping.prometheus) : 0,
      collectdTime: collector ? await programsTime([collector.pid]) : 0,
    });
    const before = await read();
    await delay(MINUTES * 60_000, undefined, { signal });
    const after = await read();
    const scrapes = after.scrapes - before.scrapes;
    return {
      recorder: {
        processMs: after.recorder.processMs / after.recorder.probes,
        server: (after.recorder.server - before.recorder.server) / after.recorder.probes,
      },
      prometheus: scraping && {
        server: (after.server - before.server) / scrapes,
        blackbox: (after.blackbox - before.blackbox) / scrapes,
        live: await scraping.prometheus.query(`{instance="${address(port, 0)}"}`),
      },
      collectd:
        collector &&
        collectd &&
        (after.collectdTime - before.collectdTime) /
          (NODES * (await answersOf(collectd.rrdtool, `${folder}/collectd`, before.at, after.at, signal))),
    };
  } finally {
    await closers.close();
  }
}

/** A node's health as a page; the query identifies the program and the node. */
const address = (port: number, node: number) => `http://127.0.0.1:${port}/ext/health?node=${node}`;

/** @returns a function that returns processor time, ms, and probes since its last call */
async function startRecorder(port: number, closers: Closers, signal: AbortSignal) {
  const database = await startDatabase();
  closers.add(() => database.close());
  const sql = postgres(database.url, { max: 2, onnotice: () => {} });
  closers.add(() => sql.end({ timeout: 5 }));
  const { config, ledger } = probingConfig({ port, nodes: NODES, partitions: 1 });
  const registration = await ProcessRegistration.join(
    sql,
    createConfiguration(config, [ledger]),
    'registering',
    [],
  );
  await registerTargets(sql, ledger, Date.now(), registration.registrant);
  const args = [database.url, String(port), String(NODES), '1', 'host/0/process'];
  const { child } = await Child.start(
    'probing/watcher-process.ts',
    args,
    z.object({ started: z.boolean() }),
    signal,
  );
  closers.add(() => child.stop());
  let lastQueryAt = performance.now();
  return async () => {
    const { late, cpu } = await child.request(
      'report',
      z.object({ late: z.array(z.number()), cpu: z.number() }),
    );
    const elapsed = performance.now() - lastQueryAt;
    lastQueryAt += elapsed;
    return { processMs: cpu * elapsed, probes: late.length, server: await serverTime(sql) };
  };
}

async function startPrometheus(
  { server, blackbox }: NonNullable<Tools['prometheus']>,
  folder: string,
  port: number,
  closers: Closers,
  signal: AbortSignal,
) {
  const modules = {
    health: { prober: 'http', timeout: '5s', http: { fail_if_body_not_matches_regexp: ['"healthy":true'] } },
  };
  await writeFile(`${folder}/blackbox.json`, JSON.stringify({ modules }));
  const exporter = `127.0.0.1:${await findFreePort()}`;
  const probing = new Program(
    blackbox,
    [`--config.file=${folder}/blackbox.json`, `--web.listen-address=${exporter}`],
    signal,
  );
  closers.add(() => probing.stop());
  const targets = Array.from({ length: NODES }, (_, n) => address(port, n));
  const prometheus = await Prometheus.start(
    server,
    `${folder}/live`,
    {
      global: { scrape_interval: `${PROBE_INTERVAL_MS / 1000}s` },
      scrape_configs: [
        {
          job_name: 'health',
          metrics_path: '/probe',
          params: { module: ['health'] },
          static_configs: [{ targets }],
          relabel_configs: [
            { source_labels: ['__address__'], target_label: '__param_target' },
            { source_labels: ['__param_target'], target_label: 'instance' },
            { target_label: '__address__', replacement: exporter },
          ],
        },
      ],
    },
    signal,
  );
  closers.add(() => prometheus.program.stop());
  return { prometheus, blackbox: probing };
}

/** Probes stored in Prometheus. */
async function scrapesOf(prometheus: Prometheus): Promise<number> {
  const [sum] = await prometheus.query('sum(count_over_time(probe_success[1h]))');
  return Number(sum?.value[1]);
}

/** Responses of one node that collectd stored for a time. */
async function answersOf(
  rrdtool: string,
  folder: string,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<number> {
  const [, times = ''] = await filesOf(folder, 'node-0', signal);
  const all = await averages(rrdtool, times, from, to, signal);
  return all.filter((value) => value !== null).length;
}
