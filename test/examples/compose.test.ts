import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readEnvironment } from '../../src/config/environment.ts';
import { findSuspiciousVariables } from '../../src/config/suspicious-env.ts';
import { noPromtool, promtool, promtoolPath } from '../support/promtool.ts';

const root = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

const service = z.object({
  image: z.string(),
  profiles: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string().nullable()).default({}),
  command: z.union([z.string(), z.array(z.string())]).optional(),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
});
const compose = z
  .object({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.null()) })
  .parse(parse(read('docker-compose.yml'), { merge: true }));
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image === 'chain-recorder');
const startedServices = (...profiles: readonly string[]) =>
  services
    .filter(([, one]) => one.profiles.length === 0 || one.profiles.some((name) => profiles.includes(name)))
    .map(([name]) => name)
    .sort();

describe('docker-compose.yml', () => {
  it('starts the services of each profile that its comments name', () => {
    const plain = ['postgres', 'recorder', 'redis', 'sandbox'];
    expect(startedServices()).toEqual(plain);
    expect(startedServices('workers')).toEqual([...plain, 'worker'].sort());
    const monitoring = ['alertmanager', 'grafana', 'prometheus', 'reader'];
    expect(startedServices('monitoring')).toEqual([...plain, ...monitoring].sort());
    expect(Object.keys(compose.services.embedded?.depends_on ?? { none: true })).toEqual([]);
  });

  it('names only existing files, and opens no port beyond this machine', () => {
    for (const [name, { volumes, ports, depends_on }] of services) {
      for (const volume of volumes) {
        const [from = ''] = volume.split(':');
        if (from.startsWith('./')) expect(existsSync(new URL(from, root)), `${name}: ${from}`).toBe(true);
        else expect(Object.keys(compose.volumes), name).toContain(from);
      }
      for (const port of ports) expect(port, name).toMatch(/^127\.0\.0\.1:/);
      for (const other of Object.keys(depends_on)) expect(Object.keys(compose.services)).toContain(other);
    }
  });

  it('gives the recorder known variables, a read-only root, and no capability', () => {
    expect(ours.map(([name]) => name)).toEqual(['sandbox', 'recorder', 'worker', 'embedded']);
    for (const [name, { environment, read_only, cap_drop }] of ours) {
      // The defaults that compose fills in.
      const set = Object.entries(environment).flatMap(([key, value]) =>
        value === null ? [] : [[key, value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')]],
      );
      const env = Object.fromEntries(set);
      expect(findSuspiciousVariables(env), name).toEqual([]);
      expect(() => readEnvironment(env), name).not.toThrow();
      expect({ read_only, cap_drop }, name).toEqual({ read_only: true, cap_drop: ['ALL'] });
    }
  });

  it('pins the images that it does not build, as the Dockerfile does', () => {
    const bases = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image);
    expect(new Set(bases).size).toBe(1);
    for (const image of [...bases, ...services.map(([, one]) => one.image)])
      if (image !== 'chain-recorder') expect(image).toMatch(/^[\w/]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
  });

  it.skipIf(!promtoolPath)(`has a Prometheus that promtool accepts${noPromtool}`, async () => {
    const file = fileURLToPath(new URL('examples/compose/prometheus.yml', root));
    expect(await promtool(['check', 'config', '--syntax-only', file])).toMatchObject({ code: 0 });
  });
});

describe('the health check of the image', () => {
  const [, command = ''] = /^HEALTHCHECK .*\\\n +CMD (\[.*\])$/m.exec(read('Dockerfile')) ?? [];
  const [program = '', ...args] = z.array(z.string()).parse(JSON.parse(command));

  it.each([
    [200, 0],
    [503, 1],
  ])('queries the port that RECORDER_PORT sets: %i ends with %i', async (status, code) => {
    const server = createServer((request, response) =>
      response.writeHead(request.url === '/health' ? status : 404).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? String(address.port) : '';
    const ended = await new Promise((resolve) =>
      execFile(program, args, { env: { ...process.env, RECORDER_PORT: port } }, (error) =>
        resolve(error?.code ?? 0),
      ),
    );
    server.close();
    expect(ended).toBe(code);
  });
});
