import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject } from 'vitest';
import { type Ended, startCommand } from '../support/cli.ts';
import { runCommand } from '../support/command-line.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PASSWORD = 'canary-of-the-refused';
const dir = temporaryFolder('refused');
const { it, database } = withDatabase();
let admin: postgres.Sql;
let user: string;

beforeAll(async () => {
  admin = postgres(inject('databaseUrl'), { max: 1, onnotice: () => {} });
  user = `${new URL(database.url).pathname.slice(1)}_user`;
  await admin.unsafe(`create role ${user} nologin password '${PASSWORD}'`);
  await admin.unsafe(`create role ${user}_in login password '${PASSWORD}'`);
});
afterAll(async () => {
  await admin.unsafe(`drop role ${user}`);
  await admin.unsafe(`drop role ${user}_in`);
  await admin.end();
});

function url(change: (url: URL) => void): string {
  const changed = new URL(database.url);
  change(changed);
  return changed.href;
}
const wrongPassword = () => url((one) => Object.assign(one, { password: PASSWORD }));
/** @param execute Default: without a log */
const run = async (
  line: string,
  DATABASE_URL: string,
  more: NodeJS.ProcessEnv = {},
  execute: (...command: Parameters<typeof runCommand>) => Promise<Omit<Ended, 'signal'>> = runCommand,
) => {
  const { code, stdout, stderr } = await execute(line.split(' '), { DATABASE_URL, ...more }, dir);
  expect(stdout + stderr).not.toContain(PASSWORD);
  return { code, stdout, lines: stderr.split('\n') };
};
const refused = (message: RegExp) => ({ code: 2, stdout: '', lines: [expect.stringMatching(message), ''] });

describe.concurrent('a refused database connection is reported with address, reason and fix', () => {
  // The other commands: options.test.ts.
  it.each(['up', 'status'])('by %s, whose log at the level debug has no password', async (line) => {
    const inProcess = (...command: Parameters<typeof runCommand>) => startCommand(...command).ended;
    const { lines, ...ended } = await run(line, wrongPassword(), { LOG_LEVEL: 'debug' }, inProcess);
    const isLogLine = (text: string) => text.startsWith('{');
    expect(lines.filter(isLogLine)).not.toEqual([]);
    expect({ ...ended, lines: lines.filter((text) => !isLogLine(text)) }).toEqual(
      refused(
        /^DATABASE_URL: 127\.0\.0\.1:\d+ refuses the password of the user "\w+", or has no such user: correct user and password/,
      ),
    );
  });
});

describe.concurrent('a database is reported', () => {
  it('whose user may not log in', async () => {
    const barred = url((one) => Object.assign(one, { username: user, password: PASSWORD }));
    expect(await run('status', barred)).toEqual(
      refused(/^DATABASE_URL: .* is not permitted to log in: name another user.* alter role "\w+" login/),
    );
  });

  it('that is read as a replica', async () => {
    const message =
      /^REPORTING_DATABASE_URL: .* refuses the password .*: correct user and password in REPORTING_DATABASE_URL/;
    const both = { REPORTING_DATABASE_URL: wrongPassword() };
    expect(await run('report uptime', database.url, both)).toEqual(refused(message));
  });
});
