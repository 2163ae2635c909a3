import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { subset } from 'semver';
import { expect, it } from 'vitest';
import { z } from 'zod';

const read = (file: string) => readFileSync(join(import.meta.dirname, '..', file), 'utf8');
const promised = z.object({ engines: z.object({ node: z.string() }) }).parse(JSON.parse(read('package.json')))
  .engines.node;
const { packages } = z
  .object({
    packages: z.record(
      z.string(),
      z.object({
        dev: z.boolean().default(false),
        engines: z.object({ node: z.string().default('*') }).default({ node: '*' }),
      }),
    ),
  })
  .parse(JSON.parse(read('package-lock.json')));
const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev);

it('the README names the Node.js version that the package requires', () => {
  const [, version] = /^>=(.*)$/.exec(promised) ?? [];
  expect(read('README.md')).toContain(`Node.js ${version} or newer`);
});

it('every package that is installed with the recorder supports that Node.js version', () => {
  expect(shipped.length).toBeGreaterThan(50);
  const incompatible = shipped.filter(([, { engines }]) => !subset(promised, engines.node));
  expect(incompatible.map(([path, { engines }]) => `${path} ${engines.node}`)).toEqual([]);
});
