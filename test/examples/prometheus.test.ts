import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { declaredSeries, seriesIn } from '../support/declared-metrics.ts';
import { noPromtool, promtool, promtoolPath } from '../support/promtool.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = fileURLToPath(new URL('../../examples/prometheus/', import.meta.url));
const scratch = temporaryFolder('rules');

const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const rulesSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string().optional(),
          record: z.string().optional(),
          expr: z.string(),
          labels: z.object({ severity: z.enum(['critical', 'warning']) }).optional(),
          annotations: z.object({ summary: z.string(), description: z.string() }).optional(),
        }),
      ),
    }),
  ),
});
const files = ['recording.rules.yml', 'alerts.rules.yml'];
const rules = files.flatMap((file) =>
  rulesSchema.parse(parse(read(file))).groups.flatMap((group) => group.rules),
);

describe('the rules for Prometheus', () => {
  it('query only metrics that /metrics declares', () => {
    expect(rules.length).toBeGreaterThan(25);
    for (const { expr } of rules)
      expect(
        seriesIn(expr).filter((name) => !declaredSeries.has(name)),
        expr,
      ).toEqual([]);
    expect(seriesIn('max(chain_recorder_gone) > node:node_up:max')).toEqual(['chain_recorder_gone']);
    expect(rules.flatMap(({ expr }) => seriesIn(expr))).toContain('node_up');
  });

  it('have a severity and a runbook, and each has a test', () => {
    const tests = read('rules.test.yml');
    for (const { alert, record, labels, annotations } of rules) {
      if (alert !== undefined)
        expect({ alert, labels, annotations }).toMatchObject({ labels: {}, annotations: {} });
      expect(tests).toContain(alert === undefined ? record : alert);
    }
  });

  it.skipIf(!promtoolPath)(`are accepted by promtool, and its unit tests pass${noPromtool}`, async () => {
    for (const args of [
      ['check', 'rules', ...files],
      ['check', 'config', 'prometheus.yml'],
      ['test', 'rules', 'rules.test.yml'],
    ]) {
      const { code, output } = await promtool(args, { cwd: folder });
      expect(code, output).toBe(0);
    }
  });

  it.skipIf(!promtoolPath)(`have tests that can fail${noPromtool}`, async () => {
    for (const file of [...files, 'rules.test.yml']) writeFileSync(join(scratch, file), read(file));
    writeFileSync(
      join(scratch, 'alerts.rules.yml'),
      read('alerts.rules.yml').replace('probe="health"}) == 0', 'probe="health"}) == 1'),
    );
    const { code, output } = await promtool(['test', 'rules', 'rules.test.yml'], { cwd: scratch });
    expect(code).toBe(1);
    expect(output).toContain('NodeDown');
  });
});
