import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

function start(...more: string[]): ChildProcess {
  const args = ['--import', 'tsx', 'sandbox/main.ts', '--port', '0', '--seed', '5', ...more];
  return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
}

async function announcement(child: ChildProcess): Promise<Record<string, unknown>> {
  if (child.stdout === null) throw new Error('no stdout');
  const [line] = await once(createInterface(child.stdout), 'line');
  return JSON.parse(line);
}

describe('the sandbox as a process', () => {
  it('prints its addresses in one line, serves by the given clock, and stops on SIGTERM', async () => {
    const child = start('--start', '2026-01-01T00:00:00Z', '--speed', '60');
    const announced = await announcement(child);
    expect(announced).toMatchObject({ seed: 5, url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
    const lists = [
      'chains',
      'nodeIds',
      'addresses',
      'evmAddresses',
      'contracts',
      'collections',
      'transactions',
      'assets',
      'nodes',
    ];
    for (const list of lists) expect(announced[list]).not.toEqual([]);
    const response = await fetch(
      `${announced.url}/v2/chains/43114/metrics/txCount?timeInterval=day&pageSize=1`,
    );
    const { results } = JSON.parse(await response.text());
    expect(Math.abs(results[0].timestamp - Date.UTC(2026, 0, 1) / 1000)).toBeLessThanOrEqual(86_400);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('ends with its parent', async () => {
    const child = start('--parent');
    await announcement(child);
    child.stdin?.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it.each([
    ['--speed=-1', '--speed must be a positive number'],
    ['--seed=0x10', '--seed must be a whole number'],
    ['--port=99999', '--port must be a whole number, at most 65535'],
  ])('refuses invalid arguments: %s', async (argument, problem) => {
    expect(await refusal(argument)).toBe(`${problem}\n`);
  });

  it('reports the fix if another program listens', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    expect(await refusal(`--port=${port}`)).toMatch(/EADDRINUSE.*name another --port\n$/);
    other.close();
  });

  /** The message with which it exits with 2. */
  async function refusal(argument: string): Promise<string> {
    const child = spawn(process.execPath, ['--import', 'tsx', 'sandbox/main.ts', argument], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [[code], output] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
    expect(code).toBe(2);
    return output;
  }
});
