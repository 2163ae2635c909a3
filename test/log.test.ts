import { expect, it, vi } from 'vitest';
import { readable } from '../src/log.ts';

it('a line for people says when, how grave, what, and the fields', () => {
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
  expect(readable(line)).toBe(
    '12:04:05 WARN  polling failed upstream=metrics cause="the call failed\\u001b[2J\\n(ECONNRESET)" rows.metric_points=12 err="boom"',
  );
  vi.unstubAllEnvs();
});
