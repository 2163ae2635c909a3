import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { undecidedHost } from '../preloads.ts';
import { Steady } from '../steady.ts';
import { eventually } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

const run = promisify(execFile);

const nameless: Fault = {
  numbers: [45],
  title: 'DNS ENOTFOUND, EAI_AGAIN',
  backends: 'any',
  invariants: ['I'],
  async inject(world) {
    const undecided = 'try-again.invalid';
    const nodes = [
      { name: 'nowhere', url: 'http://no-such-host.invalid:9650' },
      { name: 'undecided', url: `http://${undecided}:9650` },
      { name: 'refusing', url: 'http://127.0.0.1:9' },
    ];
    const steady = await healthOf(world, nodes, undecidedHost(undecided));
    const states = await statesOf(
      world,
      nodes.map(({ name }) => name),
    );
    world.evidence.serve('name not found');
    world.evidence.serve('name not found for now');
    const expected = { nowhere: 'unknown', undecided: 'unknown', refusing: 'down' };
    for (const [node, state] of Object.entries(expected))
      world.evidence.claim(`${node} is ${state}, not ${states.get(node)}`, states.get(node) === state);
    const causes = await world.sql<{ node: string; error: string }[]>`
      select distinct node, error from recorder.node_health where check_name = '*' and node <> 'refusing' order by node`;
    world.evidence.figures.set('causes', causes.map(({ node, error }) => `${node}: ${error}`).join(' | '));
    await steady.stop();
  },
};

const untrusted: Fault = {
  numbers: [46],
  title: 'TLS expired, wrong host, stalled handshake',
  backends: 'any',
  invariants: ['F', 'X'],
  async inject(world) {
    const { evidence, sql } = world;
    const authority = await makeAuthority(world.dir);
    const expired = await tlsServer(await certificate(world.dir, authority, 'expired', 'IP:127.0.0.1', 0));
    const foreign = await tlsServer(
      await certificate(world.dir, authority, 'foreign', 'DNS:elsewhere.example', 30),
    );
    const stalled = createTcpServer(() => {}).listen(0, '127.0.0.1');
    await once(stalled, 'listening');
    for (const server of [expired, foreign, stalled]) world.closers.add(() => server.close());
    const urls = [expired, foreign, stalled].map((server) => `https://127.0.0.1:${portOf(server)}`);
    for (const [at, url] of urls.entries()) {
      await Steady.prepare(world, { watch: 1, days: 0, chainData: { url } });
      world.watched.length = 0;
      const startedAt = performance.now();
      const env = { NODE_EXTRA_CA_CERTS: join(world.dir, 'authority.pem') };
      const record = world.recorder(['record', 'proposed_blocks', '--json'], { env });
      const ending = await record.ended;
      evidence.serve(['expired', 'wrong host', 'stalled'][at] ?? '');
      evidence.exit(
        `record over ${['expired', 'foreign', 'stalled'][at]} TLS`,
        { ...ending, elapsedMs: performance.now() - startedAt },
        [1, 75],
        60_000,
      );
    }
    const errors = await sql<
      { error: string }[]
    >`select distinct error from recorder.runs where status = 'failed'`;
    evidence.figures.set('errors', errors.map(({ error }) => error).join(' | '));
    // Never recorded at all, after more than three attempts: that is late, too.
    const status = await eventually(
      'status to show it',
      async () => {
        const { code } = await world.recorder(['status']).ended;
        return code === 1;
      },
      40_000,
    ).catch(() => false);
    evidence.indicators.push({
      where: 'an upstream that was never reached: status exits 1',
      isVisible: status,
    });
  },
};

async function healthOf(
  world: World,
  nodes: readonly { name: string; url: string }[],
  node: readonly string[],
): Promise<Steady> {
  const datasets = { proposed_blocks: { enabled: false }, node_health: { every: '5s' } };
  return Steady.start(world, { watch: 0, nodes, datasets, node });
}

/** The overall state of each node's probe, once all were probed. */
async function statesOf({ sql }: World, nodes: readonly string[]): Promise<Map<string, string>> {
  return eventually('every node to be probed', async () => {
    const rows = await sql<{ node: string; state: string }[]>`
      select distinct on (node) node, state from recorder.node_health
      where check_name = '*' and probe = 'health' order by node, started_at desc`;
    return rows.length === nodes.length ? new Map(rows.map(({ node, state }) => [node, state])) : null;
  });
}

interface Files {
  readonly key: string;
  readonly cert: string;
}

async function makeAuthority(dir: string): Promise<Files> {
  const [key, cert] = [join(dir, 'authority.key'), join(dir, 'authority.pem')];
  await run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
    '-days',
    '30',
    '-subj',
    '/CN=chaos',
  ]);
  return { key, cert };
}

async function certificate(
  dir: string,
  authority: Files,
  name: string,
  alternative: string,
  days: number,
): Promise<Files> {
  const [key, cert, request, extensions] = ['key', 'pem', 'csr', 'ext'].map((end) =>
    join(dir, `${name}.${end}`),
  );
  if (!key || !cert || !request || !extensions) throw new Error('no names');
  await run('openssl', [
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    key,
    '-out',
    request,
    '-subj',
    `/CN=${name}`,
  ]);
  await run('sh', ['-c', 'printf "subjectAltName=%s" "$0" > "$1"', alternative, extensions]);
  const valid = ['-days', String(days)];
  await run('openssl', [
    'x509',
    '-req',
    '-in',
    request,
    '-CA',
    authority.cert,
    '-CAkey',
    authority.key,
    '-CAcreateserial',
    '-out',
    cert,
    '-extfile',
    extensions,
    ...valid,
  ]);
  return { key, cert };
}

async function tlsServer({ key, cert }: Files): Promise<Server> {
  const server = createTlsServer({ key: await readFile(key), cert: await readFile(cert) }, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"blocks":[]}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export const networkFaults: readonly Fault[] = [nameless, untrusted];
