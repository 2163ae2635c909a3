import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { type Summary, summaryLines } from '../../src/daemon/summary.ts';

const at = (second: number) => new Date(Date.UTC(2026, 10, 22, 3, 52, second));
const names = ['validators', 'subnets', 'peers', 'p_blocks', 'x_blocks', 'node_identity', 'metric_points'];
const summary: Summary = {
  now: at(59),
  network: 'mainnet',
  address: 'http://127.0.0.1:8080',
  datasets: names.map((dataset, n) => ({
    ...{ dataset, rows: 1000 * n, today: 1000 * n, added: n, last: n === 0 ? null : at(n) },
    isProbed: false,
  })),
  targets: 12,
  findings: [],
  rate: 1234.4,
  databaseError: null,
};
const createFinding = (subject: string) => ({
  state: 'late' as const,
  component: 'target' as const,
  dataset: 'subnets',
  subject,
  since: at(0),
  reason: 'no run has succeeded\u001b[2J',
  count: 3,
});

describe('the live summary', () => {
  it('shows datasets, targets, rows, the rate, and the last record', () => {
    const lines = summaryLines(summary, 80, 40);
    expect(lines).toContain('7 datasets   12 targets   21,000 rows today   1,234 rows/s');
    expect(lines.at(-1)).toBe('nothing is late');
    expect(lines[0]).toMatch(/^\d\d:\d\d:59(Z|[+-]\d\d:\d\d) ─+$/);
    const recorded = lines.filter((line) => / \+\d/.test(line)).map((line) => line.split(/ +/)[2]);
    expect(recorded).toEqual(names.slice(1).toReversed());
  });

  it('counts probes of the health of nodes', () => {
    const probed = { dataset: 'node_health', rows: 40, today: 0, added: 12, last: at(50), isProbed: true };
    const lines = summaryLines({ ...summary, datasets: [probed] }, 80, 40);
    expect(lines.some((line) => line.endsWith('node_health  40  +12 probes'))).toBe(true);
  });

  it('shows a bounded number of late items, without control characters', () => {
    const findings = ['a', 'b', 'c', 'd', 'e', 'f'].map(createFinding);
    const lines = summaryLines({ ...summary, findings }, 100, 40);
    expect(lines.filter((line) => line.startsWith('late since '))).toHaveLength(4);
    expect(lines.at(-1)).toBe('and 2 more: chain-recorder status');
    expect(lines.join('\n')).toContain('subnets of a (and 2 more): no run has succeeded\\u001b[2J');
  });

  it('reports a database that does not respond', () => {
    expect(summaryLines({ ...summary, databaseError: 'connect ECONNREFUSED' }, 80, 40).at(-1)).toBe(
      'the database does not respond: connect ECONNREFUSED',
    );
  });

  it('keeps every figure on a narrow terminal', () => {
    const lines = summaryLines(summary, 36, 40);
    for (const figure of [
      '7 datasets',
      '12 targets',
      '21,000 rows today',
      '1,234 rows/s',
      '  6,000  +6',
      'metric_poin…',
    ])
      expect(lines.join('\n')).toContain(figure);
  });

  it.each([
    [20, 10],
    [40, 8],
    [200, 24],
  ])('fits a terminal of %i × %i', (width, height) => {
    const lines = summaryLines({ ...summary, findings: [createFinding('世界'.repeat(40))] }, width, height);
    for (const line of lines) expect(stringWidth(line)).toBeLessThan(width);
    expect(lines.length).toBeLessThanOrEqual(Math.max(5, height / 2));
  });
});
