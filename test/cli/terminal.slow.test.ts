import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { stringify } from 'yaml';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { catalogNames } from '../../src/app/configured-feeds.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startCommand } from '../support/cli.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { noTerminal, type OnTerminal, plainLines, startOnTerminal } from '../support/terminal.ts';

const CTRL_C = '\x03';
const CTRL_D = '\x04';
const POLL_OPTIONS = { timeout: 30_000, interval: 20 };

const { it, database } = withDatabase();
let sandbox: Sandbox;
const dir = temporaryFolder('terminal');
const running = new Set<OnTerminal>();

beforeAll(async () => {
  sandbox = await startSandbox({ incidents: false, blocksPerHour: 12 });
  const config = {
    network: 'sandbox',
    upstreams: { chainData: { url: sandbox.url } },
    watch: { nodeIds: sandbox.watch.nodeIds.slice(0, 1) },
  };
  writeFileSync(join(dir, 'recorder.yaml'), stringify(config));
});
afterAll(async () => {
  for (const one of running) one.kill(); // those of a test that failed
  await sandbox.close();
});

function start(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  more: Parameters<typeof startOnTerminal>[3] & { cwd?: string } = {},
): OnTerminal {
  const one = startOnTerminal(args, { DATABASE_URL: database.url, ...env }, more.cwd ?? dir, more);
  running.add(one);
  return one;
}

/** Returns the lines of the summary, from its rule on. Empty: there is none. */
function summaryOf(terminal: OnTerminal): string[] {
  const lines = terminal.text().split('\n');
  const rules = lines.flatMap((line, at) => (/^\d\d:\d\d:\d\d\S+ ─+$/.test(line) ? [at] : []));
  expect(rules.length).toBeLessThanOrEqual(1);
  return rules[0] === undefined ? [] : lines.slice(rules[0]);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what terminals obey
const OBEYED = /\u001b/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what terminals obey
const SWITCH = /\u001b\[\?(\d+)([hl])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what terminals obey
const COLOUR = /\u001b\[[0-9;]*[1-9][0-9;]*m/;

/**
 * Returns the terminal modes that a command changed and did not restore: the cursor and line breaks are on by default,
 * all others off.
 */
function unrestoredModes(written: string): string[] {
  const switched = new Map([...written.matchAll(SWITCH)].map(([, mode = '', to]) => [mode, to]));
  return [...switched].flatMap(([mode, to]) =>
    to === (['7', '25'].includes(mode) ? 'h' : 'l') ? [] : [mode],
  );
}

describe.skipIf(noTerminal)(`on a terminal${noTerminal ? ` (skipped: ${noTerminal})` : ''}`, () => {
  it('up shows lines for people, and a summary that is redrawn in place and cleared at the end', async () => {
    const up = start(['up'], {}, { rows: 40 });
    // The rate is unknown at the first display.
    await expect
      .poll(() => summaryOf(up).join('\n'), POLL_OPTIONS)
      .toMatch(/ rows today {3}[\d,]+ rows\/s\n/);
    expect(summaryOf(up)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^sandbox {3}http:\/\/127\.0\.0\.1:\d+ {3}Ctrl-C stops$/),
        expect.stringMatching(/^nothing is late$|^late since /),
      ]),
    );
    for (const [columns, rows] of [
      [40, 40],
      [120, 40],
    ] as const) {
      // Right after a redraw: between the resize of a terminal and its signal, the summary would be drawn wrongly.
      const drawn = summaryOf(up)[0];
      await expect.poll(() => summaryOf(up)[0], POLL_OPTIONS).not.toBe(drawn);
      up.resize(columns, rows);
      await expect.poll(() => summaryOf(up)[0]?.length, POLL_OPTIONS).toBe(Math.min(40, columns - 1));
      for (const line of summaryOf(up)) expect(stringWidth(line)).toBeLessThan(columns);
    }
    // The terminal itself shows typed text: the next summary erases it and is drawn in the same place.
    up.type('#\r\r@');
    await expect.poll(() => up.written(), POLL_OPTIONS).toContain('@');
    await expect.poll(() => up.text(), POLL_OPTIONS).not.toMatch(/[#@]/);
    expect(summaryOf(up)).not.toEqual([]);
    up.type(CTRL_C);
    expect(await up.ended).toEqual({ code: 0, restored: true });
    expect(up.text()).toMatch(/^\d\d:\d\d:\d\d INFO {2}stopping$/m);
    expect(up.text()).not.toMatch(/^\{|─|rows\/s/m);
    expect(up.written()).toMatch(COLOUR);
    expect(up.cursor()).toBe(0);
    expect(unrestoredModes(up.written())).toEqual([]);
  });

  describe.concurrent('up honours', () => {
    const server = ['up', '--roles', 'server'];
    const waitForSummary = (terminal: OnTerminal) =>
      expect.poll(() => terminal.text(), POLL_OPTIONS).toContain(' rows/s');

    it('NO_COLOR, also on a narrow terminal', async () => {
      const up = start(server, { NO_COLOR: '1' }, { columns: 40 });
      await waitForSummary(up);
      for (const line of summaryOf(up)) expect(stringWidth(line)).toBeLessThan(40);
      expect(up.written()).not.toMatch(COLOUR);
      up.type(CTRL_C);
      expect(await up.ended).toEqual({ code: 0, restored: true });
    });

    it.each([
      ['a terminal that can only write lines', { TERM: 'dumb' }, /^\d\d:\d\d:\d\d INFO /],
      ['who wants JSON', { LOG_FORMAT: 'json', FORCE_COLOR: '1' }, /^\{.*\}$/],
    ])('%s', async (_, env, line) => {
      const up = start(server, env, { columns: 300 });
      await expect.poll(() => up.text(), POLL_OPTIONS).toContain('the recorder can be queried');
      up.type(CTRL_C);
      expect((await up.ended).code).toBe(0);
      expect(up.written()).not.toMatch(OBEYED);
      for (const one of plainLines(up.written()).filter((text) => text !== '' && text !== '^C'))
        expect(one.replace('^C', '')).toMatch(line);
    });

    it('a redirect: the log goes there as JSON, and the summary is on the terminal', async () => {
      const up = start(server, {}, { redirected: '2>log' });
      await waitForSummary(up);
      up.type(CTRL_C);
      expect((await up.ended).code).toBe(0);
      expect(up.text()).toBe('');
      const log = readFileSync(join(dir, 'log'), 'utf8').trimEnd().split('\n');
      for (const line of log) expect(JSON.parse(line)).toHaveProperty('msg');
    });
  });

  it('backfill shows its progress in one line, and Ctrl-C restores the terminal', async () => {
    const range = ['--from', '2023-01-01', '--to', '2026-06-01', '--target', 'blockchainId=p-chain'];
    const backfill = start(['backfill', 'proposed_blocks', ...range], {}, { columns: 60 });
    await expect.poll(() => backfill.text(), POLL_OPTIONS).toMatch(/ [1-9]\d* % \| 0\/3 runs \| \d+ rows/);
    backfill.type(CTRL_C);
    expect(await backfill.ended).toEqual({ code: 75, restored: true });
    expect(unrestoredModes(backfill.written())).toEqual([]);
    expect(backfill.text().match(/ runs \| [\d,]+ rows/g)).toHaveLength(1);
    expect(backfill.text()).toContain('run the same command again');
  });

  it('tables fit whatever they contain, and local times are marked as local; JSON and CSV are in UTC', async () => {
    const sql = `select now() as at, repeat('世界', 40) as wide, repeat('x', 300) as long, 1234567890123456789 as exact`;
    const zone = { TZ: 'Asia/Kathmandu' };
    const [table, status, json, csv] = ['table', null, 'json', 'csv'].map((format) =>
      start(format === null ? ['status'] : ['query', sql, '--format', format], zone, { columns: 100 }),
    );
    if (!table || !status || !json || !csv) throw new Error('none was started');
    expect((await table.ended).code).toBe(0);
    await Promise.all([status.ended, json.ended, csv.ended]);
    expect(plainLines(table.written()).join('\n')).toMatch(
      /^at .*\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S*\+05:45 /,
    );
    const lines = [...plainLines(table.written()), ...plainLines(status.written())];
    expect(lines.filter((line) => stringWidth(line) > 100)).toEqual([]);
    expect(JSON.parse(json.written())[0].at).toMatch(/(\+00:00|Z)$/);
    expect(csv.written()).toMatch(/^at,wide,long,exact\r\n\S+(\+00:00|Z),/);
  });

  describe('init', () => {
    const folder = (name: string) => {
      const cwd = join(dir, name);
      mkdirSync(cwd);
      return cwd;
    };
    /** Waits for the prompt in the last line, and sends an input. */
    const answer = async (init: OnTerminal, question: string, keys: string) => {
      await expect.poll(() => init.text().split('\n').at(-1), POLL_OPTIONS).toContain(question);
      init.type(keys);
    };

    it('prompts for what is needed, reports an invalid input, and prompts again', async () => {
      const cwd = folder('asked');
      const init = start(['init'], {}, { cwd });
      const [node] = sandbox.watch.nodes;
      await answer(init, 'Network (mainnet, fuji or sandbox) [mainnet]', 'moonnet\r');
      await expect.poll(() => init.text(), POLL_OPTIONS).toContain('moonnet: must be one of mainnet, fuji');
      await answer(init, 'Network', 'sandbox\r');
      await answer(init, 'URL of the chain data service', `${sandbox.url}\r`);
      await answer(init, 'URL of the metrics service', `-\r`);
      await answer(init, 'URLs of your nodes', `${sandbox.url}${node?.path} 127.0.0.1:9650\r`);
      await expect
        .poll(() => init.text(), POLL_OPTIONS)
        .toContain('127.0.0.1:9650: must be an http or https URL');
      await answer(init, 'URLs of your nodes', `one=${sandbox.url}${node?.path}\r`);
      // No chain is requested without the metrics service.
      await answer(init, 'Validators to watch', 'NodeID-1\r');
      await expect.poll(() => init.text(), POLL_OPTIONS).toContain('NodeID-1: is mistyped');
      await answer(init, 'Validators to watch', `${sandbox.watch.nodeIds[0]}\r`);
      await answer(init, 'Addresses to watch', '\r');
      expect(await init.ended, init.text()).toEqual({ code: 0, restored: true });
      expect(loadConfig(join(cwd, 'recorder.yaml'), catalogNames)).toMatchObject({
        network: 'sandbox',
        upstreams: { chainData: { url: sandbox.url }, nodes: [{ name: 'one' }] },
        watch: { chains: [], nodeIds: [sandbox.watch.nodeIds[0]], addresses: [] },
      });
      const again = start(['init'], {}, { cwd });
      expect(await again.ended).toEqual({ code: 2, restored: true });
      expect(again.text()).toMatch(/^recorder.yaml: already exists and is not overwritten/);
    });

    it.each([
      ['Ctrl-C', CTRL_C],
      ['Ctrl-D', CTRL_D],
    ])('leaves no file at %s', async (key, keys) => {
      const cwd = folder(key);
      const init = start(['init'], {}, { cwd });
      await answer(init, 'Network', 'sandbox\r');
      await answer(init, 'chain data', keys);
      expect(await init.ended).toEqual({ code: 1, restored: true });
      expect(init.text()).toMatch(/\nnothing was written$/);
      expect(existsSync(join(cwd, 'recorder.yaml'))).toBe(false);
    });

    it.each([
      [['--config', 'no/such/recorder.yaml'], /there is no folder .*no\/such: create it/],
      [['--chain', 'C'], /recorder.yaml: watch.chains\[0\]: must be an EVM chain id/],
    ])('refuses before it prompts: %j', async (args, reason) => {
      const init = start(['init', ...args], {}, { cwd: folder(args[0] ?? ''), columns: 200 });
      expect(await init.ended).toEqual({ code: 2, restored: true });
      expect(init.text()).toMatch(reason);
      expect(init.text()).not.toContain('Network');
    });
  });
});

it('a pipe receives lines of JSON without control characters, also if colours are forced', async () => {
  const env = { DATABASE_URL: database.url, FORCE_COLOR: '3', TERM: 'xterm-256color' };
  const up = startCommand(['up', '--roles', 'server'], env, dir);
  let stderr = '';
  up.process.stderr.on('data', (text) => {
    stderr += text;
  });
  await expect.poll(() => stderr, POLL_OPTIONS).toContain('the recorder can be queried');
  up.process.kill('SIGINT');
  const { code, stdout } = await up.ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  for (const line of stderr.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
  expect(stderr).not.toMatch(OBEYED);
});
