import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProbeResult } from './health-truth.ts';
import { Program, runProgram, waitFor } from './programs.ts';

/**
 * Starts a collectd that polls nodes by its plugin curl and stores the results in files of rrdtool, as Debian
 * configures it.
 */
export async function startCollectd(
  path: string,
  folder: string,
  nodes: readonly { readonly name: string; readonly url: string }[],
  everySeconds: number,
  signal: AbortSignal,
): Promise<Program> {
  await mkdir(folder, { recursive: true });
  const pages = nodes.map(
    ({ name, url }) =>
      `<Page "${name}">\nURL "${url}"\nMeasureResponseTime true\nMeasureResponseCode true\n</Page>`,
  );
  const config = `Hostname "bench"
BaseDir "${folder}"
PIDFile "${folder}/pid"
PluginDir "/usr/lib/collectd"
TypesDB "/usr/share/collectd/types.db"
Interval ${everySeconds}
LoadPlugin curl
LoadPlugin rrdtool
<Plugin rrdtool>
DataDir "${folder}/rrd"
</Plugin>
<Plugin curl>
${pages.join('\n')}
</Plugin>
`;
  await writeFile(join(folder, 'collectd.conf'), config);
  return new Program(path, ['-f', '-C', join(folder, 'collectd.conf')], signal);
}

/** The files of a node by collectd, by the name of their value. */
export async function filesOf(folder: string, node: string, signal: AbortSignal): Promise<string[]> {
  const place = join(folder, 'rrd', 'bench', `curl-${node}`);
  const names = await waitFor(
    'a file of collectd',
    async () => {
      const found = await readdir(place);
      return found.length === 2 ? found : null;
    },
    signal,
  );
  return names.sort().map((name) => join(place, name));
}

const AT_ONCE = 2_000;

/**
 * Creates a file of collectd again, with the same archives, and fills it with the results of a node: its response
 * codes. If the node did not respond, collectd has no value.
 */
export async function fillCodes(
  rrdtool: string,
  file: string,
  probes: Iterable<ProbeResult>,
  from: number,
  signal: AbortSignal,
): Promise<void> {
  const newFile = `${file}.made`;
  await runProgram(
    rrdtool,
    ['create', newFile, '--start', String(from / 1000 - 60), '--template', file],
    signal,
  );
  await rename(newFile, file);
  let values: string[] = [];
  const flush = async () => {
    if (values.length > 0) await runProgram(rrdtool, ['update', file, ...values], signal);
    values = [];
  };
  for (const { at, answer } of probes) {
    if (answer === 'silent') continue;
    values.push(`${at / 1000}:${answer === 'up' ? 200 : 503}`);
    if (values.length === AT_ONCE) await flush();
  }
  await flush();
}

/** The averages in a file for a time, oldest first; null: unknown. @param from ms since 1970 */
export async function averages(
  rrdtool: string,
  file: string,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<(number | null)[]> {
  const times = ['--start', String(Math.floor(from / 1000)), '--end', String(Math.floor(to / 1000))];
  const text = await runProgram(rrdtool, ['fetch', file, 'AVERAGE', ...times], signal);
  return text
    .split('\n')
    .slice(2)
    .filter((line) => line !== '')
    .map((line) => {
      const value = Number(line.split(': ')[1]);
      return Number.isNaN(value) ? null : value;
    });
}

/** Bytes of some files together. */
export async function sizeOf(files: readonly string[]): Promise<number> {
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Removes the files of a collectd. */
export const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true });
