import { expect, it, vi } from 'vitest';
import { createRedactor } from '../../src/lib/redaction.ts';
import { formatLogLine, openLog } from '../../src/telemetry/log.ts';

it('formats a line for people with the time, the level, the message, and the fields', () => {
  vi.stubEnv('TZ', 'Asia/Tokyo');
  const line = JSON.stringify({
    level: 40,
    time: '2026-01-02T03:04:05.678Z',
    pid: 7,
    upstream: 'metrics',
    cause: 'the call failed\u001b[2J\n(ECONNRESET)',
    rows: { metric_points: 12 },
    err: { type: 'Error', message: 'boom', stack: 'Error: boom\n  at' },
    msg: 'polling failed',
  });
  expect(formatLogLine(line)).toBe(
    '12:04:05 WARN  polling failed upstream=metrics cause="the call failed\\u001b[2J\\n(ECONNRESET)" rows.metric_points=12 err="boom"',
  );
  vi.unstubAllEnvs();
});

it('formats a line as JSON also if a secret was redacted in it as a number', () => {
  const lines: string[] = [];
  const log = openLog({ logLevel: 'info', logJson: true }, createRedactor(['31415926']), (line) => {
    lines.push(line);
  });
  log.warn({ rows: 31415926 }, 'run ended');
  expect(JSON.parse(lines.join())).toMatchObject({ level: 40, msg: expect.stringContaining('run ended') });
  expect(lines.join()).not.toContain('31415926');
});
