import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { startSandbox } from '../../sandbox/server.ts';

const example = z
  .object({ watch: z.record(z.string(), z.array(z.unknown())) })
  .parse(parse(readFileSync('examples/sandbox.yaml', 'utf8')));

it('examples/sandbox.yaml watches objects of the simulated network only', async () => {
  const sandbox = await startSandbox({});
  const announced = new Map<string, readonly unknown[]>(Object.entries(sandbox.watch));
  await sandbox.close();
  expect(Object.keys(example.watch).length).toBeGreaterThan(5);
  for (const [kind, objects] of Object.entries(example.watch))
    expect(announced.get(kind), kind).toEqual(expect.arrayContaining(objects));
});
