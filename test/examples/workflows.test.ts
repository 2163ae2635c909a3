import { readdirSync, readFileSync } from 'node:fs';
import { minVersion } from 'semver';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const root = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

const workflow = z.object({
  on: z.unknown(),
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(
    z.string(),
    z.object({
      needs: z.union([z.string(), z.array(z.string())]).default([]),
      strategy: z.object({ matrix: z.record(z.string(), z.unknown()) }).optional(),
      steps: z.array(z.object({ run: z.string().optional(), uses: z.string().optional() })).default([]),
    }),
  ),
});
const files = readdirSync(new URL('.github/workflows', root));
const workflows = Object.fromEntries(
  files.map((file) => [file, workflow.parse(parse(read(`.github/workflows/${file}`)))]),
);
const { scripts, engines } = z
  .object({ scripts: z.record(z.string(), z.string()), engines: z.object({ node: z.string() }) })
  .parse(JSON.parse(read('package.json')));

describe('the workflows', () => {
  it('run existing scripts, with the granted rights only', () => {
    for (const [file, { jobs, permissions }] of Object.entries(workflows)) {
      expect(permissions, file).toEqual({ contents: 'read' });
      for (const { needs, steps } of Object.values(jobs)) {
        for (const other of [needs].flat()) expect(Object.keys(jobs)).toContain(other);
        const runs = steps.flatMap(({ run }) => run?.split('&&').map((one) => one.trim()) ?? []);
        for (const run of runs) {
          const script = /^npm run (\w+)/.exec(run)?.[1];
          if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
          if (run.startsWith('.')) expect(() => read(run)).not.toThrow();
        }
      }
    }
  });

  it('pin each action to a commit, with its version for people and Dependabot', () => {
    const lines = files.flatMap((file) => read(`.github/workflows/${file}`).match(/uses: .+/g) ?? []);
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines)
      expect(line).toMatch(/^uses: (\.\/\S+|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/);
  });

  it('run .ci/run on every version that the README and package.json name', () => {
    const { newcomer, servers } = workflows['ci.yml']?.jobs ?? {};
    expect(newcomer?.steps.at(-1)?.run).toBe('.ci/run');
    const node = z.array(z.union([z.string(), z.number()])).parse(newcomer?.strategy?.matrix.node);
    expect(String(node[0])).toBe(minVersion(engines.node)?.version);
    const images = z
      .array(z.object({ postgres: z.string(), redis: z.string() }))
      .parse(servers?.strategy?.matrix.include);
    const [, oldest, newest] = /PostgreSQL (\d+) to (\d+); Redis/.exec(read('README.md')) ?? [];
    const versions = images.map(({ postgres }) => Number(/postgres:(\d+)/.exec(postgres)?.[1]));
    for (let version = Number(oldest); version <= Number(newest); version++)
      expect(versions).toContain(version);
    const redis = /; Redis ([\d.]+) or newer/.exec(read('README.md'))?.[1];
    expect(images.map((one) => one.redis)).toContain(`redis:${redis}-alpine`);
  });
});
